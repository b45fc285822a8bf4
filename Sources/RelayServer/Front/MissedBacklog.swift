/// What one peer has not taken yet, of which part is what it has missed. Pure.
///
/// Missed results are made only as fast as they are taken, so they never make their peer look slow: they have half of
/// the limit, and the result that goes beyond it, and live results have the whole limit for themselves.
struct MissedBacklog: Sendable {
    /// Bytes that may wait for the peer before its streams are slowed down or end.
    let limit: Int
    /// Delivered, but not yet taken over by the loop.
    private var comingBytes = 0
    /// Taken over since nothing waited for the peer.
    private var takenBytes = 0

    init(limit: Int) { self.limit = limit }

    mutating func expect(_ bytes: Int) { comingBytes += bytes }

    /// A missed result that was expected is handed to the peer's connection.
    mutating func take(_ bytes: Int, queuedBytes: Int) {
        comingBytes -= bytes
        takenBytes = min(takenBytes, queuedBytes) + bytes
    }

    /// Nothing waits for the peer any more.
    mutating func drained() { takenBytes = 0 }

    /// Whether missed results have to wait.
    func isFull(queuedBytes: Int) -> Bool { queuedBytes + comingBytes > limit / 2 }

    /// Whether so much waits of what happens now that the peer is slow.
    func isSlow(queuedBytes: Int) -> Bool { queuedBytes - min(takenBytes, queuedBytes) > limit }
}
