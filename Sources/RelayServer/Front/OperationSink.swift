import GraphQLExecution
import GraphQLTransportWS
import RelayJSON
import Synchronization
import WebSocketIO

/// Where the results of one subscription of one socket go.
final class OperationSink: SubscriptionSink {
    let operation: ServerConnection.Operation
    /// On which its connection is.
    let loop: IOLoop
    /// What its `next` messages begin with.
    private let prefix: [UInt8]
    private weak let socket: GraphQLSocket?
    /// The socket wants nothing more for it. Read and written on the loop's thread.
    private let isOver = Atomic(false)
    private let pacing: Mutex<StreamPacing>

    init(_ socket: GraphQLSocket, _ operation: ServerConnection.Operation, resumes: Bool) {
        self.operation = operation
        loop = socket.loop
        prefix = ServerMessage.nextPrefix(id: operation.id)
        self.socket = socket
        pacing = Mutex(StreamPacing(resumes: resumes))
    }

    var isWanted: Bool { socket?.wants(operation) ?? false }

    var isFull: Bool { socket?.hasNoRoomForMissed ?? false }

    func expect(missedBytes: Int) { socket?.expect(missedBytes: missedBytes) }

    func whenDrained(_ action: @escaping @Sendable () -> Void) {
        socket?.whenDrained(action)
    }

    /// Everything that the stream was to be told so far has been.
    var isCaughtUp: Bool { pacing.withLock { $0.isCaughtUp } }

    // MARK: On the loop's thread

    /// - Parameter frame: the frame of a `next` message behind its prefix; made once for all sinks.
    func take(_ event: Delivery.Event, _ frame: (Response) -> OutgoingMessage) {
        if case .missed(let response) = event { socket?.take(missedBytes: response.bytes.count) }
        guard !isOver.load(ordering: .relaxed), let socket,
            let (connection, awaitsPeer) = socket.connectionToSendOn
        else { return }
        let isFull = socket.isSlow(connection)
        let action = pacing.withLock { $0.take(event, isFull: isFull, awaitsPeer: awaitsPeer) }
        switch action {
        case .send(let response): connection.send(frame(response), prefix: prefix)
        case .hold: connection.awaitDrained()
        case .end(let error): socket.end(self, [error])
        case .fail(let errors): socket.end(self, errors.map(\.json))
        case .complete: socket.complete(self)
        case .nothing: break
        }
    }

    /// Whatever still comes is dropped.
    func finish() { isOver.store(true, ordering: .relaxed) }

    /// The peer has taken everything.
    func drained(on connection: WebSocketConnection) {
        guard let response = pacing.withLock({ $0.drained() }) else { return }
        connection.send(GraphQLSocket.message(response), prefix: prefix)
    }
}
