package import Disk
package import EventLog
package import LogTools
@_spi(Rooms) package import RelayRecords

/// How a store on disk is maintained.
package struct EventStoreOptions: Sendable {
    /// How the log is written; use `onFreeze` to learn that it has stopped permanently.
    package var log = EventLogOptions()
    package var fileSystem: any FileSystem = POSIXFileSystem()
    package var checkpointInterval = CheckpointInterval()
    /// How many of the newest checkpoints to keep.
    package var keptCheckpoints = 3
    /// The newest events whose commits are provided at the start, each with its state (``EventStore/tail``).
    package var tail = HistoryTail.Limits.none
    /// How many older checkpoints to keep as well, spread over the history, so that a state to start from is
    /// near every past event. None if events before checkpoints are dropped.
    package var olderCheckpoints = 5
    /// Whether to drop events before the oldest kept checkpoint.
    package var dropsEventsBeforeCheckpoints = false
    /// Called on one of the store's threads after each background checkpoint. A failure costs nothing but
    /// time at the next start.
    package var onCheckpoint: (@Sendable (Result<CheckpointReport, EventStoreError>) -> Void)?

    package init() {}
}

/// An opened store: its journal, and the state that the journal's events lead to.
package struct EventStore: Sendable {
    package let journal: FileJournal
    /// The state after the last event. Its sequence is 0 in a new store, whose first event must be the
    /// genesis.
    package let snapshot: Snapshot
    package let tail: HistoryTail
    package let report: StartReport

    /// Opens the store in a directory, which is created if there is none. Blocks while it reads.
    ///
    /// Takes the directory's lock and repairs the log's tail. Then restores the newest checkpoint that this
    /// build can use and folds the events after it, or all events if there is none. If
    /// ``EventStoreOptions/tail`` is requested, it starts from the newest checkpoint before the tail instead.
    /// - Parameter indexes: the indexes that snapshots must have.
    /// - Throws: the errors of opening the log (`locked`, `damaged`, `futureVersion`, …), or `notAHistory`.
    ///   In that case nothing is changed, and the lock is released.
    package static func open(
        _ directory: String, indexes: [IndexDefinition] = [],
        options: EventStoreOptions = EventStoreOptions()
    ) throws(EventStoreError) -> EventStore {
        let opened = try OpenedLog(directory, indexes: indexes, options: options)
        return EventStore(
            journal: FileJournal(opened), snapshot: opened.snapshot, tail: opened.tail,
            report: opened.report)
    }
}

extension EventStore {
    /// Drops the events that lead to the newest state, which is kept as a checkpoint.
    ///
    /// The store starts as before; its past begins with that state. Blocks while it reads.
    /// - Throws: the same as ``open(_:indexes:options:)``, and `log(locked)` if a server is running on it.
    package static func compact(
        _ directory: String, options: EventStoreOptions = EventStoreOptions()
    ) throws(EventStoreError) -> CompactionReport {
        let compaction = LogCompaction(directory, fileSystem: options.fileSystem)
        try onLog { () throws(LogError) in
            try compaction.checkLock()
            try compaction.check()
        }
        let store = try open(directory, options: options)
        let checkpoint = Result { () throws(EventStoreError) in
            try store.journal.checkpoint(store.snapshot)
        }
        store.journal.close()
        try checkpoint.get()
        return try onLog { () throws(LogError) in
            try compaction.run(checkpoint: store.snapshot.sequence, isChecked: true)
        }
    }
}

/// What a start found and did.
package struct StartReport: Sendable {
    package let recovery: RecoveryReport
    /// A sentence for each checkpoint that could not be used, and one if newest commits are unavailable.
    package let remarks: [String]
    /// The event of the restored checkpoint; 0 if none.
    package let checkpoint: UInt64
    /// The last event.
    package let sequence: UInt64
    package let recordCount: Int
    package let duration: Duration

    package var foldedEvents: UInt64 { sequence - checkpoint }

    /// Everything out of the ordinary, as sentences.
    package var sentences: [String] {
        recovery.sentences + remarks
    }

    /// One line describing how the store reached its state.
    package var summary: String {
        if sequence == 0 { return "The log is new." }
        let origin = checkpoint == 0 ? "" : "the checkpoint at event \(checkpoint) and "
        let milliseconds = duration / .milliseconds(1)
        return """
            Read \(recordCount) records from \(origin)\(foldedEvents) events in \
            \(Int(milliseconds.rounded())) ms; the log ends with event \(sequence).
            """
    }
}
