import EventLog
@_spi(Rooms) import RelayRecords

/// A log that has been opened for writing, recovered and folded.
struct OpenedLog {
    let directory: String
    let log: EventLogWriter
    let reader: EventLogReader
    let checkpointer: Checkpointer
    /// The first event for which there is a state.
    let earliestState: UInt64
    /// The state after the last event.
    let snapshot: Snapshot
    let tail: HistoryTail
    let report: StartReport
    let runner: (any LogRunner)?

    /// The same as ``EventStore/open(_:indexes:options:)``.
    init(
        _ directory: String, indexes: [IndexDefinition] = [],
        options: EventStoreOptions = EventStoreOptions()
    ) throws(EventStoreError) {
        let start = ContinuousClock.now
        let log = try onLog { () throws(LogError) in
            try EventLogWriter.open(
                directory, options: options.log, fileSystem: options.fileSystem)
        }
        do throws(EventStoreError) {
            let reader = try onLog { () throws(LogError) in
                try EventLogReader(directory, fileSystem: options.fileSystem)
            }
            let first = try onLog { () throws(LogError) in try reader.firstSequence() }
            earliestState = try reader.earliestState(from: first)
            let head = log.head.sequence
            let fold = try StartFold(
                reader, from: first, through: head, tail: options.tail,
                indexes: indexes)
            tail = fold.tail
            snapshot = fold.snapshot
            checkpointer = Checkpointer(
                log.checkpoints, epoch: log.metadata.epoch, restored: fold.restored,
                newest: fold.newest, tailBytes: fold.tailBytes, options: options
            ) { [weak log] in log?.drop(through: $0) }
            report = StartReport(
                recovery: log.recovery, remarks: fold.remarks, checkpoint: fold.restored,
                sequence: snapshot.sequence, recordCount: snapshot.recordCount,
                duration: .now - start)
            self.reader = reader
        } catch {
            log.close()
            throw error
        }
        runner = options.log.runner
        self.directory = directory
        self.log = log
    }
}
