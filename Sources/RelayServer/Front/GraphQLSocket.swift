import GraphQLExecution
import GraphQLLanguage
import GraphQLTransportWS
import RelayJSON
import Synchronization
import WebSocketIO

/// One WebSocket connection of a GraphQL client: does what its ``ServerConnection`` says.
///
/// Its methods run on the loop's thread; results come from other threads and go through the loop first, so
/// the lock is never waited for.
final class GraphQLSocket: WebSocketHandler {
    static let subprotocol = "graphql-transport-ws"
    /// How long a client may take to send connection_init.
    private static let initialisationTimeout: Duration = .seconds(10)

    private struct State {
        var machine = ServerConnection()
        var connection: WebSocketConnection?
        var viewer: Authentication.Viewer
        var streams: [ServerConnection.Operation: OperationSink] = [:]
    }

    private let service: GraphQLService
    private let authentication: Authentication
    private let state: Mutex<State>

    /// - Parameter viewer: what the handshake's headers have told.
    init(
        _ service: GraphQLService, authentication: Authentication, viewer: Authentication.Viewer
    ) {
        self.service = service
        self.authentication = authentication
        state = Mutex(State(viewer: viewer))
    }

    // MARK: The socket

    func opened(_ connection: WebSocketConnection) {
        state.withLock { $0.connection = connection }
        connection.loop.perform(after: Self.initialisationTimeout) { [weak self] in
            self?.perform { $0.initialisationTimedOut() }
        }
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        perform { machine in
            switch message.kind {
            case .text: machine.receive(message.bytes)
            case .binary: machine.receiveBinary()
            }
        }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        perform { $0.socketClosed() }
        state.withLock { $0.connection = nil }
    }

    // MARK: What the state machine wants

    private func perform(_ input: (inout ServerConnection) -> [ServerConnection.Action]) {
        var actions = state.withLock { input(&$0.machine) }[...]
        while let action = actions.popFirst() {
            switch action {
            case .send(let bytes):
                connection?.send(OutgoingMessage(.text, bytes))
            case .close(let close):
                connection?.close(code: close.code, reason: close.reason)
            case .authenticate(let payload):
                actions += authenticate(payload)
            case .start(let operation, let payload):
                start(operation, payload)
            case .stop(let operation):
                let stream = state.withLock { $0.streams.removeValue(forKey: operation) }
                if let stream { service.unsubscribe(stream) }
            }
        }
    }

    private var connection: WebSocketConnection? { state.withLock { $0.connection } }

    private func authenticate(_ payload: JSONObject?) -> [ServerConnection.Action] {
        state.withLock { state in
            if case .undecided = state.viewer {
                state.viewer = authentication.viewer(payload: payload.map(JSONValue.object))
            }
            if case .known = state.viewer { return state.machine.accept() }
            return state.machine.refuse()
        }
    }

    private func start(_ operation: ServerConnection.Operation, _ payload: JSONObject) {
        var request: GraphQLRequest
        do throws(ExecutionError) {
            request = try GraphQLRequest(payload)
        } catch {
            fail(operation, [error])
            return
        }
        if case .known(let name) = state.withLock({ $0.viewer }) { request.viewer = name }
        if let prepared = service.findPrepared(request), prepared.kind != .query {
            // Handed over at once, so that what a client sends in order is carried out in order.
            run(operation, prepared, request)
        } else {
            let asked = request
            Task.detached { self.prepareAndRun(operation, asked) }
        }
    }

    // MARK: Off the loop's thread

    private func prepareAndRun(
        _ operation: ServerConnection.Operation, _ request: GraphQLRequest
    ) {
        do throws(ExecutionErrors) {
            run(operation, try service.prepare(request), request)
        } catch {
            onLoop { $0.fail(operation, error.errors) }
        }
    }

