import Disk
package import EventLog

extension EventLogReader {
    /// Copies the beginning of the log, through one event, into a new directory with a higher epoch.
    ///
    /// The copy has the same store id; its epoch says that it may diverge from here. Valid checkpoints up to
    /// the event are copied too. Works while a server writes to the original.
    ///
    /// Everything is read and checked first: if there is damage up to the event, no copy is made.
    ///
    /// - Parameters:
    ///   - destination: missing or empty.
    /// - Throws: `outOfRange`, `conflict` if the destination is not empty or the log has the last epoch,
    ///   `damaged`, `storageFull`, `readOnly`, `inputOutput`. Until META is written, the destination is not a
    ///   log.
    package func fork(through sequence: UInt64, into destination: String) throws(LogError) {
        let first = try firstSequence()
        let head = try head()
        guard sequence <= head.sequence, sequence + 1 >= first else {
            throw .outOfRange(sequence, kept: first <= head.sequence ? first...head.sequence : nil)
        }
        let copy = LogDirectory(path: destination, fileSystem: directory.fileSystem)
        guard try copy.isUnused() else { throw .notEmpty(destination) }
        let beginning = try beginning(first, through: sequence)
        let epoch = try LogMetadata.epoch(
            after: max(metadata.epoch, head.epoch), in: directory)
        let kept = try directory.firstSequences().filter { $0 <= max(sequence, first) }
        try checkSegments(kept, through: sequence)
        do throws(FileSystemError) {
            try copy.create()
        } catch {
            throw .forking(destination, error)
        }
        for segment in kept.dropLast() { try copySegment(segment, to: copy) }
        let last = kept.last ?? first
        let end = try copyBeginning(of: last, through: sequence, epoch: epoch, to: copy)
        try copyCheckpoints(through: sequence, to: copy)
        do throws(FileSystemError) {
            try copy.write(
                LogMetadata(
                    version: .current, storeID: metadata.storeID, epoch: epoch,
                    beginning: beginning, reached: LogReach(end, segment: last, isClosed: true)))
            try copy.fileSystem.synchronizeDirectory(copy.parentPath)
        } catch {
            throw .forking(destination, error)
        }
    }

    /// What the copy begins with.
    /// - Throws: `outOfRange` if the log begins later than event 1, and no checkpoint leads to the state
    ///   after `sequence`.
    private func beginning(
        _ first: UInt64, through sequence: UInt64
    ) throws(LogError) -> LogBeginning {
        if first == 1 { return .genesis }
        let base = try checkpoints.headers()
            .first { $0.sequence + 1 >= first && $0.sequence <= sequence }
        guard let base else { throw .noState(sequence, first: first) }
        return LogBeginning(
            sequence: first,
            checkpoint: CheckpointMark(sequence: base.sequence, stateHash: base.stateHash))
    }

    private func copySegment(_ first: UInt64, to copy: LogDirectory) throws(LogError) {
        let source = try directory.openSegmentFile(first, of: metadata.storeID).file
        do throws(FileSystemError) {
            let target = try copy.fileSystem.open(copy.segmentPath(first), .replace)
            defer {
                source.close()
                target.close()
            }
            try target.copy(0..<UInt64.max, to: 0) { (buffer, offset) throws(FileSystemError) in
                try source.read(into: buffer, at: offset)
            }
            try target.synchronizeData()
            try copy.fileSystem.synchronizeDirectory(copy.segmentsPath)
        } catch {
            throw .forking(copy.path, error)
        }
    }

    /// Copies whole frames; a frame that extends beyond the event is rebuilt from its first events.
    private func copyBeginning(
        of first: UInt64, through sequence: UInt64, epoch: UInt32, to copy: LogDirectory
    ) throws(LogError) -> LogHead {
        let source = try directory.openSegment(first, of: metadata.storeID)
        var header = source.header
        header.encoding = .frames
        let target = try forking(copy) { () throws(FileSystemError) in
            let file = try copy.fileSystem.open(copy.sparePath + "/forked", .replace)
            let names = try copy.fileSystem.openDirectory(copy.segmentsPath)
            defer { names.close() }
            return try copy.install(file, as: header, in: names)
        }
        defer { target.close() }
        let scanner = FrameScanner(source)
        var head = LogHead(sequence: first - 1, epoch: epoch, hash: header.previousChain)
        var offset = UInt64(SegmentHeader.size)
        while head.sequence < sequence, case .frame(let frame) = try scanner.next() {
            guard frame.header.count > 0 else { continue }
            let isWhole = frame.header.lastSequence <= sequence
            let count = isWhole ? frame.header.count : Int(sequence - head.sequence)
            let part = isWhole ? nil : FrameBuilder(beginning: count, of: frame.payload)
            let hash = part?.close(after: head, durableThrough: head.sequence) ?? frame.header.chain
            offset += try forking(copy) { () throws(FileSystemError) in
                guard let part else {
                    try target.writeAll(frame.whole, at: offset)
                    return UInt64(frame.whole.count)
                }
                try part.withBytes { bytes throws(FileSystemError) in
                    try target.writeAll(bytes, at: offset)
                }
                return UInt64(part.size)
            }
            head = LogHead(sequence: head.sequence + UInt64(count), epoch: epoch, hash: hash)
        }
        guard head.sequence == sequence else {
            let fault = FrameFault.missing(head.sequence + 1..<sequence + 1)
            throw .damaged(source, at: scanner.offset, fault, sequence: head.sequence + 1)
        }
        try forking(copy) { () throws(FileSystemError) in try target.synchronizeData() }
        return head
    }

    private func copyCheckpoints(
        through sequence: UInt64, to copy: LogDirectory
    ) throws(LogError) {
        let target = CheckpointFiles(copy, storeID: metadata.storeID)
        for number in try checkpoints.sequences() where number <= sequence {
            // A damaged one is of no use to the copy either.
            guard let checkpoint = try? checkpoints.checkpoint(at: number) else { continue }
            try target.write(checkpoint, keeping: .max)
        }
    }

    private func forking<Result>(
        _ copy: LogDirectory, _ body: () throws(FileSystemError) -> Result
    ) throws(LogError) -> Result {
        do throws(FileSystemError) { return try body() } catch {
            throw .forking(copy.path, error)
        }
    }
}

extension LogDirectory {
    /// True if the directory is missing or empty.
    func isUnused() throws(LogError) -> Bool {
        try reading { () throws(FileSystemError) in
            do throws(FileSystemError) {
                return try fileSystem.list(path).isEmpty
            } catch  where error.isMissingFile {
                return true
            }
        }
    }
}
