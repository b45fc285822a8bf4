package import Disk

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
        let mark = try mark(of: checkpoint, reader)
        var options = EventLogOptions()
        options.segmentsAhead = 0
        let recovery = Recovery(directory: directory, options: options)
        var log = try recovery.run()
        do throws(FileSystemError) {
            // A closing frame is not an event: a new segment would have the same name and replace this one.
            let hasEvents = log.head.sequence >= log.segments.last ?? 1
            if checkpoint == log.head.sequence && hasEvents {
                try recovery.beginSegment(of: &log)
            }
            log.segment.close()
            log.segmentNames.close()
            let kept = Self.kept(of: log.segments, through: checkpoint)
            log.metadata.reached = LogReach(
                log.head, segment: log.segments.last ?? 1, isClosed: true)
            if kept.count < log.segments.count, let first = kept.first {
                try directory.synchronizeCheckpoint(checkpoint)
                // Done before the first segment is removed; otherwise it would be reported missing.
                log.metadata.beginning = LogBeginning(sequence: first, checkpoint: mark)
            }
            try directory.write(log.metadata)
            let removed = try directory.removeSegments(log.segments.dropLast(kept.count))
            if kept.count < log.segments.count, let first = kept.first {
                // The past begins with the state right before the first kept event.
                try reader.checkpoints.removeAll(before: first - 1)
            }
            return CompactionReport(
                firstSequence: kept.first ?? checkpoint + 1,
                removedSegments: log.segments.count - kept.count, removedBytes: removed)
        } catch {
            throw .compacting(path, reason: "\(error).", cause: error)
        }
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
        try reader.checkSegments(reader.segments(), through: last)
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
        let kept = Self.kept(of: first + later, through: checkpoint)
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

    /// The segments that stay: all except those that only contain events up to a sequence. The last one
    /// always stays.
    fileprivate static func kept(of segments: [UInt64], through sequence: UInt64) -> [UInt64] {
        var kept = segments[...]
        while let successor = kept.dropFirst().first, successor <= sequence + 1 {
            kept.removeFirst()
        }
        return Array(kept)
    }
}

extension LogDirectory {
    /// Removes the segments that a checkpoint makes unnecessary, and records that they are gone.
    /// - Throws: if there is no such checkpoint, or META cannot be written; nothing is then removed.
    func dropSegments(
        before checkpoint: UInt64, of storeID: StoreID, recordingIn metadata: MetadataFile
    ) throws -> (segments: [UInt64], bytes: UInt64) {
        let segments = try segments().first
        let kept = LogCompaction.kept(of: segments, through: checkpoint)
        guard let first = kept.first, kept.count < segments.count else { return ([], 0) }
        let header = try CheckpointFiles(self, storeID: storeID).checkpoint(at: checkpoint).header
        let mark = CheckpointMark(sequence: header.sequence, stateHash: header.stateHash)
        try synchronizeCheckpoint(checkpoint)
        try metadata.update { $0.beginning = LogBeginning(sequence: first, checkpoint: mark) }
        let unnecessary = segments.dropLast(kept.count)
        return (Array(unnecessary), try removeSegments(unnecessary))
    }

    /// Makes a checkpoint durable before the log depends on it: its writer may have failed or been killed
    /// before the name was on the disk.
    fileprivate func synchronizeCheckpoint(_ sequence: UInt64) throws(FileSystemError) {
        let file = try fileSystem.open(checkpointPath(sequence), .readWrite)
        defer { file.close() }
        try file.synchronizeData()
        try fileSystem.synchronizeDirectory(checkpointsPath)
    }

    /// Removes segments, oldest first.
    /// - Returns: their total size in bytes.
    fileprivate func removeSegments(_ segments: some Sequence<UInt64>) throws(FileSystemError)
        -> UInt64
    {
        var bytes: UInt64 = 0
        for first in segments {
            let segment = segmentPath(first)
            let file = try fileSystem.open(segment, .read)
            bytes += (try? file.size()) ?? 0
            file.close()
            try fileSystem.remove(segment)
            // One by one; otherwise a crash could leave a gap.
            try fileSystem.synchronizeDirectory(segmentsPath)
        }
        return bytes
    }
}
