package import Disk
package import EventLog

/// The result of `compact`.
package struct CompactionReport: Sendable, Equatable {
    /// The first event still kept.
    package let firstSequence: UInt64
    package let removedSegments: Int
    /// Size of the removed files.
    package let removedBytes: UInt64
}

/// Drops the beginning of a log that a checkpoint makes unnecessary for starting.
///
/// Whole segments are removed, oldest first, so that a crash leaves a log that merely begins later. Removed
/// events can no longer be replayed.
package struct LogCompaction: Sendable {
    private let path: String
    private let fileSystem: any FileSystem

    package init(_ directory: String, fileSystem: any FileSystem = POSIXFileSystem()) {
        path = directory
        self.fileSystem = fileSystem
    }

    /// Drops every segment that only contains events up to a checkpoint.
    ///
    /// If the checkpoint is at the last event, a new segment is started, so that all earlier ones can be
    /// removed.
    /// - Parameters:
    ///   - checkpoint: the sequence of a valid checkpoint.
    ///   - isChecked: ``check()`` was already called and found nothing.
    /// - Throws: `locked`, `notFound`, `conflict` if the checkpoint is missing or not valid, `damaged`,
    ///   `inputOutput`.
    package func run(
        checkpoint: UInt64, isChecked: Bool = false
    ) throws(LogError) -> CompactionReport {
        let reader = try EventLogReader(path, fileSystem: fileSystem)
        let directory = LogDirectory(path: path, fileSystem: fileSystem)
        let lock = try directory.takeLock()
        defer { lock.close() }
        if !isChecked { try check() }
        let dropped = try directory.dropSegments(before: try mark(of: checkpoint, reader))
        return CompactionReport(
            firstSequence: dropped.firstKept, removedSegments: dropped.count,
            removedBytes: dropped.bytes)
    }

    /// Checks whether a server is running on the log, before anything slow is read.
    /// - Throws: `locked`, `notFound`, `inputOutput`.
    package func checkLock() throws(LogError) {
        // Taking the lock would create a missing directory.
        _ = try EventLogReader(path, fileSystem: fileSystem)
        try LogDirectory(path: path, fileSystem: fileSystem).takeLock().close()
    }

    /// Reads all segments: damage must be kept aside by a repair, not dropped unseen.
    /// - Throws: `damaged`, `notFound`, `inputOutput`.
    package func check() throws(LogError) {
        let reader = try EventLogReader(path, fileSystem: fileSystem)
        let last = try reader.head().sequence
        try reader.checkSegments(reader.directory.firstSequences(), through: last)
    }

    /// What ``run(checkpoint:isChecked:)`` would do. Changes nothing and needs no lock.
    /// - Parameter isEnd: the checkpoint is yet to be written, after the last event.
    package func plan(checkpoint: UInt64, isEnd: Bool = false) throws(LogError) -> CompactionReport
    {
        let reader = try EventLogReader(path, fileSystem: fileSystem)
        try check()
        if !isEnd { _ = try mark(of: checkpoint, reader) }
        let segments = try reader.segmentFiles()
        let head = try reader.head()
        let first = segments.map(\.firstSequence)
        // A new segment is started if the checkpoint is at the last event.
        let hasEvents = (first.last ?? 1) <= head.sequence
        let later = checkpoint == head.sequence && hasEvents ? [checkpoint + 1] : []
        let kept = LogDirectory.kept(of: first + later, through: checkpoint)
        let removed = segments.prefix(first.count + later.count - kept.count)
        return CompactionReport(
            firstSequence: kept.first ?? checkpoint + 1, removedSegments: removed.count,
            removedBytes: removed.reduce(0) { $0 + $1.sizeBytes })
    }

    private func mark(
        of checkpoint: UInt64, _ reader: EventLogReader
    ) throws(LogError) -> CheckpointMark {
        do throws(LogError) {
            let header = try reader.checkpoints.checkpoint(at: checkpoint).header
            return CheckpointMark(sequence: header.sequence, stateHash: header.stateHash)
        } catch  where error.code == .damaged || error.code == .outOfRange {
            throw .compacting(path, reason: error.message)
        }
    }
}
