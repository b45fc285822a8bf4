import GraphQLExecution
import GraphQLTransportWS
import RelayJSON
import StoreEngine
import Synchronization
import Threads
import WebSocketIO

/// Where the results of one subscription of one socket go.
final class OperationSink: SubscriptionSink {
    let operation: ServerConnection.Operation
    /// On which its connection is.
    let loop: IOLoop
    /// What its `next` messages begin with.
    private let prefix: [UInt8]
    private weak let socket: GraphQLSocket?
    private let connection: WebSocketConnection
    /// Bytes that may wait for the peer.
    private let limit: Int
    /// The socket needs nothing more for it. Read and written on the loop's thread.
    private let isOver = Atomic(false)
    private let state: Lock<State>

    private struct State {
        var pacing: StreamPacing
        /// Since when there has been no event.
        var silentSince = ContinuousClock.now
    }

    init(
        _ socket: GraphQLSocket, on connection: WebSocketConnection,
        _ operation: ServerConnection.Operation, resumeCursor: String?, limit: Int
    ) {
        self.operation = operation
        loop = socket.loop
        prefix = ServerMessage.nextPrefix(id: operation.id)
        self.socket = socket
        self.connection = connection
        self.limit = limit
        state = Lock(State(pacing: StreamPacing(resumeCursor: resumeCursor)))
    }

    var isWanted: Bool { socket?.wants(operation) ?? false }

    var isFull: Bool { socket?.hasNoRoomForMissed ?? false }

    func expect(missedBytes: Int) { socket?.expect(missedBytes: missedBytes) }

    func whenDrained(_ action: @escaping @Sendable () -> Void) {
        socket?.whenDrained(for: operation, action)
    }

    /// Everything that the stream was to be told so far has been, and for long enough there was nothing.
    func isSilent(for notice: ProgressNotice) -> Bool {
        state.withLock { $0.pacing.isUpToDate && notice.isDue(after: $0.silentSince) }
    }

    // MARK: On the loop's thread

    /// - Parameters:
    ///   - now: read once for all events that have come together.
    ///   - frame: the frame of a `next` message behind its prefix; made once for all sinks.
    func take(
        _ event: Delivery.Event, at now: ContinuousClock.Instant,
        _ frame: (Response) -> OutgoingMessage
    ) {
        if case .missed(let response) = event { socket?.take(missedBytes: response.bytes.count) }
        if isOver.load(ordering: .relaxed) { return }
        // The socket is asked only when there is reason to: a fan-out comes by here a thousand times.
        let isFull = connection.queuedBytes > limit && socket?.isSlow(connection) ?? false
        let awaitsPeer = event.isReplaceable && socket?.awaitsPeer ?? false
        let action = state.withLock { state in
            state.silentSince = now
            return state.pacing.take(event, isFull: isFull, awaitsPeer: awaitsPeer)
        }
        switch action {
        case .send(let response): connection.send(frame(response), prefix: prefix)
        case .hold:
            socket?.hold(self)
            connection.awaitDrained()
        case .end(let error): socket?.end(self, [error])
        case .fail(let errors): socket?.end(self, errors.map(\.json))
        case .complete: socket?.complete(self)
        case .nothing: break
        }
    }

    /// Whatever still comes is dropped.
    func finish() { isOver.store(true, ordering: .relaxed) }

    /// The peer has taken everything.
    func drained(on connection: WebSocketConnection) {
        guard let response = state.withLock({ $0.pacing.drained() }) else { return }
        connection.send(GraphQLSocket.message(response), prefix: prefix)
    }
}
