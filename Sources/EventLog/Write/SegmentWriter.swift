import Disk
import Threads

/// Writes frames to segments in sequence. Used only by the sync thread.
final class SegmentWriter {
    /// How appending a frame failed.
    enum Failure: Error {
        /// No room. The frame's bytes were removed again; the next append may succeed.
        case noRoom(FileSystemError)
        /// From here on, the contents of the disk are unknown.
        case broken(FileSystemError)

        var cause: FileSystemError {
            switch self {
            case .noRoom(let cause), .broken(let cause): cause
            }
        }
    }

    private let directory: LogDirectory
    private let storeID: StoreID
    private let largestSize: UInt64
    private let housekeeping: Housekeeping?
    private let metadata: MetadataFile
    /// `segments/`.
    private let names: any Directory
    private var file: any File
    /// The size limit of the segment: a frame that exceeds it goes into the next one.
    private var limit: UInt64
    private var offset: UInt64
    private var firstSequence: UInt64
    /// Written but not synced.
    private(set) var isDirty = false

    init(
        _ log: RecoveredLog, in directory: LogDirectory, metadata: MetadataFile,
        largestSize: UInt64, housekeeping: Housekeeping?
    ) {
        self.directory = directory
        self.metadata = metadata
        self.largestSize = largestSize
        self.housekeeping = housekeeping
        limit = log.limit
        storeID = log.metadata.storeID
        names = log.segmentNames
        file = log.segment
        offset = log.offset
        firstSequence = log.segments.last ?? 1
    }

    /// The path of the segment that takes the next frame.
    var path: String { file.path }

    /// Writes a frame after the last one, in a new segment if this one is full.
    ///
    /// - Parameter head: what the frame follows.
    func append(_ frame: FrameBuilder, after head: LogHead) throws(Failure) {
        do throws(Failure) {
            try write(frame, after: head)
        } catch {
            // A file being filled ahead may have taken the last room. Appends go first.
            guard case .noRoom = error, housekeeping?.makeRoom(directory.fileSystem) == true
            else { throw error }
            try write(frame, after: head)
        }
    }

    /// Appends a frame that is not essential to the log.
    func appendIfThereIsRoom(_ frame: FrameBuilder, after head: LogHead) throws(Failure) {
        do throws(Failure) {
            try append(frame, after: head)
        } catch {
            // What did fit was removed again: the log ends where it did before.
            guard case .noRoom = error else { throw error }
        }
    }

    private func write(_ frame: FrameBuilder, after head: LogHead) throws(Failure) {
        // Without an event, the next segment would have this one's name.
        let isFull = offset + UInt64(frame.size) > limit && head.sequence >= firstSequence
        // A closing frame is not worth a segment of its own.
        if isFull && !frame.isEmpty, let next = try openNext() {
            try beginSegment(next.file, sizeBytes: next.sizeBytes, after: head)
        }
        assert(head.sequence + 1 >= firstSequence, "a frame is behind its segment's beginning")
        assert(offset >= SegmentHeader.size, "a frame is behind its segment's header")
        isDirty = true
        do throws(FileSystemError) {
            try frame.withBytes { bytes throws(FileSystemError) in
                try file.writeAll(bytes, at: offset)
            }
        } catch {
            throw error.isStorageFull ? try makeRoom(error) : .broken(error)
        }
        offset += UInt64(frame.size)
    }

    func synchronize() throws(Failure) {
        guard isDirty else { return }
        do throws(FileSystemError) {
            try file.synchronizeData()
        } catch {
            // After a failed sync, the kernel may have dropped the pages and forgotten the error; a second
            // sync would succeed and prove nothing.
            throw .broken(error)
        }
        isDirty = false
    }

    func close() {
        file.close()
        names.close()
    }

    /// Records that the log was closed properly. Everything is on the disk.
    func noteClosed(_ head: LogHead) {
        // A failure is harmless: the next start then treats this as a crash.
        do throws(FileSystemError) {
            try recordClosed(head)
        } catch {
            guard error.isStorageFull, housekeeping?.makeRoom(directory.fileSystem) == true
            else { return }
            try? recordClosed(head)
        }
    }

    private func recordClosed(_ head: LogHead) throws(FileSystemError) {
        let reached = LogReach(head, segment: firstSequence, isClosed: true)
        try metadata.update {
            $0.acknowledgesEarly = false
            $0.reached = reached
        }
    }

    /// Records how far the log reaches. If there is no room or no file descriptor, the earlier record stays,
    /// which says less but is still true.
    private func note(_ reached: LogReach) throws(Failure) {
        do throws(FileSystemError) {
            try metadata.update { $0.reached = reached }
        } catch {
            guard error.isStorageFull || error.isOutOfDescriptors else { throw .broken(error) }
        }
    }

    /// Removes the part of a frame that did fit, on the disk as well. The next frame is written in its place:
    /// if power failed before that was synced, parts of both would be there, which counts as damage and not
    /// as a torn write.
    private func makeRoom(_ cause: FileSystemError) throws(Failure) -> Failure {
        do throws(FileSystemError) {
            try file.truncate(to: offset)
            try file.synchronizeData()
            return .noRoom(cause)
        } catch {
            throw .broken(error)
        }
    }

    /// The file for the next segment; nil if the process has no file descriptor left for it. The current
    /// segment then grows until there is one.
    private func openNext() throws(Failure) -> (file: any File, sizeBytes: UInt64?)? {
        let spare = housekeeping?.queue.update { $0.takeSpare() }
        do throws(FileSystemError) {
            guard let spare else {
                let aside = directory.sparePath + "/next"
                return (try directory.fileSystem.open(aside, .replace), nil)
            }
            return (try directory.fileSystem.open(spare.path, .readWrite), spare.sizeBytes)
        } catch  where error.isOutOfDescriptors {
            if let spare { housekeeping?.queue.update { $0.giveBack(spare) } }
            return nil
        } catch {
            throw error.isStorageFull ? .noRoom(error) : .broken(error)
        }
    }

    /// - Parameter sizeBytes: of a zero-filled file.
    private func beginSegment(
        _ aside: any File, sizeBytes: UInt64?, after head: LogHead
    ) throws(Failure) {
        try synchronize()
        let header = SegmentHeader(
            storeID: storeID, epoch: head.epoch, firstSequence: head.sequence + 1,
            previousFirstSequence: firstSequence, previousChain: head.hash)
        let size = min(limit * 2, largestSize)
        let next: any File
        do throws(FileSystemError) {
            next = try directory.install(aside, as: header, in: names)
        } catch {
            // Once a segment may have its name, continuing with the old one would make two of them.
            let hasNoName = ["pwrite", "rename"].contains(error.call)
            guard error.isStorageFull && hasNoName else { throw .broken(error) }
            // It may contain part of a header, so it is no longer a spare.
            aside.close()
            try? directory.fileSystem.remove(aside.path)
            throw .noRoom(error)
        }
        try note(LogReach(head, segment: header.firstSequence))
        assert(!isDirty, "everything before a new segment is on the disk")
        assert(header.firstSequence > firstSequence, "each segment has a name of its own")
        file.close()
        file = next
        offset = UInt64(SegmentHeader.size)
        limit = sizeBytes ?? size
        let sealed = firstSequence
        firstSequence = header.firstSequence
        housekeeping?.queue.update {
            $0.began(sealing: sealed, nextSpareSize: min(limit * 2, largestSize))
        }
    }
}
