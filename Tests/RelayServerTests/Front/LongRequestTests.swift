import GraphQLTransportWS
import Logging
import RelayJSON
import Synchronization
import Testing

@testable import RelayServer
@testable import WebSocketIO

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What a request of four million bytes costs the thread that all connections of a loop share.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct LongRequestTests {
    private static let schema = """
        type Query { answer: Int! }
        type Subscription { numbers(of: [Int!], text: String): Int! }
        """

    /// A front on a loop of its own, and one client.
    private static func run(
        _ body: (_ loop: IOLoop, _ started: Numbers, _ client: WebSocketChannel) async throws ->
            Void
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
            let front = Front(
                engine.service, on: loop, authentication: Authentication(tokens: []),
                origins: OriginPolicy(), metrics: Metrics(engine.service, journal: nil),
                limits: SocketLimits(), logger: ServiceSchema.noLogger)
            let server = try await HTTPServer.start(
                HTTPServer.Options(subprotocols: [GraphQLSocket.subprotocol]), on: loop,
                handler: front)
            let client = try await WebSocketChannel.connect(
                to: ServerAddress(host: "127.0.0.1", port: server.port, path: Front.path),
                WebSocketClient.Options(subprotocols: [GraphQLSocket.subprotocol]), on: clientLoop)
            try await body(loop, started, client)
        } catch {
            await loop.stop()
            await clientLoop.stop()
            throw error
        }
        await loop.stop()
        await clientLoop.stop()
    }

    /// What the loop's thread has worked so far. It does not count how long it had to wait for a processor.
    private static func work(of loop: IOLoop) async throws -> Int64 {
        try await loop.run {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        }
    }

    /// Its bytes have to be read there. Making values of the schema's types of them is work for another thread.
    @Test func aKnownDocumentsVariablesAreCoercedElsewhere() async throws {
        try await Self.run { loop, started, client in
            func send(_ message: ClientMessage) {
                client.connection.send(OutgoingMessage(.text, message.bytes))
            }
            /// The work for one subscription, in microseconds.
            func work(_ id: String, _ variables: JSONObject) async throws -> Int64 {
                let text = """
                    subscription($of: [Int!], $text: String) { numbers(of: $of, text: $text) }
                    """
                let payload: JSONObject = [
                    "query": .string(text), "variables": .object(variables),
                ]
                let (before, count) = (try await Self.work(of: loop), started.count)
                send(.subscribe(id: id, payload: payload))
                try await eventually("the subscription") { started.count > count ? true : nil }
                return try await Self.work(of: loop) - before
            }
            send(.connectionInit(payload: nil))
            _ = try await work("short", [:])
            let text = try await work(
                "text", ["text": .string(String(repeating: "1,", count: 1_900_000))])
            let list = try await work(
                "list", ["of": .array(Array(repeating: 1, count: 1_900_000))])
            #expect(list < 4 * text)
        }
    }
}
