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
    /// Between syncs with durability `batch`.
    package var syncIntervalMilliseconds = 100
    /// Where a segment ends; one with a single larger frame is as large as that.
    package var segmentSizeBytes: UInt64 = 64 << 20
    /// Most bytes that may wait for the disk. Beyond it `enqueue` refuses with `queueFull` and the
    /// other ways to append wait. One batch is always accepted when nothing waits.
    package var maximumWaitingBytes = 16 << 20
    /// The id of a log that is created; nil makes a random one.
    package var storeID: StoreID?
    /// Called once, from the sync thread, when the first failed write or sync freezes the log.
    package var onFreeze: (@Sendable (LogError) -> Void)?

    package init() {}
}
