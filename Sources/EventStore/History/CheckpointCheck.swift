import Digests
import EventLog
@_spi(Rooms) import RelayRecords

/// The result of checking one checkpoint by folding the log again.
package struct CheckpointCheck: Sendable {
    package enum Outcome: Sendable, Equatable {
        /// The state is the one that the events lead to.
        case right
        /// A compacted log begins with it: there are no events to compare it with.
        case beginning
        /// The events lead to a different state: either the fold or the checkpoint is wrong.
        case differs(recorded: StateHash, refolded: StateHash)
        /// Another fold version made it; it is not read.
        case otherVersion
        /// Its bytes are not what was written, or do not match their state hash.
        case unreadable(String)
    }

    package let sequence: UInt64
    package let outcome: Outcome
}

extension History {
    /// Folds all kept events again and compares the states with the checkpoints.
    ///
    /// Two builds agree on a log if one finds the other's checkpoints right. The first one that differs is
    /// the place to start investigating.
    /// - Parameter check: called for every checkpoint, in log order; returns false to stop.
    package func checkCheckpoints(
        _ check: (CheckpointCheck) -> Bool
    ) throws(EventStoreError) {
        let files = try reader.checkpoints
        let sequences = try onLog { () throws(LogError) in try files.sequences() }
            .filter { $0 + 1 >= first && $0 <= last }
        let replay = try Replay(fromEarliest: source, through: last)
        let beginning = replay.snapshot.sequence
        for sequence in sequences {
            let before = replay.snapshot.sequence
            replay.watch = { [watch, last] done, _ in watch?(before + done, last) }
            try replay.advance(to: sequence)
            let refolded = sequence < beginning ? nil : replay.snapshot
            let outcome =
                sequence == beginning
                ? .beginning : checkpoint(at: sequence, of: files, against: refolded)
            guard check(CheckpointCheck(sequence: sequence, outcome: outcome)) else { return }
        }
    }

    /// - Parameter refolded: nil before the first state that can be rebuilt.
    private func checkpoint(
        at sequence: UInt64, of files: CheckpointFiles, against refolded: Snapshot?
    ) -> CheckpointCheck.Outcome {
        do throws(LogError) {
            let checkpoint = try files.checkpoint(at: sequence)
            let version = checkpoint.header.foldVersion
            guard StateFormat.versions.contains(version) else { return .otherVersion }
            let recorded = StateHash(bytes: checkpoint.header.stateHash)
            let hasher = SHA256()
            hasher.update(checkpoint.payload)
            guard hasher.finish() == recorded.bytes else {
                return .unreadable("its state hash is not that of its bytes")
            }
            guard let refolded else { return .unreadable("its bytes are no state") }
            let hash = refolded.stateHash
            if hash == recorded { return .right }
            // An older fold's state may legitimately differ from what these events lead to now.
            if version < StateFormat.version(of: refolded) { return .otherVersion }
            return .differs(recorded: recorded, refolded: hash)
        } catch {
            return .unreadable(error.damage?.reason ?? error.message)
        }
    }
}
