/// When an appended batch is acknowledged.
package enum Durability: String, Sendable, CaseIterable {
    /// After it is on the disk. What is acknowledged survives a crash of the machine.
    case always
    /// After it is written; a sync follows within ``EventLogOptions/syncIntervalMilliseconds``.
    /// It survives a crash of the process; a crash of the machine may lose the interval.
    case batch
    /// After it is written; the system syncs when it likes.
    case none
}

/// How a log is written.
package struct EventLogOptions: Sendable {
    package var durability = Durability.always
    /// With durability `batch`: how long the oldest acknowledged event may wait for its sync to begin. Nothing
    /// is acknowledged meanwhile that would wait longer.
    package var syncIntervalMilliseconds = 100
    package var clock: any LogClock = SystemLogClock()
    /// Runs what the log does in the background; nil for threads.
    package var runner: (any LogRunner)?
    /// The first segment's size. Each is twice as large as the one before it, so that a small log
    /// stays small, up to ``segmentSizeBytes``.
    package var firstSegmentSizeBytes: UInt64 = 1 << 20
    /// Where a segment ends at the latest; one with a single larger frame is as large as that.
    package var segmentSizeBytes: UInt64 = 64 << 20
    /// How many segments are filled with zeros ahead of the writer. Without one ready a segment
    /// grows as it is written, which is slower; the writer never waits for one.
    package var segmentsAhead = 1
    /// Whether segments are deflated when they are full.
    package var deflatesSealedSegments = true
    /// Most bytes that may wait for the disk. Beyond it `enqueue` refuses with `queueFull` and the
    /// other ways to append wait. One batch is always accepted when nothing waits.
    package var maximumWaitingBytes = 16 << 20
    /// The id of a log that is created; nil makes a random one.
    package var storeID: StoreID?
    /// Called once, from the sync thread, when the first failed write or sync freezes the log.
    package var onFreeze: (@Sendable (LogError) -> Void)?
    /// Called from a thread of the log's, at most once for a segment, when a sealed one that was to be deflated turns out
    /// to be damaged. It stays as it is, and the log goes on.
    package var onDamage: (@Sendable (LogDamage) -> Void)?

    package init() {}
}
