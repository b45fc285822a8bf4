import Disk
import Threads

/// Puts frames into segments, one after another. Used by the sync thread alone.
final class SegmentWriter {
    /// How a frame failed to get into the log.
    enum Failure: Error {
        /// No room. The frame's bytes are gone again; the next may succeed.
        case noRoom(FileSystemError)
        /// What is on the disk is unknown from here on.
        case broken(FileSystemError)
    }

    private let directory: LogDirectory
    private let storeID: StoreID
    private let largestSize: UInt64
    private let housekeeping: Housekeeping?
    private let metadata: MetadataFile
    /// `segments/`.
    private let names: any Directory
    private var file: any File
    /// Where the segment ends: a frame that reaches beyond goes into the next.
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

    /// Writes a frame behind the last one, in a new segment when this one is full.
    ///
    /// - Parameter head: what the frame follows.
    func append(_ frame: FrameBuilder, after head: LogHead) throws(Failure) {
        do throws(Failure) {
            try write(frame, after: head)
        } catch {
            // A file that is filled ahead may have taken the last room. Appends go first.
            guard case .noRoom = error, housekeeping?.makeRoom(directory.fileSystem) == true
            else { throw error }
            try write(frame, after: head)
        }
    }

    /// Appends a frame that the log can do without.
    func appendIfThereIsRoom(_ frame: FrameBuilder, after head: LogHead) throws(Failure) {
        do throws(Failure) {
            try append(frame, after: head)
        } catch {
            // What did fit is gone again: the log ends where it did.
            guard case .noRoom = error else { throw error }
        }
    }

    private func write(_ frame: FrameBuilder, after head: LogHead) throws(Failure) {
        // Without an event the next segment would have this one's name.
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
            // After a failed sync the system may have dropped the pages and forgotten the error;
            // a second sync would succeed and mean nothing.
            throw .broken(error)
        }
        isDirty = false
    }

    func close() {
        file.close()
        names.close()
    }

    /// Records that the log was closed in order. Everything is on the disk.
    func noteClosed(_ head: LogHead) {
        // Failing is no loss: the next start then takes this for a crash.
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

    /// Records how far the log has come. Without room, or a descriptor, it goes on with what was
    /// recorded before, which says less and is no less true.
    private func note(_ reached: LogReach) throws(Failure) {
        do throws(FileSystemError) {
            try metadata.update { $0.reached = reached }
        } catch {
            guard error.isStorageFull || error.isOutOfDescriptors else { throw .broken(error) }
        }
    }

    /// Takes the part of a frame that did fit away again, from the disk, too. The next frame is written in its place: were
    /// the power to go before that is synced, parts of both would be there, which is no torn write but damage.
    private func makeRoom(_ cause: FileSystemError) throws(Failure) -> Failure {
        do throws(FileSystemError) {
            try file.truncate(to: offset)
            try file.synchronizeData()
            return .noRoom(cause)
        } catch {
            throw .broken(error)
        }
    }

    /// The file of the next segment; nil when the process has no descriptor left for it. This one then grows
    /// until there is one.
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

    /// - Parameter sizeBytes: of a file that is filled with zeros.
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
            // Once a segment may have its name, going on with the old one would make two of them.
            let hasNoName = ["pwrite", "rename"].contains(error.call)
            guard error.isStorageFull && hasNoName else { throw .broken(error) }
            // Part of a header may be in it, so it is no spare any more.
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
