// The code of the articles in Sources/RelayServer/RelayServer.docc that is not TodoServer's. A test runs it here;
// `TodoServerTests` looks for each block of the articles in it, line by line.

import Logging
import RelayJSON
import Testing

@testable import RelayServer

enum ServerExamples {
    static func hello() -> Server.Configuration {
        var handlers = Handlers()
        handlers.resolve("Query.hello") { field in
            "Hello, \(field.arguments["name"]?.stringValue ?? "world")"
        }
        var configuration = Server.Configuration(
            schema: "type Query { hello(name: String): String! }", storage: .memory,
            handlers: handlers)
        configuration.port = 0
        return configuration
    }

    static func serve(
        _ configuration: Server.Configuration, logger: Logger, _ work: (String) async throws -> Void
    ) async throws {
        let server = try await Server.start(configuration, logger: logger)
        try await work(server.url)
        await server.stop()
    }

    static func configure(_ configuration: inout Server.Configuration, documents: [String: String])
    {
        configuration.tokens = ["s3cret"]
        configuration.useTLS(certificateFile: "server.pem", keyFile: "server.key")
        configuration.allow(origins: ["https://todo.example.com"])
        configuration.usePersistedOperations(documents, isExclusive: true)
        configuration.limits.documentDepth = 20
        configuration.limits.operations = 100
        configuration.limits.keepAlive = .seconds(60)
    }
}

@Suite(.bounded, .timeLimit(.minutes(10)))
struct ServerExamplesTests {
    @Test func aServerInAProgramAnswersUntilItIsStopped() async throws {
        var urls: [String] = []
        try await ServerExamples.serve(ServerExamples.hello(), logger: Logger(label: "test")) {
            url in
            urls.append(url)
        }
        #expect(urls.count == 1 && urls.allSatisfy { $0.hasPrefix("ws://127.0.0.1:") })
    }

    @Test func whatIsConfiguredIsWhatTheServerTakes() {
        var configuration = ServerExamples.hello()
        ServerExamples.configure(&configuration, documents: ["hello": "{ hello }"])
        #expect(configuration.tls != nil)
        #expect(configuration.limits.documentDepth == 20)
        #expect(configuration.limits.keepAlive == .seconds(60))
    }
}
