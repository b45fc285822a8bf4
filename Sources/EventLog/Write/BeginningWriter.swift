import Disk

/// Makes a log that begins later than with event 1: its first frames, through the checkpoint that takes the place of
/// those before, and that checkpoint.
///
/// Until ``finish()`` returns, the directory holds no log. Not Sendable, because it is stateful.
package final class BeginningWriter {
    /// The head after the last frame written.
    package private(set) var head: LogHead
    private let directory: LogDirectory
    private let metadata: LogMetadata
    private let checkpoint: Checkpoint
    private let first: UInt64
    private let segment: any File
    private var offset = UInt64(SegmentHeader.size)

    /// - Parameters:
    ///   - directory: missing or empty.
    ///   - epoch: of frames made later.
    ///   - base: what the first frame follows.
    ///   - checkpoint: of the event before the first, or of a later one.
    /// - Throws: `conflict` if there is something, `storageFull`, `readOnly`, `inputOutput`.
    package init(
        _ directory: LogDirectory, storeID: StoreID, epoch: UInt32, after base: LogHead,
        checkpoint: Checkpoint
    ) throws(LogError) {
        self.directory = directory
        self.checkpoint = checkpoint
        head = base
        first = base.sequence + 1
        metadata = LogMetadata(
            version: .current, storeID: storeID, epoch: epoch,
            beginning: LogBeginning(
                sequence: first,
                checkpoint: CheckpointMark(
                    sequence: checkpoint.header.sequence, stateHash: checkpoint.header.stateHash)))
        guard try !directory.hasMetadata(), try directory.firstSequences().isEmpty else {
            throw .notEmpty(directory.path)
        }
        let header = SegmentHeader(
            storeID: storeID, epoch: base.epoch, firstSequence: first, previousFirstSequence: 0,
            previousChain: base.hash)
        do throws(FileSystemError) {
            try directory.create()
            let file = try directory.fileSystem.open(directory.sparePath + "/next", .replace)
            let names = try directory.fileSystem.openDirectory(directory.segmentsPath)
            defer { names.close() }
            segment = try directory.install(file, as: header, in: names)
        } catch {
            throw .opening(directory.path, error)
        }
    }

    /// Whether the checkpoint's event is there, so that the log may be finished.
    package var isComplete: Bool { head.sequence >= checkpoint.header.sequence }

    /// - Parameter frame: continues the frames before it, as whoever gives it has checked.
    package func append(_ frame: WholeFrame) throws(LogError) {
        assert(frame.sequences.lowerBound == head.sequence + 1, "frames are given in order")
        do throws(FileSystemError) {
            try segment.writeAll(frame.bytes, at: offset)
        } catch {
            throw .opening(directory.path, error)
        }
        offset += UInt64(frame.bytes.count)
        head = frame.head
    }

    /// Makes a log of what was written. Durable when this returns.
    package func finish() throws(LogError) {
        assert(isComplete, "a checkpoint is of an event that is there")
        try CheckpointFiles(directory, storeID: metadata.storeID).write(checkpoint, keeping: 1)
        var metadata = metadata
        metadata.reached = LogReach(head, segment: first)
        do throws(FileSystemError) {
            try segment.synchronizeData()
            try directory.write(metadata)
            try directory.fileSystem.synchronizeDirectory(directory.parentPath)
        } catch {
            throw .opening(directory.path, error)
        }
        segment.close()
    }
}
