/// What `compact` did.
package struct CompactionReport: Sendable, Equatable {
    /// The first event that is kept now.
    package let firstSequence: UInt64
    package let removedSegments: Int
    /// Size of the removed files.
    package let removedBytes: UInt64
}

/// Drops the beginning of a log that a checkpoint makes unnecessary for starting.
///
/// Whole segments go, the oldest first, so that a crash leaves a log that begins later than before
/// and otherwise as it was. What is gone cannot be replayed any more.
package struct LogCompaction: Sendable {
    private let path: String
    private let fileSystem: any FileSystem

    package init(_ directory: String, fileSystem: any FileSystem = POSIXFileSystem()) {
        path = directory
        self.fileSystem = fileSystem
    }

    /// Drops every segment that only has events up to a checkpoint's.
    ///
    /// When the checkpoint is of the last event a new segment is begun, so that all earlier ones
    /// can go.
    /// - Parameter checkpoint: the sequence of a valid checkpoint.
    /// - Throws: `locked`, `notFound`, `conflict` when the checkpoint is missing or not valid,
    ///   `damaged`, `inputOutput`.
    package func run(checkpoint: UInt64) throws(LogError) -> CompactionReport {
        let reader = try EventLogReader(path, fileSystem: fileSystem)
        let directory = LogDirectory(path: path, fileSystem: fileSystem)
        let lock = try directory.takeLock()
        defer { lock.close() }
        do throws(LogError) {
            _ = try reader.checkpoints.checkpoint(at: checkpoint)
        } catch  where error.code == .damaged || error.code == .outOfRange {
            throw .compacting(path, reason: error.message)
        }
        var options = EventLogOptions()
        options.segmentsAhead = 0
        var log = try Recovery(directory: directory, options: options).run()
        do throws(FileSystemError) {
            let hasEvents = log.offset > UInt64(SegmentHeader.size)
            if checkpoint == log.head.sequence && hasEvents {
                try Recovery(directory: directory, options: options).beginSegment(of: &log)
            }
            log.segment.close()
            let removed = try directory.removeSegments(log.segments, through: checkpoint)
            return CompactionReport(
                firstSequence: removed.firstKept ?? checkpoint + 1,
                removedSegments: removed.segments.count, removedBytes: removed.bytes)
        } catch {
            throw .compacting(path, reason: "\(error).", cause: error)
        }
    }
}

extension LogDirectory {
    /// Removes the segments that have events up to a sequence only; never the last one.
    /// - Parameter segments: all of them, rising.
    func removeSegments(
        _ segments: [UInt64], through sequence: UInt64
    ) throws(FileSystemError) -> (segments: [UInt64], bytes: UInt64, firstKept: UInt64?) {
        var kept = segments[...]
        var bytes: UInt64 = 0
        while kept.count > 1, let successor = kept.dropFirst().first, successor <= sequence + 1,
            let first = kept.popFirst()
        {
            let segment = segmentPath(first)
            let file = try fileSystem.open(segment, .read)
            bytes += (try? file.size()) ?? 0
            file.close()
            try fileSystem.remove(segment)
            // One by one, or a crash could leave a hole.
            try fileSystem.synchronizeDirectory(segmentsPath)
        }
        return (Array(segments.dropLast(kept.count)), bytes, kept.first)
    }
}
