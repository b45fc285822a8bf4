import Console
import GraphQLTransportWS
import RelayJSON
import Threads
import WebSocketIO

/// One of the many connections of a benchmark: does what its ``ClientConnection`` says, on the loop's
/// thread, without a task for each operation.
///
/// No `RelayLink`: thousands of these share a process with what they measure, so each is to cost no actor, channel or task;
/// and where that one continues, this one ends, so that what got lost is counted.
final class LoadConnection: WebSocketHandler {
    /// What an operation receives.
    enum Event: Sendable {
        /// The bytes of a result.
        case result([UInt8])
        /// Nothing follows; with what went wrong, if something did.
        case ended(CommandFailure?)
    }

    typealias Receiver = @Sendable (Event) -> Void

    private struct State {
        var machine = ClientConnection()
        var connection: WebSocketConnection?
        var receivers: [ClientConnection.Operation: Receiver] = [:]
        var acknowledgement: CheckedContinuation<Void, any Error>?
        var close: WebSocketClose?
    }

    private let token: String?
    private let state = Lock(State())

    private init(token: String?) { self.token = token }

    /// Connects, and returns once the server has acknowledged.
    static func connect(
        to address: ServerAddress, _ server: ServerOptions, on loop: IOLoop
    ) async throws -> LoadConnection {
        let handler = LoadConnection(token: server.resolvedToken)
        let options = WebSocketClient.Options(
            subprotocols: ["graphql-transport-ws"], authorityFile: server.ca)
        _ = try await WebSocketClient.connect(to: address, options, on: loop, handler: handler)
        try await withCheckedThrowingContinuation { continuation in
            let close = handler.state.withLock { state in
                if state.close == nil, !state.machine.isReady {
                    state.acknowledgement = continuation
                    return nil as WebSocketClose??
                }
                return .some(state.close)
            }
            switch close {
            case nil: break
            case .some(nil): continuation.resume()
            case .some(let close?): continuation.resume(throwing: Self.failure(close))
            }
        }
        return handler
    }

    /// Starts an operation.
    /// - Parameter receive: called on the loop's thread; after `ended` never again.
    func start(_ payload: JSONObject, _ receive: @escaping Receiver) {
        let actions = state.withLock { state in
            let (operation, actions) = state.machine.subscribe(payload)
            state.receivers[operation] = receive
            return actions
        }
        perform(actions)
    }

    /// Says goodbye; operations in progress end.
    func close() { perform(state.withLock { $0.machine.close() }) }

    // MARK: The socket

    func opened(_ connection: WebSocketConnection) {
        let actions = state.withLock { state in
            state.connection = connection
            return state.machine.socketOpened(payload: token.map { ["token": .string($0)] })
        }
        perform(actions)
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        let actions = state.withLock { state in
            switch message.kind {
            case .text: state.machine.receive(message.bytes)
            case .binary: state.machine.receiveBinary()
            }
        }
        perform(actions)
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        let (actions, acknowledgement) = state.withLock { state in
            state.close = close
            state.connection = nil
            defer { state.acknowledgement = nil }
            return (state.machine.socketClosed(), state.acknowledgement)
        }
        acknowledgement?.resume(throwing: Self.failure(close))
        perform(actions)
    }

    private static func failure(_ close: WebSocketClose) -> CommandFailure {
        CommandFailure("The server closed a connection: \(close).")
    }

    private func perform(_ actions: [ClientConnection.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes):
                state.withLock { $0.connection }?.send(OutgoingMessage(.text, bytes))
            case .close(let close):
                state.withLock { $0.connection }?.close(code: close.code, reason: close.reason)
            case .acknowledged:
                let acknowledgement = state.withLock { state in
                    defer { state.acknowledgement = nil }
                    return state.acknowledgement
                }
                acknowledgement?.resume()
            case .next(let operation, let payload, _):
                state.withLock { $0.receivers[operation] }?(.result(payload))
            case .failed(let operation, let errors):
                let text = errors.first?["message"]?.string ?? "it gave no reason"
                end(operation, CommandFailure("The server refused an operation: \(text)"))
            case .completed(let operation):
                end(operation, nil)
            case .interrupted(let operation):
                end(operation, Self.failure(state.withLock { $0.close } ?? .abnormal))
            case .pinged, .ponged:
                break
            }
        }
    }

    private func end(_ operation: ClientConnection.Operation, _ failure: CommandFailure?) {
        state.withLock { $0.receivers.removeValue(forKey: operation) }?(.ended(failure))
    }
}
