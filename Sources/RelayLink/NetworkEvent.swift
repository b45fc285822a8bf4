/// What happens to the connection of a `WebSocketNetwork`, for indicators and logs.
public enum NetworkEvent: Sendable, CustomStringConvertible {
    /// A connection is being made.
    case connecting
    /// The server has accepted the connection.
    case connected
    /// The connection is gone, or could not be made.
    case disconnected(TransportError)
    /// The next attempt follows after this delay.
    case waiting(Duration)
    /// A stream resumes over a new connection.
    ///
    /// - Parameter isComplete: whether everything that was missed has arrived, or is about to. If
    ///   not, events may be lost, and what was fetched may be out of date.
    case resumed(operation: String, isComplete: Bool)
    /// The connection was idle, and was closed.
    case closed

    public var description: String {
        switch self {
        case .connecting: "connecting"
        case .connected: "connected"
        case .disconnected(let error): "disconnected: \(error)"
        case .waiting(let delay): "waiting \(delay)"
        case .resumed(let operation, true): "resumed \(operation)"
        case .resumed(let operation, false): "resumed \(operation), with a gap"
        case .closed: "closed"
        }
    }
}