    private func run(
        _ operation: ServerConnection.Operation, _ prepared: PreparedOperation,
        _ request: GraphQLRequest
    ) {
        guard prepared.isStream else {
            service.execute(prepared, request) { outcome in
                self.onLoop { $0.finish(operation, outcome) }
            }
            return
        }
        let sink = OperationSink(self, operation)
        let isWanted = state.withLock { state in
            guard state.machine.wants(operation) else { return false }
            state.streams[operation] = sink
            return true
        }
        guard isWanted else { return }
        do throws(ExecutionErrors) {
            try service.subscribe(prepared, request, sink: sink)
            // Stopped meanwhile, on the loop's thread: that was said before there was a subscription.
            if !state.withLock({ $0.machine.wants(operation) }) { service.unsubscribe(sink) }
        } catch {
            onLoop { $0.fail(operation, error.errors) }
        }
    }

    private func onLoop(_ action: @escaping @Sendable (GraphQLSocket) -> Void) {
        guard let connection else { return }
        if connection.loop.isCurrent {
            action(self)
        } else {
            connection.loop.perform { action(self) }
        }
    }

    // MARK: Results, on the loop's thread

    /// Hands deliveries of the publisher to their sockets, with one wake-up of the loop's thread.
    static func deliver(_ deliveries: [Delivery], on loop: IOLoop) {
        loop.perform {
            var shared: (response: Response, message: OutgoingMessage)?
            for delivery in deliveries {
                guard let sink = delivery.sink as? OperationSink else { continue }
                switch delivery.event {
                case .failed(let errors):
                    sink.socket?.fail(sink.operation, errors)
                case .completed:
                    sink.socket?.complete(sink.operation)
                case .next(let response):
                    // Deliveries of one response stand behind each other: its frame is made once.
                    if shared?.response !== response { shared = (response, message(response)) }
                    guard let message = shared?.message else { continue }
                    sink.socket?.send(message, sink)
                }
            }
        }
    }

    private static func message(_ response: Response) -> OutgoingMessage {
        OutgoingMessage(.text, response.bytes + ServerMessage.nextSuffix)
    }

    private func send(_ message: OutgoingMessage, _ sink: OperationSink) {
        let connection = state.withLock { $0.machine.wants(sink.operation) ? $0.connection : nil }
        connection?.send(message, prefix: sink.prefix)
    }

    /// Sends the one result of a query or mutation.
    private func finish(_ operation: ServerConnection.Operation, _ outcome: Outcome) {
        switch outcome {
        case .executed(let response):
            guard state.withLock({ $0.machine.wants(operation) }) else { return }
            connection?.send(
                Self.message(response), prefix: ServerMessage.nextPrefix(id: operation.id))
            perform { $0.complete(operation) }
        case .refused(let errors):
            fail(operation, errors)
        }
    }

    private func complete(_ operation: ServerConnection.Operation) {
        state.withLock { $0.streams[operation] = nil }
        perform { $0.complete(operation) }
    }

    private func fail(_ operation: ServerConnection.Operation, _ errors: [ExecutionError]) {
        state.withLock { $0.streams[operation] = nil }
        perform { $0.error(operation, errors.map(\.json)) }
    }
}

/// Where the results of one subscription of one socket go.
final class OperationSink: SubscriptionSink {
    fileprivate let operation: ServerConnection.Operation
    /// What its `next` messages begin with.
    fileprivate let prefix: [UInt8]
    private let weakSocket: WeakSocket

    fileprivate var socket: GraphQLSocket? { weakSocket.socket }

    fileprivate init(_ socket: GraphQLSocket, _ operation: ServerConnection.Operation) {
        self.operation = operation
        prefix = ServerMessage.nextPrefix(id: operation.id)
        weakSocket = WeakSocket(socket)
    }
}

/// A socket that a sink does not keep alive.
private struct WeakSocket: @unchecked Sendable {
    // Unchecked: a weak reference is written once, when it is made, and loads of it are atomic.
    weak let socket: GraphQLSocket?

    init(_ socket: GraphQLSocket) { self.socket = socket }
}
