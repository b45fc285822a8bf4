/// A connection on a loop that may have something to send.
protocol Flushable: AnyObject {
    /// Sends what waits, as far as the peer takes it.
    func flush()
}

/// The connections with something to send, in the order in which they got it.
///
/// A fan-out to many connections is sent in slices of a few milliseconds, so that no timer, and no other
/// connection, waits for all of it.
struct FlushQueue {
    /// A slice ends with the connection during which so much time has passed.
    static let sliceMilliseconds: Int64 = 4

    /// Nil up to `next`.
    private var connections: [(any Flushable)?] = []
    private var next = 0
    /// Whether a slice is to come at the loop's next turn.
    var isWaitingForTurn = false

    mutating func append(_ connection: any Flushable) { connections.append(connection) }

    var isEmpty: Bool { next == connections.count }

    /// Takes out the next connection to flush.
    mutating func pop() -> (any Flushable)? {
        guard next < connections.count else {
            connections.removeAll(keepingCapacity: next < 4_096)
            next = 0
            return nil
        }
        let connection = connections[next].take()
        next += 1
        if next >= 1_024, next * 2 >= connections.count {
            connections.removeFirst(next)
            next = 0
        }
        return connection
    }
}
