import BoundedTesting
import HTTPMessages
import Logging
import LoopbackPorts
import Relay
import RelayJSON
import RelayServer
import Testing
import Threads
import WebSocketIO

@testable import RelayNetwork

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The todo example, served in this process. It can be stopped and started again on the same port, which nobody
/// else gets meanwhile.
final class ServedTodos: Sendable {
    private let server: Lock<Server>
    private let configuration: Server.Configuration
    private let reserved: ReservedPort

    private init(
        _ server: Server, _ configuration: Server.Configuration, _ reserved: ReservedPort
    ) {
        self.server = Lock(server)
        self.configuration = configuration
        self.reserved = reserved
    }

    var port: Int { server.withLock { $0.port } }
    var url: String { server.withLock { $0.url } }
    var httpURL: String { "http" + url.dropFirst("ws".count) }

    /// Serves while `body` runs, and stops after it, whatever happens.
    static func run(
        _ change: (inout Server.Configuration) -> Void = { _ in },
        _ body: (ServedTodos) async throws -> Void
    ) async throws {
        var configuration = Server.Configuration(
            schema: try example("todo.graphql"), schemaName: "todo.graphql", storage: .memory)
        configuration.seed = Array(try example("todo.seed.ndjson").utf8)
        let reserved = try ReservedPort()
        configuration.port = ReservedPort.letsServersIn ? reserved.number : 0
        change(&configuration)
        let server = try await start(configuration)
        configuration.port = server.port
        let todos = ServedTodos(server, configuration, reserved)
        do {
            try await body(todos)
        } catch {
            await todos.stop()
            throw error
        }
        await todos.stop()
    }

    func stop() async { await server.withLock { $0 }.stop() }

    func startAgain() async throws {
        let started = try await Self.start(configuration)
        server.withLock { $0 = started }
    }

    private static func start(_ configuration: Server.Configuration) async throws -> Server {
        try await Server.start(
            configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    static func example(_ name: String) throws -> String {
        let parts = #filePath.split(separator: "/").dropLast(3)
        let path = "/" + parts.joined(separator: "/") + "/docs/examples/" + name
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RequestParameters {
    static let texts = RequestParameters(
        name: "Texts", operationKind: .query,
        text: "query Texts { user { todos { edges { node { id text } } } } }")

    static let add = RequestParameters(
        name: "Add", operationKind: .mutation,
        text: """
            mutation Add($text: String!) { addTodo(input: { text: $text }) { todo { id text } } }
            """)

    static let added = RequestParameters(
        name: "Added", operationKind: .subscription,
        text: "subscription Added { todoAdded { todo { id text } } }")

    static let count = RequestParameters(
        name: "Count", operationKind: .subscription,
        text: "subscription Count { user { totalCount } }")
}

extension [UInt8] {
    var json: JSONValue { (try? JSONValue(parsing: self)) ?? .null }
}

extension Responses {
    /// The first response.
    func first() async throws -> JSONValue {
        let iterator = makeAsyncIterator()
        return try #require(try await iterator.next()).json
    }
}

/// What happened, as it is noted from any thread.
final class Noted<Element: Sendable>: Sendable {
    private let elements = Lock<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func note(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// Waits until `condition` holds; fails after one generous deadline: tests that keep both threads of the pool busy may run
/// beside this one.
func eventually(
    within limit: Duration = .testDeadline, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.Instant.now + limit
    while try await !condition() {
        if ContinuousClock.Instant.now > deadline {
            Issue.record("it did not come true in time", sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(2))
    }
}

extension ServedTodos {
    /// Subscriptions that the server has, as its metrics say.
    func subscriptions() async throws -> Int {
        let address = try #require(ServerAddress(url: "http://127.0.0.1:\(port)/metrics"))
        let loop = try NetworkLoop.loop()
        var options = HTTPClient.Options()
        options.timeout = .testDeadline
        let page = try await HTTPClient.send(to: address, options, on: loop)
        let lines = String(decoding: page.body, as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("relay_subscriptions ") })
        return try #require(Int(line.split(separator: " ")[1]))
    }
}
