import GraphQLTransportWS
import HTTPMessages
import RelayJSON
import Threads
import WebSocketIO

@testable import RelayServer

/// A server that mutations are handed to, which does with them what a test wants.
final class FakeLeader: HTTPServerHandler {
    enum Behaviour: Sendable {
        /// Answers with a cursor's sequence, counting from 1.
        case execute
        /// Answers with this result.
        case answer(JSONObject)
        /// Answers the first mutation with this result, and executes the others.
        case answerFirst(JSONObject)
        /// Answers with these errors.
        case fail([JSONValue])
        /// Takes it, and breaks the connection off.
        case cut
        /// Lets nobody in, and says nothing.
        case silent
        /// Takes it, and says nothing.
        case hang
        /// Answers with these errors when it is told to.
        case later([JSONValue])
    }

    /// A mutation that it has had.
    struct Taken: Sendable {
        let payload: JSONObject
        let header: String?
    }

    private struct State {
        var behaviour: Behaviour
        var taken: [Taken] = []
        var later: [@Sendable () -> Void] = []
    }

    private let state: Lock<State>

    /// What it says when it lets somebody in.
    fileprivate let greeting: JSONObject?

    private init(_ behaviour: Behaviour, _ greeting: JSONObject?) {
        state = Lock(State(behaviour: behaviour))
        self.greeting = greeting
    }

    /// Serves while `body` runs.
    static func run(
        _ behaviour: Behaviour, greeting: JSONObject?,
        _ body: (_ leader: FakeLeader, _ address: ServerAddress) async throws -> Void
    ) async throws {
        let leader = FakeLeader(behaviour, greeting)
        let loop = try IOLoop.start()
        do {
            var options = HTTPServer.Options(subprotocols: [GraphQLSocket.subprotocol])
            options.limits.queuedBytes = 256 << 20
            let server = try await HTTPServer.start(options, on: loop, handler: leader)
            try await body(leader, ServerAddress(host: "127.0.0.1", port: server.port))
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    fileprivate var isSilent: Bool {
        if case .silent = state.withLock({ $0.behaviour }) { true } else { false }
    }

    var taken: [Taken] { state.withLock { $0.taken } }

    func behave(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }

    /// Gives the answers that wait.
    func answerLater() {
        let later = state.withLock { state in
            defer { state.later = [] }
            return state.later
        }
        for answer in later { answer() }
    }

    fileprivate func keep(_ answer: @escaping @Sendable () -> Void) {
        state.withLock { $0.later.append(answer) }
    }

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision {
        guard request.path == Front.path else { return .refuse(HTTPResponse(status: 404)) }
        return .accept(FakeSocket(self, request.headers["authorization"]))
    }

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        responder.respond(HTTPResponse(status: 404))
    }

    fileprivate func take(_ taken: Taken) -> (number: Int, Behaviour) {
        state.withLock { state in
            state.taken.append(taken)
            return (state.taken.count, state.behaviour)
        }
    }
}

private final class FakeSocket: WebSocketHandler {
    private let leader: FakeLeader
    private let header: String?
    private let machine = Lock(ServerConnection())

    init(_ leader: FakeLeader, _ header: String?) {
        self.leader = leader
        self.header = header
    }

    func opened(_ connection: WebSocketConnection) {}

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        var actions = machine.withLock {
            $0.receive(ReceivedMessage(message.bytes, LeaderLink.jsonLimits))
        }[...]
        while let action = actions.popFirst() {
            switch action {
            case .send(let bytes): connection.send(OutgoingMessage(.text, bytes))
            case .close(let close): connection.close(code: close.code, reason: close.reason)
            case .authenticate where leader.isSilent: break
            case .authenticate:
                actions += machine.withLock { $0.accept(payload: leader.greeting) }
            case .start(let operation, let payload):
                actions += start(operation, payload, connection)
            case .pinged, .stop: break
            }
        }
    }

    private func start(
        _ operation: ServerConnection.Operation, _ payload: JSONObject,
        _ connection: WebSocketConnection
    ) -> [ServerConnection.Action] {
        let (number, wanted) = leader.take(.init(payload: payload, header: header))
        var behaviour = wanted
        if case .answerFirst(let result) = behaviour {
            behaviour = number == 1 ? .answer(result) : .execute
        }
        switch behaviour {
        case .execute:
            let cursor = StreamCursorText.make(number)
            let result: JSONObject = [
                "data": ["done": .int(Int64(number))],
                "extensions": ["relay": ["cursor": .string(cursor)]],
            ]
            let next = ServerMessage.next(id: operation.id, payload: result).bytes
            return [.send(next)] + machine.withLock { $0.complete(operation) }
        case .answer(let result):
            let next = ServerMessage.next(id: operation.id, payload: result).bytes
            return [.send(next)] + machine.withLock { $0.complete(operation) }
        case .fail(let errors): return machine.withLock { $0.error(operation, errors) }
        case .cut:
            connection.close(code: 1_011)
            return []
        case .hang, .silent, .answerFirst: return []
        case .later(let errors):
            leader.keep { [self] in
                for action in machine.withLock({ $0.error(operation, errors) }) {
                    if case .send(let bytes) = action {
                        connection.send(OutgoingMessage(.text, bytes))
                    }
                }
            }
            return []
        }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        _ = machine.withLock { $0.socketClosed() }
    }
}

private enum StreamCursorText {
    static func make(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32) + "-" + String(repeating: "0", count: 15) + "1-"
            + String(repeating: "0", count: 16 - digits.count) + digits
    }
}
