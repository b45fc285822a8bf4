package import RelayLink
import Threads

/// The state of the connection, as it is shown.
package struct ConnectionStatus: Hashable, Sendable {
    enum State: Hashable, Sendable {
        case connecting
        case connected
        /// And what went wrong; `isTrying`: whether another connection is being made.
        case offline(String, isTrying: Bool)
    }

    var state = State.connecting
    /// How often there was a connection.
    var connectionCount = 0
    /// How often a stream went on after an outage, and how often without what it had missed.
    var resumedCount = 0
    var gapCount = 0

    mutating func take(_ event: NetworkEvent) {
        switch event {
        case .connecting:
            if case .offline(let reason, _) = state { state = .offline(reason, isTrying: true) }
        case .connected:
            state = .connected
            connectionCount += 1
        case .disconnected(let error): state = .offline(error.message, isTrying: false)
        case .waiting:
            if case .offline(let reason, _) = state { state = .offline(reason, isTrying: true) }
        case .resumed(_, isComplete: true): resumedCount += 1
        case .resumed(_, isComplete: false): gapCount += 1
        case .closed: state = .offline("The connection is closed.", isTrying: false)
        }
    }
}

/// Takes the state of the connection from any thread to one reader.
package final class ConnectionWatch: Sendable {
    private let status = Lock(ConnectionStatus())
    private let continuation: AsyncStream<ConnectionStatus>.Continuation
    /// The status whenever it is another.
    let statuses: AsyncStream<ConnectionStatus>

    package init() {
        (statuses, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func report(_ event: NetworkEvent) {
        status.withLock { status in
            status.take(event)
            // Under the lock, so that the newest one is the last.
            continuation.yield(status)
        }
    }
}
