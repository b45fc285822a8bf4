/// The sessions with something to send, in the order in which they got it.
///
/// A fan-out to many connections is sent in slices of a few milliseconds, so that no timer, and no other
/// connection, waits for all of it.
struct FlushQueue {
    /// A slice ends after so long, looked at after each handful of sessions.
    static let sliceMilliseconds: Int64 = 4
    static let handful = 8

    private var sessions: [WebSocketSession] = []
    private var next = 0
    /// Whether a slice is to come at the loop's next turn.
    var isWaitingForTurn = false

    mutating func append(_ session: WebSocketSession) { sessions.append(session) }

    var isEmpty: Bool { next == sessions.count }

    /// Takes out the next session to flush.
    mutating func pop() -> WebSocketSession? {
        guard next < sessions.count else {
            sessions.removeAll(keepingCapacity: next < 4_096)
            next = 0
            return nil
        }
        let session = sessions[next]
        next += 1
        if next >= 1_024, next * 2 >= sessions.count {
            sessions.removeFirst(next)
            next = 0
        }
        return session
    }
}
