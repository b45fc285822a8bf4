import Foundation
import Logging
import RelayServer
import TodoFixtures

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The todo example, served from memory on a loopback port.
package struct TodoService: Sendable {
    package let port: Int

    package var url: String { "http://127.0.0.1:\(port)/graphql" }

    /// Serves while the body runs, and stops after it, whatever happens.
    /// - Parameter token: what requests must bear; nil: nothing.
    package static func run(
        token: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (TodoService) async throws -> Void
    ) async throws {
        var configuration = Server.Configuration(
            schema: String(
                decoding: try TodoExample.file("todo.graphql"), as: UTF8.self),
            schemaName: "todo.graphql", storage: .memory)
        configuration.seed = try TodoExample.file("todo.seed.ndjson")
        configuration.port = 0
        if let token { configuration.tokens = [token] }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try await Server.start(configuration, logger: logger)
        do {
            try await body(TodoService(port: server.port))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}
