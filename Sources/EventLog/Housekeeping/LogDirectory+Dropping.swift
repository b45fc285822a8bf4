import Disk

// Drops the segments that a checkpoint makes unnecessary, of a running log and of one that is not running.
//
// A crash in between leaves a log that begins later, because of the order: the checkpoint is durable before META says
// that the log begins later, META says so before the first segment is removed, and segments are removed oldest first.

extension LogDirectory {
    /// Removes the segments that a checkpoint makes unnecessary, and records that they are gone.
    /// - Throws: if there is no such checkpoint, or META cannot be written; nothing is then removed.
    func dropSegments(
        before checkpoint: UInt64, of storeID: StoreID, recordingIn metadata: MetadataFile
    ) throws -> (segments: [UInt64], bytes: UInt64) {
        let segments = try segments().first
        let kept = Self.kept(of: segments, through: checkpoint)
        guard let first = kept.first, kept.count < segments.count else { return ([], 0) }
        let header = try CheckpointFiles(self, storeID: storeID).checkpoint(at: checkpoint).header
        let mark = CheckpointMark(sequence: header.sequence, stateHash: header.stateHash)
        try synchronizeCheckpoint(checkpoint)
        try metadata.update { $0.beginning = LogBeginning(sequence: first, checkpoint: mark) }
        let unnecessary = segments.dropLast(kept.count)
        return (Array(unnecessary), try removeSegments(unnecessary))
    }

    /// Removes the segments of a log that is not running, and records that they are gone. The caller holds the
    /// lock.
    ///
    /// If the checkpoint is at the last event, a new segment is started, so that all earlier ones can be
    /// removed.
    /// - Parameter mark: a valid checkpoint.
    /// - Throws: what opening the log throws; `inputOutput` if a later step fails.
    package func dropSegments(
        before mark: CheckpointMark
    ) throws(LogError) -> (firstKept: UInt64, count: Int, bytes: UInt64) {
        var options = EventLogOptions()
        options.segmentsAhead = 0
        let recovery = Recovery(directory: self, options: options)
        var log = try recovery.run()
        do throws(FileSystemError) {
            // A closing frame is not an event: a new segment would have the same name and replace this one.
            let hasEvents = log.head.sequence >= log.segments.last ?? 1
            if mark.sequence == log.head.sequence && hasEvents {
                try recovery.beginSegment(of: &log)
            }
            log.segment.close()
            log.segmentNames.close()
            let kept = Self.kept(of: log.segments, through: mark.sequence)
            log.metadata.reached = LogReach(
                log.head, segment: log.segments.last ?? 1, isClosed: true)
            if kept.count < log.segments.count, let first = kept.first {
                try synchronizeCheckpoint(mark.sequence)
                // Done before the first segment is removed; otherwise it would be reported missing.
                log.metadata.beginning = LogBeginning(sequence: first, checkpoint: mark)
            }
            try write(log.metadata)
            let removed = try removeSegments(log.segments.dropLast(kept.count))
            if kept.count < log.segments.count, let first = kept.first {
                // The past begins with the state right before the first kept event.
                try CheckpointFiles(self, storeID: log.metadata.storeID)
                    .removeAll(before: first - 1)
            }
            return (
                firstKept: kept.first ?? mark.sequence + 1, count: log.segments.count - kept.count,
                bytes: removed
            )
        } catch {
            throw .compacting(path, reason: "\(error).", cause: error)
        }
    }

    /// The segments that stay: all except those that only contain events up to a sequence. The last one
    /// always stays.
    package static func kept(of segments: [UInt64], through sequence: UInt64) -> [UInt64] {
        var kept = segments[...]
        while let successor = kept.dropFirst().first, successor <= sequence + 1 {
            kept.removeFirst()
        }
        return Array(kept)
    }

    /// Makes a checkpoint durable before the log depends on it: its writer may have failed or been killed
    /// before the name was on the disk.
    private func synchronizeCheckpoint(_ sequence: UInt64) throws(FileSystemError) {
        let file = try fileSystem.open(checkpointPath(sequence), .readWrite)
        defer { file.close() }
        try file.synchronizeData()
        try fileSystem.synchronizeDirectory(checkpointsPath)
    }

    /// Removes segments, oldest first.
    /// - Returns: their total size in bytes.
    private func removeSegments(_ segments: some Sequence<UInt64>) throws(FileSystemError)
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
