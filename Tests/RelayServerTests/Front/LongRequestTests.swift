import EventStore
import GraphQLTransportWS
import Logging
import RelayJSON
import RelayRecords
import SchemaService
import Testing
import WebSocketTesting

@testable import RelayServer
@testable import WebSocketIO

/// A request of four million bytes, and the thread that all connections of a loop share.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct LongRequestTests {
    private static let schema = """
        type Query { answer: Int! }
        type Subscription { numbers(of: [Int!], text: String): Int! }
        """

    /// A front on a loop of its own, and one client.
    private static func run(
        _ body: (_ started: Numbers, _ client: WebSocketChannel) async throws -> Void
    ) async throws {
        let started = Numbers()
        var handlers = Handlers()
        handlers.resolve("Query.answer") { _ in 42 }
        handlers.subscription("numbers") { _ in
            _ = started.next()
            return AsyncStream<Int> { _ in }
        }
        let engine = try await EngineUnderTest(sdl: schema, handlers: handlers, seed: "")
        let (loop, clientLoop) = (try IOLoop.start(), try IOLoop.start())
        do {
            let authentication = Authentication(tokens: [])
            let front = Front(
                engine.service, on: loop, authentication: authentication,
                hosts: HostPolicy(for: authentication, listeningOn: "127.0.0.1", allowing: []),
                origins: OriginPolicy(), metrics: Metrics(engine.service, journal: nil),
                history: HistoryPages(
                    HistoryDesk(.init(), logger: ServiceSchema.noLogger) {
                        History(InMemoryJournal())
                    },
                    authentication: authentication, claim: nil),
                limits: SocketLimits(), logger: ServiceSchema.noLogger)
            let server = try await HTTPServer.start(
                HTTPServer.Options(subprotocols: [GraphQLSocket.subprotocol]), on: loop,
                handler: front)
            let client = try await WebSocketChannel.connect(
                to: ServerAddress(host: "127.0.0.1", port: server.port, path: Front.path),
                WebSocketClient.Options(subprotocols: [GraphQLSocket.subprotocol]), on: clientLoop)
            try await body(started, client)
        } catch {
            await loop.stop()
            await clientLoop.stop()
            throw error
        }
        await loop.stop()
        await clientLoop.stop()
    }

    /// Its bytes have to be read there. Making values of the schema's types of them is work for another thread:
    /// `GraphQLSocket` asserts that it is done on another one.
    @Test func aKnownDocumentsVariablesAreCoercedElsewhere() async throws {
        try await Self.run { started, client in
            func send(_ message: ClientMessage) {
                client.connection.send(OutgoingMessage(.text, message.bytes))
            }
            func subscribe(_ id: String, _ variables: JSONObject) async throws {
                let text = """
                    subscription($of: [Int!], $text: String) { numbers(of: $of, text: $text) }
                    """
                let payload: JSONObject = [
                    "query": .string(text), "variables": .object(variables),
                ]
                let count = started.count
                send(.subscribe(id: id, payload: payload))
                try await eventually("the subscription") { started.count > count ? true : nil }
            }
            send(.connectionInit(payload: nil))
            // From here on the document is known, and only the length says where it is looked at.
            try await subscribe("short", [:])
            try await subscribe("short again", ["of": [1]])
            try await subscribe("list", ["of": .array(Array(repeating: 1, count: 1_900_000))])
        }
    }
}
