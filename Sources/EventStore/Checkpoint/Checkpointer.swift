import Dispatch
import EventLog
import RelayStore
import Synchronization

/// Writes checkpoints beside the store's work, on a thread of its own.
///
/// The next one is due when reading the tail behind the last one would take about as long as
/// reading the state itself: after ``CheckpointInterval/events`` events or as many as there are
/// records, or after ``CheckpointInterval/bytes`` bytes or as many as the last checkpoint had,
/// whatever is more. So the cost of checkpoints stays in proportion to what is appended, however
/// large the state is.
final class Checkpointer: Sendable {
    private struct State {
        /// The last checkpoint, or the attempt at one.
        var sequence: UInt64
        var logBytes: UInt64 = 0
        var size = 0
        var isWriting = false
    }

    private let files: CheckpointFiles
    private let epoch: UInt32
    private let options: EventStoreOptions
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "relay.checkpoint", qos: .utility)

    /// - Parameter sequence: the checkpoint that is there, 0 for none.
    init(
        _ files: CheckpointFiles, epoch: UInt32, after sequence: UInt64, options: EventStoreOptions
    ) {
        self.files = files
        self.epoch = epoch
        self.options = options
        state = Mutex(State(sequence: sequence))
    }

    /// Begins a checkpoint of a snapshot if one is due and none is being written.
    /// - Parameter logBytes: how much has been appended to the log so far.
    func beginIfDue(_ snapshot: Snapshot, logBytes: UInt64) {
        let isDue = state.withLock { state in
            guard !state.isWriting, snapshot.sequence > state.sequence else { return false }
            let interval = options.checkpointInterval
            let events = snapshot.sequence - state.sequence
            let bytes = logBytes - min(state.logBytes, logBytes)
            guard
                events >= max(interval.events, UInt64(snapshot.recordCount))
                    || bytes >= max(interval.bytes, UInt64(state.size))
            else { return false }
            state.isWriting = true
            state.logBytes = logBytes
            return true
        }
        guard isDue else { return }
        queue.async { [self] in
            let outcome = write(snapshot)
            state.withLock { $0.isWriting = false }
            options.onCheckpoint?(outcome)
        }
    }

    /// Writes a checkpoint now, behind one that is being written.
    func write(now snapshot: Snapshot) throws(EventStoreError) {
        if state.withLock({ $0.sequence == snapshot.sequence }) { return }
        _ = try queue.sync { write(snapshot) }.get()
    }

    /// Returns when nothing is being written any more.
    func drain() { queue.sync {} }

    private func write(_ snapshot: Snapshot) -> Result<CheckpointReport, EventStoreError> {
        let start = ContinuousClock.now
        let sizeHint = state.withLock { $0.size + $0.size / 8 }
        let checkpoint = Checkpoint(of: snapshot, epoch: epoch, sizeHint: sizeHint)
        // A failure counts too: the next try is as far away as after a success.
        state.withLock { state in
            state.sequence = snapshot.sequence
            state.size = checkpoint.payload.count
        }
        return Result { () throws(EventStoreError) in
            try onLog { () throws(LogError) in
                try files.write(checkpoint, keeping: options.keptCheckpoints)
            }
            return CheckpointReport(
                sequence: snapshot.sequence, sizeBytes: checkpoint.payload.count,
                duration: .now - start)
        }
    }
}

/// A checkpoint that has been written.
package struct CheckpointReport: Sendable {
    package let sequence: UInt64
    package let sizeBytes: Int
    package let duration: Duration
}
