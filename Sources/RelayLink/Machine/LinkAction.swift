import GraphQLTransportWS

/// What a ``LinkMachine`` asks to have done, in order.
enum LinkAction: Sendable {
    /// Numbers attempts, so that a late answer is recognized as such.
    typealias Attempt = UInt64

    enum Timer: Hashable, Sendable {
        case acknowledgement(Attempt)
        case retry(Attempt)
        /// A token was requested.
        case token(Attempt)
        /// The number of the ping.
        case pong(UInt64)
        /// A stream that the server has ended is to be resumed.
        case resumption(OperationID)
        /// The number of operations started so far.
        case idle(UInt64)
    }

    /// Get a token, and report it by `authorized`.
    case authorize(Attempt, isRefused: Bool)
    /// Open a socket, and report it by `socketOpened` or `socketClosed`.
    case connect(Attempt, token: String?)
    /// Send a message over the current socket.
    case send([UInt8])
    /// Close the current socket; nothing more is wanted from it.
    case close(CloseCode)
    /// Drop the current socket without a closing handshake.
    case abort
    /// After a while, call `timerFired`.
    case schedule(Timer, after: Duration)
    /// Like `schedule` for a retry; the delay depends on the number of failures.
    case retry(Attempt, failures: Int)
    /// Like `schedule` for a resumption; the delay depends on how often the stream was ended.
    case resumeLater(OperationID, endings: Int)
    /// A response for an operation.
    case deliver(OperationID, [UInt8])
    /// The connection ended while a mutation was with the server and unanswered.
    case interrupted(OperationID)
    /// An operation has ended; nothing follows for it.
    case finish(OperationID, TransportError?)
    case report(NetworkEvent)
    /// A session has ended, permanently.
    case ended(TransportError)
}

/// An operation of a link, over all the connections that it may take. Increasing, never reused.
struct OperationID: Hashable, Comparable, Sendable {
    let number: UInt64

    static func < (left: OperationID, right: OperationID) -> Bool { left.number < right.number }
}
