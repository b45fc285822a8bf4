@_spi(Rooms) import RelayRecords

/// The minimum that is appended between two checkpoints.
package struct CheckpointInterval: Sendable {
    package var events: UInt64 = 50_000
    package var bytes: UInt64 = 64 << 20

    package init() {}
}

/// When to write the next checkpoint: a state machine without threads, clock or disk.
///
///     idle ──begin──► writing ──end──► idle          any ──close──► closed
///
/// A checkpoint is due when reading the tail after the last one would take about as long as reading the
/// state itself: after ``CheckpointInterval/events`` events or as many as there are records, or after
/// ``CheckpointInterval/bytes`` bytes or as many as the last checkpoint had, whichever is more. So the cost
/// of checkpoints is a constant share of what is appended, however large the state is.
struct CheckpointSchedule {
    private let interval: CheckpointInterval
    /// The newest checkpoint written in this run; 0 if none.
    private(set) var written: UInt64 = 0
    /// Bytes of the last checkpoint of this run.
    private(set) var size = 0
    /// Where the last one was started. A failed one counts too: if there is no room, the next attempt is as
    /// far away as after a success.
    private var begun: UInt64
    private var begunLogBytes: UInt64 = 0
    /// Bytes after the newest checkpoint when this run started.
    private let tailBytes: UInt64
    private var isWriting = false
    private var isClosed = false

    /// - Parameters:
    ///   - newest: the event of the newest existing checkpoint; 0 if none.
    ///   - tailBytes: the bytes after it.
    init(_ interval: CheckpointInterval, newest: UInt64, tailBytes: UInt64 = 0) {
        self.interval = interval
        self.tailBytes = tailBytes
        begun = newest
    }

    /// - Parameter logBytes: bytes appended to the log in this run.
    /// - Returns: true if the caller must write a checkpoint now, and call ``end()`` when done.
    mutating func begin(_ snapshot: Snapshot, logBytes: UInt64) -> Bool {
        guard !isWriting, !isClosed, snapshot.sequence > begun else { return false }
        let isLong = snapshot.sequence - begun >= max(interval.events, UInt64(snapshot.recordCount))
        let isLarge = tailBytes + logBytes - begunLogBytes >= max(interval.bytes, UInt64(size))
        guard isLong || isLarge else { return false }
        isWriting = true
        begun = snapshot.sequence
        begunLogBytes = tailBytes + logBytes
        return true
    }

    /// The checkpoint that was started has ended.
    mutating func end() {
        assert(isWriting, "what ends was begun")
        isWriting = false
    }

    /// Nothing is started from now on.
    mutating func close() { isClosed = true }

    /// A checkpoint is on the disk, written here or elsewhere.
    mutating func noteWritten(_ sequence: UInt64, size: Int) {
        written = max(written, sequence)
        begun = max(begun, sequence)
        self.size = size
    }
}
