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
    private let segmentSize: UInt64
    private var file: any File
    private var offset: UInt64
    private var firstSequence: UInt64
    /// Written but not synced.
    private(set) var isDirty = false

    init(_ log: RecoveredLog, in directory: LogDirectory, segmentSize: UInt64) {
        self.directory = directory
        self.segmentSize = segmentSize
        storeID = log.metadata.storeID
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
        let isFull = offset + UInt64(frame.size) > segmentSize
        if isFull && offset > UInt64(SegmentHeader.size) { try beginSegment(after: head) }
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
    }

    /// Takes the part of a frame that did fit away again.
    private func makeRoom(_ cause: FileSystemError) throws(Failure) -> Failure {
        do throws(FileSystemError) {
            try file.truncate(to: offset)
            return .noRoom(cause)
        } catch {
            throw .broken(error)
        }
    }

    private func beginSegment(after head: LogHead) throws(Failure) {
        try synchronize()
        let header = SegmentHeader(
            storeID: storeID, epoch: head.epoch, firstSequence: head.sequence + 1,
            previousFirstSequence: firstSequence, previousChain: head.hash)
        let next: any File
        do throws(FileSystemError) {
            let spare = try directory.fileSystem.open(directory.sparePath + "/next.tmp", .replace)
            next = try directory.install(spare, as: header)
        } catch {
            // Nothing was acknowledged in it; only a segment that got its name is in doubt.
            throw error.isStorageFull && error.call != "fdatasync" ? .noRoom(error) : .broken(error)
        }
        file.close()
        file = next
        offset = UInt64(SegmentHeader.size)
        firstSequence = header.firstSequence
    }
}
