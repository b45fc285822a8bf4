package import Disk
package import EventLog
@_spi(Rooms) package import RelayRecords

/// How a store on disk is kept.
package struct EventStoreOptions: Sendable {
    /// How the log is written; `onFreeze` is the place to learn that it has stopped permanently.
    package var log = EventLogOptions()
    package var fileSystem: any FileSystem = POSIXFileSystem()
    package var checkpointInterval = CheckpointInterval()
    /// How many of the newest checkpoints stay.
    package var keptCheckpoints = 3
    /// Of which of the newest events the commits are handed out at the start, each with its state
    /// (``EventStore/tail``).
    package var tail = HistoryTail.Limits.none
    /// How many older ones stay besides, spread over the history, so that the past is not far from a
    /// state to begin with. None where events before checkpoints are dropped.
    package var olderCheckpoints = 5
    /// Whether events are dropped that lie before the oldest checkpoint that is kept.
    package var dropsEventsBeforeCheckpoints = false
    /// Called on a thread of the store's after each checkpoint in the background. A failure loses
    /// nothing but time at the next start.
    package var onCheckpoint: (@Sendable (Result<CheckpointReport, EventStoreError>) -> Void)?

    package init() {}
}

/// A store that has been opened: its journal, and the state that the journal's events lead to.
package struct EventStore: Sendable {
    package let journal: FileJournal
    /// The state after the last event. Its sequence is 0 in a new store, whose first event has to
    /// be the genesis.
    package let snapshot: Snapshot
    package let tail: HistoryTail
    package let report: StartReport

    /// Opens the store in a directory, which is created if there is none. Blocks while it reads.
    ///
    /// Takes the directory's lock and repairs the log's tail, then restores the newest checkpoint that this
    /// build can use and folds the events after it, or all events if there is none. Where
    /// ``EventStoreOptions/tail`` is wanted, it is the newest before it.
    /// - Parameter indexes: the look-ups that snapshots shall have.
    /// - Throws: what opening the log says (`locked`, `damaged`, `futureVersion`, …), or
    ///   `notAHistory`. Nothing is changed then, and the lock is given back.
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
    /// - Throws: as ``open(_:indexes:options:)``, also `log(locked)` when a server runs on it.
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
    /// A sentence for each checkpoint that could not be used, and for newest commits that are not available.
    package let remarks: [String]
    /// The event of the checkpoint that was restored; 0 for none.
    package let checkpoint: UInt64
    /// The last event.
    package let sequence: UInt64
    package let recordCount: Int
    package let duration: Duration

    package var foldedEvents: UInt64 { sequence - checkpoint }

    /// Everything out of the ordinary, each a sentence.
    package var sentences: [String] {
        recovery.sentences + remarks
    }

    /// One line that says how the store came to its state.
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
