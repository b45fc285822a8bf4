import GraphQLExecution
import GraphQLTransportWS
import RelayJSON
import SchemaService
import Testing

@testable import RelayServer
@testable import WebSocketIO

/// Streams that wait for a peer to have room for what they bring.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct WaitingStreamTests {
    private static let schema = """
        type Query { answer: Int! }
        type Subscription { numbers: Int! }
        """

    /// A socket whose connection leads nowhere: what it is told is up to the test.
    private static func run(
        _ body: (
            _ socket: GraphQLSocket, _ receive: ([ClientMessage]) async throws -> Void,
            _ drain: () async throws -> Void
        ) async throws -> Void
    ) async throws {
        var handlers = Handlers()
        handlers.resolve("Query.answer") { _ in 42 }
        // One number, and then it waits until there is room for another.
        handlers.subscription("numbers") { _ in AsyncStream<Int> { $0.yield(7) } }
        let engine = try await EngineUnderTest(sdl: schema, handlers: handlers, seed: "")
        let loop = try IOLoop.start()
        let socket = GraphQLSocket(
            engine.service, on: loop, authentication: Authentication(tokens: []),
            decision: .admitted(.unrestricted), limits: SocketLimits()
        ) { _, _ in }
        let connection = WebSocketConnection(id: 1, peerAddress: "", subprotocol: nil, loop: loop)
        func receive(_ messages: [ClientMessage]) async throws {
            try await loop.run {
                for message in messages {
                    socket.received(WebSocketMessage(.text, message.bytes), on: connection)
                }
            }
        }
        do {
            try await loop.run { socket.opened(connection) }
            try await receive([.connectionInit(payload: nil)])
            try await body(socket, receive) {
                try await loop.run { socket.drained(connection) }
            }
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    private static func subscribe(_ id: Int) -> ClientMessage {
        .subscribe(id: "\(id)", payload: ["query": "subscription { numbers }"])
    }

    /// What they would do then holds their requests.
    @Test func streamsThatHaveEndedAreForgotten() async throws {
        try await Self.run { socket, receive, drain in
            for round in 0..<5 {
                try await receive((0..<100).map(Self.subscribe))
                try await eventually("round \(round)") { socket.waitingCount == 100 ? true : nil }
                try await receive((0..<100).map { .complete(id: "\($0)") })
                #expect(socket.waitingCount == 0)
            }
        }
    }

    @Test func streamsGoOnOnlyWhereThereIsRoom() async throws {
        try await Self.run { socket, receive, drain in
            try await receive((0..<10).map(Self.subscribe))
            try await eventually("all") { socket.waitingCount == 10 ? true : nil }
            let much = SocketLimits().streamQueueBytes
            socket.expect(missedBytes: much)
            try await drain()
            #expect(socket.waitingCount == 10)
            socket.take(missedBytes: much)
            try await drain()
            #expect(socket.waitingCount == 0)
        }
    }
}
