import Digests
package import Disk
import EventLog
package import LogTools
@_spi(Rooms) import RelayRecords

// Checking and repairing a log, including what only the fold can tell about its checkpoints.

extension EventStore {
    /// Checks every byte of a log and of its checkpoints. Never writes, and works while a server runs.
    ///
    /// Whether the events lead to the states in the checkpoints can only be checked by folding all of them:
    /// ``History/checkCheckpoints(_:)``.
    package static func verify(
        _ directory: String, fileSystem: any FileSystem = POSIXFileSystem(),
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) throws(EventStoreError) -> LogVerification {
        try onLog { () throws(LogError) in
            try EventLogReader(directory, fileSystem: fileSystem)
                .verify(progress: progress, judge: { $0.verdict })
        }
    }

    /// What repairing a log would keep and lose, without doing it.
    package static func planRepair(
        _ directory: String, keeping goal: RepairGoal = .state,
        fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(EventStoreError) -> RepairReport {
        try onLog { () throws(LogError) in
            try LogRepair(
                directory, keeping: goal, fileSystem: fileSystem, judge: { $0.restorability }
            ).plan()
        }
    }

    /// Repairs a damaged log so that a server can start on it, losing as little as possible.
    package static func repair(
        _ directory: String, keeping goal: RepairGoal = .state,
        fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(EventStoreError) -> RepairReport {
        try onLog { () throws(LogError) in
            try LogRepair(
                directory, keeping: goal, fileSystem: fileSystem, judge: { $0.restorability }
            ).run()
        }
    }
}

extension EventStore {
    /// The newest checkpoint up to an event that a start can use; nil if there is none. A log may only be
    /// made to begin with such a checkpoint, because nothing else leads to its state then.
    package static func newestCheckpoint(
        of directory: String, through sequence: UInt64
    ) throws(EventStoreError) -> UInt64? {
        try onLog { () throws(LogError) in
            let files = try EventLogReader(directory).checkpoints
            for place in try files.sequences().reversed() where place <= sequence {
                do throws(LogError) {
                    let checkpoint = try files.checkpoint(at: place)
                    if checkpoint.restorability == .usable { return place }
                } catch  where error.code == .damaged || error.code == .outOfRange {
                    continue
                }
            }
            return nil
        }
    }
}

extension Checkpoint {
    /// Whether its bytes match its state hash.
    fileprivate var verdict: CheckpointFinding.Verdict {
        guard StateFormat.versions.contains(header.foldVersion) else {
            return .otherVersion(header.foldVersion)
        }
        let hasher = SHA256()
        hasher.update(payload)
        return hasher.finish() == header.stateHash
            ? .usable : .damaged("its state hash is not that of its bytes")
    }

    /// Also checks whether it can be decoded: a repair relies on nothing else.
    fileprivate var restorability: CheckpointFinding.Verdict {
        guard verdict == .usable else { return verdict }
        do throws(MalformedEvent) {
            // The repaired log may begin here, where nothing can be folded again.
            _ = try snapshot(indexes: [], takesOlderFold: true)
            return .usable
        } catch {
            return .damaged(error.message)
        }
    }
}
