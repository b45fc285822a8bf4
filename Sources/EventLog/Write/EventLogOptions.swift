/// When an appended batch is acknowledged.
package enum Durability: String, Sendable, CaseIterable {
    /// After it is on the disk. Acknowledged events survive a machine crash.
    case always
    /// After it is written; a sync follows within ``EventLogOptions/syncIntervalMilliseconds``. Acknowledged
    /// events survive a process crash; a machine crash may lose one interval.
    case batch
    /// After it is written; the operating system decides when to sync.
    case none
}

/// How a log is written.
package struct EventLogOptions: Sendable {
    package var durability = Durability.always
    /// With durability `batch`: how long the oldest acknowledged event may wait for its sync to start.
    /// Nothing is acknowledged in the meantime if it would have to wait longer.
    package var syncIntervalMilliseconds = 100
    package var clock: any LogClock = SystemLogClock()
    /// Runs the log's background work; nil uses threads.
    package var runner: (any LogRunner)?
    /// The first segment's size. Each later segment is twice as large as the one before it, up to
    /// ``segmentSizeBytes``, so that a small log stays small.
    package var firstSegmentSizeBytes: UInt64 = 1 << 20
    /// The largest size of a segment. Only a segment with a single larger frame exceeds it.
    package var segmentSizeBytes: UInt64 = 64 << 20
    /// How many segments to fill with zeros ahead of the writer. If none is ready, a segment grows as it is
    /// written, which is slower; the writer never waits for one.
    package var segmentsAhead = 1
    /// Whether segments are deflated when they are full.
    package var deflatesSealedSegments = true
    /// The limit on bytes waiting for the disk. Beyond it, `enqueue` throws `queueFull` and the other ways to
    /// append wait. If nothing is waiting, one batch is always accepted.
    package var maximumWaitingBytes = 16 << 20
    /// The id for a newly created log; nil makes a random one.
    package var storeID: StoreID?
    /// The journal of which the log is a copy; nil if the log stands alone.
    package var shared: SharedHistory?
    /// Called once, from the sync thread, when the first failed write or sync freezes the log.
    package var onFreeze: (@Sendable (LogError) -> Void)?
    /// Called on one of the log's threads, at most once per segment, when a sealed segment that was to be
    /// deflated turns out to be damaged. The segment stays as it is, and the log continues.
    package var onDamage: (@Sendable (LogDamage) -> Void)?

    package init() {}
}
