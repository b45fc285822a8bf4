import GraphQLTransportWS

/// What a ``LinkMachine`` wants to be done, in order.
enum LinkAction: Sendable {
    /// Numbers what is tried, so that an answer that comes late is known as such.
    typealias Attempt = UInt64

    enum Timer: Hashable, Sendable {
        case acknowledgement(Attempt)
        case retry(Attempt)
        /// A token was asked for.
        case token(Attempt)
        /// The number of the ping.
        case pong(UInt64)
        /// A stream that the server has ended is to go on.
        case resumption(OperationID)
        /// The number of operations begun so far.
        case idle(UInt64)
    }

    /// Get a token, and say so by `authorized`.
    case authorize(Attempt, isRefused: Bool)
    /// Open a socket, and say so by `socketOpened` or `socketClosed`.
    case connect(Attempt, token: String?)
    /// Send a message over the present socket.
    case send([UInt8])
    /// Close the present socket; nothing of it is wanted any more.
    case close(CloseCode)
    /// Drop the present socket without a goodbye.
    case abort
    /// After a while, say `timerFired`.
    case schedule(Timer, after: Duration)
    /// As `schedule` of a retry; the delay follows from how often it has failed.
    case retry(Attempt, failures: Int)
    /// As `schedule` of a resumption; the delay follows from how often the stream was ended.
    case resumeLater(OperationID, endings: Int)
    /// A response for an operation.
    case deliver(OperationID, [UInt8])
    /// A mutation was with the server when the connection ended, and was not answered.
    case interrupted(OperationID)
    /// An operation has ended; nothing of it follows.
    case finish(OperationID, TransportError?)
    case report(NetworkEvent)
    /// A session has ended, for good.
    case ended(TransportError)
}

/// An operation of a link, over all the connections that it may take. Rising, never used again.
struct OperationID: Hashable, Comparable, Sendable {
    let number: UInt64

    static func < (left: OperationID, right: OperationID) -> Bool { left.number < right.number }
}
