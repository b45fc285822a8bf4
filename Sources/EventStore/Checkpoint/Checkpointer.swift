import EventLog
@_spi(Rooms) import RelayRecords
import Threads

/// Writes checkpoints in the background, on its own thread.
final class Checkpointer: Sendable {
    private let files: CheckpointFiles
    private let epoch: UInt32
    private let options: EventStoreOptions
    private let schedule: Lock<CheckpointSchedule>
    /// The event of the checkpoint read at the start; 0 if none.
    private let restored: UInt64
    private let queue: BackgroundQueue
    private let drop: @Sendable (UInt64) -> Void

    /// - Parameters:
    ///   - restored: the event of the checkpoint read at the start; 0 if none.
    ///   - newest: that of the newest checkpoint; 0 if none.
    ///   - tailBytes: the bytes after the newest checkpoint.
    ///   - drop: called with an event up to which events are no longer needed.
    init(
        _ files: CheckpointFiles, epoch: UInt32, restored: UInt64, newest: UInt64,
        tailBytes: UInt64, options: EventStoreOptions,
        drop: @escaping @Sendable (UInt64) -> Void
    ) {
        self.restored = restored
        self.drop = drop
        queue = BackgroundQueue("relay.checkpoint", isUtility: true, runner: options.log.runner)
        self.files = files
        self.epoch = epoch
        self.options = options
        schedule = Lock(
            CheckpointSchedule(
                options.checkpointInterval, newest: newest, tailBytes: tailBytes))
    }

    /// Starts a checkpoint of a snapshot if one is due and none is being written.
    /// - Parameter logBytes: bytes appended to the log in this run.
    func beginIfDue(_ snapshot: Snapshot, logBytes: UInt64) {
        guard schedule.withLock({ $0.begin(snapshot, logBytes: logBytes) }) else { return }
        queue.async { [self] in
            let outcome = write(snapshot)
            schedule.withLock { $0.end() }
            options.onCheckpoint?(outcome)
        }
    }

    /// Writes a checkpoint now, after any that is being written, unless it already exists. It may be older
    /// than other checkpoints.
    func write(now snapshot: Snapshot) throws(EventStoreError) {
        let outcome = queue.sync { () -> Result<CheckpointReport, EventStoreError>? in
            let known = [restored, schedule.withLock { $0.written }]
            return known.contains(snapshot.sequence) ? nil : write(snapshot)
        }
        _ = try outcome?.get()
    }

    /// Starts no more; returns once none is being written.
    func close() {
        schedule.withLock { $0.close() }
        queue.sync {}
    }

    private func write(_ snapshot: Snapshot) -> Result<CheckpointReport, EventStoreError> {
        Result { () throws(EventStoreError) in
            let start = ContinuousClock.now
            let lastSize = schedule.withLock { $0.size }
            let checkpoint = Checkpoint(
                of: snapshot, epoch: epoch, sizeHint: lastSize + lastSize / 8)
            try onLog { () throws(LogError) in
                try files.write(
                    checkpoint, keeping: options.keptCheckpoints,
                    keepingOlder: options.dropsEventsBeforeCheckpoints
                        ? 0 : options.olderCheckpoints)
            }
            let size = checkpoint.payload.count
            schedule.withLock { $0.noteWritten(snapshot.sequence, size: size) }
            // A start can use any of the kept checkpoints, in case a newer one is damaged.
            if options.dropsEventsBeforeCheckpoints,
                let kept = try? files.sequences().suffix(options.keptCheckpoints),
                kept.count == options.keptCheckpoints, let oldest = kept.first
            {
                drop(oldest)
            }
            return CheckpointReport(
                sequence: snapshot.sequence, sizeBytes: size, duration: .now - start)
        }
    }
}

/// A written checkpoint.
package struct CheckpointReport: Sendable {
    package let sequence: UInt64
    package let sizeBytes: Int
    package let duration: Duration
}
