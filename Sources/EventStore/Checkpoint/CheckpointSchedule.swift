@_spi(Rooms) import RelayRecords

/// The least that is appended between two checkpoints.
package struct CheckpointInterval: Sendable {
    package var events: UInt64 = 50_000
    package var bytes: UInt64 = 64 << 20

    package init() {}
}

/// When to write the next checkpoint: a state machine without threads, clock or disk.
///
///     idle ──begin──► writing ──end──► idle          any ──close──► closed
///
/// A checkpoint is due when reading the tail after the last one would take about as long as reading the state
/// itself: after
/// ``CheckpointInterval/events`` events or as many as there are records, or after ``CheckpointInterval/bytes``
/// bytes or as many as the last checkpoint had, whichever is more. So checkpoints cost a constant share of
/// what is appended, however large the state is.
struct CheckpointSchedule {
    private let interval: CheckpointInterval
    /// The newest checkpoint that was written in this run; 0 for none.
    private(set) var written: UInt64 = 0
    /// Bytes of the last checkpoint of this run.
    private(set) var size = 0
    /// Where the last one was begun. One that failed counts too: without room, the next try is as
    /// far away as after a success.
    private var begun: UInt64
    private var begunLogBytes: UInt64 = 0
    /// How much came after the newest checkpoint when this run began.
    private let tailBytes: UInt64
    private var isWriting = false
    private var isClosed = false

    /// - Parameters:
    ///   - newest: the event of the newest checkpoint there is; 0 for none.
    ///   - tailBytes: how much comes after it.
    init(_ interval: CheckpointInterval, newest: UInt64, tailBytes: UInt64 = 0) {
        self.interval = interval
        self.tailBytes = tailBytes
        begun = newest
    }

    /// - Parameter logBytes: how much has been appended to the log in this run.
    /// - Returns: true when the caller is to write a checkpoint now, and to say when it has ended.
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

    /// What was begun has ended.
    mutating func end() {
        assert(isWriting, "what ends was begun")
        isWriting = false
    }

    /// Nothing is begun from now on.
    mutating func close() { isClosed = true }

    /// A checkpoint is on the disk, begun here or elsewhere.
    mutating func noteWritten(_ sequence: UInt64, size: Int) {
        written = max(written, sequence)
        begun = max(begun, sequence)
        self.size = size
    }
}
