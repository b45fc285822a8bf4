import ArgumentParser
import Console
import GraphQLLanguage
import RelayJSON

/// `relay schema`: a server's schema, as SDL.
struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the schema of a server, by introspection.")

    @ArgumentParser.Argument(help: "The server: ws://HOST:PORT/graphql")
    var url: String

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let session = try await ServerSession.connect(server, url)
        var answer: JSONValue?
        for try await result in session.run(["query": .string(Schema.introspectionQuery)]) {
            answer = result.json
        }
        await session.close()
        guard let answer, answer["errors"] == nil else {
            throw CommandFailure(
                "\(url) does not answer introspection: \(answer?.text ?? "no result").")
        }
        print(try Schema.build(introspection: answer).printed(), terminator: "")
    }
}
