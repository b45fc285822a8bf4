import ArgumentParser
import Foundation
import RelayServer

/// The todo example with handlers of its own: what a program looks like that serves more than
/// directives can say.
///
///     swift run TodoServer --memory
@main
struct TodoServer: AsyncParsableCommand {
    @Option(help: "The todo schema, to which this program adds.")
    var schema = "docs/examples/todo.graphql"

    @Option(help: "Records for an empty log.")
    var seed = "docs/examples/todo.seed.ndjson"

    @Option(help: "Where the log is kept.")
    var data = "todo-data"

    @Flag(help: "Keep the log in memory only.")
    var memory = false

    @Option(help: "The port to listen on; 0 picks a free one.")
    var port = 8080

    func run() async throws {
        let text = try String(contentsOfFile: schema, encoding: .utf8)
        var configuration = Server.Configuration(
            schema: text + TodoHandlers.schema, schemaName: schema,
            storage: memory ? .memory : .directory(data), handlers: TodoHandlers.all())
        configuration.seed = Array(try Data(contentsOf: URL(filePath: seed)))
        configuration.seedName = seed
        configuration.port = port

        let server = try await Server.start(configuration)
        await server.stopOnSignal {
            print("listening on \(server.url)")
            fflush(nil)
        }
    }
}
