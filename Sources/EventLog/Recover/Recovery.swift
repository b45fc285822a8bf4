package import Disk

/// What opening a log for writing found and did. A server logs `sentences`.
package struct RecoveryReport: Sendable, Equatable {
    package struct TornTail: Sendable, Equatable {
        package let segment: String
        /// The offset at which the segment was cut.
        package let offset: UInt64
        package let byteCount: UInt64
        package let copy: String
    }

    /// The log did not exist before.
    package var isNew = false
    package var tornTail: TornTail?
    /// Segments whose creation was interrupted by a crash, set aside; they contained no event.
    package var unfinishedSegments: [String] = []
    /// Names in `segments/` that do not belong to the log; left alone.
    package var strayFiles: [String] = []
    /// The new epoch, if acknowledged events may have been lost under a weaker durability.
    package var raisedEpoch: UInt32?

    /// One sentence for each thing worth reporting; empty after a proper close.
    package var sentences: [String] {
        var sentences: [String] = []
        if let tornTail {
            sentences.append(
                "Cut \(tornTail.byteCount) bytes of an unfinished write off \(tornTail.segment) at "
                    + "byte \(tornTail.offset); they are kept in \(tornTail.copy). "
                    + "No acknowledged event was in them.")
        }
        for segment in unfinishedSegments {
            sentences.append(
                "Set aside a segment whose creation had not finished: \(segment).")
        }
        if let raisedEpoch {
            sentences.append(
                "The log was not closed and ran without durability \"always\", so acknowledged "
                    + "events may be missing; its epoch is now \(raisedEpoch).")
        }
        return sentences
    }
}

/// A log ready to be appended to.
struct RecoveredLog {
    var metadata: LogMetadata
    var head: LogHead
    /// The first sequence of every segment, in ascending order.
    var segments: [UInt64]
    /// `segments/`, kept open as long as the log is: once a new segment has its name, the descriptor needed
    /// to make the name durable must not be lacking.
    let segmentNames: any Directory
    /// The last segment, and the offset of its next frame.
    var segment: any File
    var offset: UInt64
    /// Where that segment ends.
    var limit: UInt64
    /// Files of zeros left by an earlier process.
    var spares: [SegmentSupply.Spare]
    var report: RecoveryReport
}

/// Prepares a log's directory for appending, under the lock.
///
/// Changes only what contains no acknowledged event: a write or a creation interrupted by a crash. Anything
/// else that is wrong is an error with file and byte.
struct Recovery {
    let directory: LogDirectory
    let options: EventLogOptions

    private var fileSystem: any FileSystem { directory.fileSystem }

    func run() throws(LogError) -> RecoveredLog {
        var report = RecoveryReport()
        let (segments, strays) = try reading { () throws(FileSystemError) in
            try directory.segments()
        }
        report.strayFiles = strays.filter { !$0.hasSuffix(".torn") }
        guard let metadata = try directory.metadata() else {
            guard try !directory.hasEvents() else { throw .damaged(.metadataMissing(directory)) }
            report.isNew = true
            let storeID = options.shared?.storeID ?? options.storeID ?? .random()
            return try create(storeID: storeID, over: segments, report: report)
        }
        if let shared = options.shared, shared.storeID != metadata.storeID {
            throw .otherHistory(directory.path, metadata.storeID, shared.storeID)
        }
        return try open(metadata, segments: segments, report: report)
    }

    // MARK: An existing log

    private func open(
        _ metadata: LogMetadata, segments: [UInt64], report: RecoveryReport
    ) throws(LogError) -> RecoveredLog {
        var report = report
        var segments = segments
        let ends = LogEnds(directory: directory, metadata: metadata, segments: segments)
        if let damage = ends.missingBeginning { throw .damaged(damage) }
        let known = metadata.reached?.segment ?? 0
        while let last = segments.last, last > known, try isUnfinished(last) {
            report.unfinishedSegments.append(try setAside(last))
            segments.removeLast()
        }
        guard let last = segments.last else {
            throw .missingSegments(directory)
        }
        try checkSuccession(segments, metadata)

        let source = try directory.openSegment(last, of: metadata.storeID)
        let (found, scanner) = try scan(source)
        let checkpoints = CheckpointFiles(directory, storeID: metadata.storeID)
        let sequence = found.head.sequence
        if let damage = ends.missingEnd(
            behind: found.head, at: (source.path, scanner.offset),
            checkpoints: try checkpoints.valid(after: sequence))
        {
            throw .damaged(damage)
        }
        if let torn = found.torn { report.tornTail = try cut(torn, of: source) }
        try synchronize(source)
        let before = metadata
        var metadata = metadata
        metadata.version = metadata.version.raised
        metadata.epoch = max(metadata.epoch, scanner.epoch)
        if let shared = options.shared {
            // What is missing here is fetched again, so the history is the same.
            metadata.epoch = max(metadata.epoch, shared.epoch)
        } else if metadata.acknowledgesEarly {
            metadata.epoch = try LogMetadata.epoch(after: metadata.epoch, in: directory)
            report.raisedEpoch = metadata.epoch
        }
        metadata.acknowledgesEarly = options.durability != .always
        let head = LogHead(
            sequence: sequence, epoch: options.shared == nil ? metadata.epoch : scanner.epoch,
            hash: found.head.hash)
        metadata.beginning = metadata.beginning ?? beginning(of: segments, checkpoints)
        metadata.reached = LogReach(head, segment: last)
        return try writing { () throws(FileSystemError) in
            // A checkpoint of events that did not survive must not be combined with their successors. It is
            // removed before META says that nothing is acknowledged early any more: after that it would count
            // as damage.
            try checkpoints.removeAll(after: sequence)
            if metadata != before { try write(metadata, changing: before) }
            var log = RecoveredLog(
                metadata: metadata, head: head, segments: segments,
                segmentNames: try fileSystem.openDirectory(directory.segmentsPath),
                segment: try fileSystem.open(source.path, .readWrite), offset: scanner.offset,
                limit: options.firstSegmentSizeBytes,
                spares: try SegmentSupply(directory: directory).leftOver(), report: report)
            log.limit = max(log.limit, try log.segment.size())
            // As after a repair: a deflated segment accepts no more frames.
            if source.header.encoding != .frames { try beginSegment(of: &log) }
            return log
        }
    }

    /// A process that was killed may have left frames, and the segment's name, that are not on the disk yet.
    /// Whatever is folded and recorded from here on must survive a power failure.
    private func synchronize(_ segment: any SegmentSource) throws(LogError) {
        try writing { () throws(FileSystemError) in
            let file = try fileSystem.open(segment.path, .readWrite)
            defer { file.close() }
            try file.synchronizeData()
            try fileSystem.synchronizeDirectory(directory.segmentsPath)
        }
    }

    /// The end found in the log, and the unfinished write after it.
    private struct FoundEnd {
        let head: LogHead
        let torn: Range<UInt64>?
    }

    /// Checks the last segment.
    ///
    /// - Returns: its end, and the scanner, positioned where the next frame belongs.
    private func scan(
        _ source: any SegmentSource
    ) throws(LogError) -> (found: FoundEnd, scanner: FrameScanner) {
        let scanner = FrameScanner(source)
        var head = LogHead(
            sequence: source.header.firstSequence - 1, epoch: source.header.epoch,
            hash: source.header.previousChain)
        var fault: FrameFault?
        scan: while true {
            switch try scanner.next() {
            case .frame(let frame):
                head = LogHead(
                    sequence: frame.header.lastSequence, epoch: frame.header.epoch,
                    hash: frame.header.chain)
            case .end: break scan
            case .fault(let found):
                fault = found
                break scan
            }
        }
        switch try SegmentTail.examine(
            source, at: scanner.offset, fault: fault, nextSequence: head.sequence + 1)
        {
        case .clean: return (FoundEnd(head: head, torn: nil), scanner)
        case .damaged(let damage): throw .damaged(damage)
        case .torn(let extent): return (FoundEnd(head: head, torn: extent), scanner)
        }
    }

    /// Reconstructs what a log of version 1.0 did not record.
    private func beginning(of segments: [UInt64], _ checkpoints: CheckpointFiles) -> LogBeginning? {
        guard let first = segments.first, first > 1 else { return .genesis }
        let header = try? checkpoints.headers().first { $0.sequence + 1 >= first }
        return header.map {
            LogBeginning(
                sequence: first,
                checkpoint: CheckpointMark(sequence: $0.sequence, stateHash: $0.stateHash))
        }
    }

    /// If there is no room, META may stay as it is, provided that only the log's reach is new.
    private func write(
        _ metadata: LogMetadata, changing before: LogMetadata
    ) throws(FileSystemError) {
        do throws(FileSystemError) {
            try directory.write(metadata)
        } catch {
            guard error.isStorageFull, metadata.epoch == before.epoch,
                metadata.acknowledgesEarly == before.acknowledgesEarly
            else { throw error }
        }
    }

    /// Ends the last segment and starts another for the next event.
    func beginSegment(of log: inout RecoveredLog) throws(FileSystemError) {
        let header = SegmentHeader(
            storeID: log.metadata.storeID, epoch: log.head.epoch,
            firstSequence: log.head.sequence + 1,
            previousFirstSequence: log.segments.last ?? 0, previousChain: log.head.hash)
        let file = try fileSystem.open(directory.sparePath + "/next", .replace)
        log.segment = try directory.install(file, as: header, in: log.segmentNames)
        log.segments.append(header.firstSequence)
        log.offset = UInt64(SegmentHeader.size)
        log.limit = options.firstSegmentSizeBytes
    }

    /// Each segment names the one before it, so that a missing file is detected without reading events.
    private func checkSuccession(
        _ segments: [UInt64], _ metadata: LogMetadata
    ) throws(LogError) {
        for (previous, first) in zip(segments, segments.dropFirst()) {
            let header = try directory.openSegment(first, of: metadata.storeID).header
            guard header.previousFirstSequence == previous else {
                throw .damaged(
                    directory.segmentPath(first), at: 48,
                    .predecessor(expected: header.previousFirstSequence, found: previous))
            }
        }
    }

    /// Copies the bytes aside, makes the copy durable, and only then overwrites them with zeros.
    private func cut(
        _ extent: Range<UInt64>, of source: any SegmentSource
    ) throws(LogError) -> RecoveryReport.TornTail {
        let copy = try copyAside(extent, of: source.path)
        try writing { () throws(FileSystemError) in
            let file = try fileSystem.open(source.path, .readWrite)
            defer { file.close() }
            try file.writeZeros(extent)
            try file.synchronizeData()
        }
        return RecoveryReport.TornTail(
            segment: source.path, offset: extent.lowerBound,
            byteCount: extent.upperBound - extent.lowerBound, copy: copy)
    }

    private func copyAside(_ extent: Range<UInt64>, of path: String) throws(LogError) -> String {
        try writing { () throws(FileSystemError) in
            let file = try fileSystem.open(path, .read)
            defer { file.close() }
            return try directory.copyAside(extent, of: file)
        }
    }

    // MARK: A new log

    /// True for a last segment whose header never reached the disk, because its creation was interrupted.
    private func isUnfinished(_ firstSequence: UInt64) throws(LogError) -> Bool {
        try reading { () throws(FileSystemError) in
            let file = try fileSystem.open(directory.segmentPath(firstSequence), .read)
            defer { file.close() }
            let head = try file.bytes(at: 0, count: SegmentHeader.size)
            let rest = try file.bytes(at: UInt64(SegmentHeader.size), count: FrameLayout.headerSize)
            let isWhole = (try? SegmentHeader.read(head)) != nil
            return !isWhole && (head.count < SegmentHeader.size || head.allSatisfy { $0 == 0 })
                && rest.allSatisfy { $0 == 0 }
        }
    }

    private func setAside(_ firstSequence: UInt64) throws(LogError) -> String {
        let path = directory.segmentPath(firstSequence)
        let size = try reading { () throws(FileSystemError) in
            try fileSystem.open(path, .read).size()
        }
        let copy = try copyAside(0..<min(size, UInt64(SegmentHeader.size)), of: path)
        try writing { () throws(FileSystemError) in
            try fileSystem.remove(path)
            try fileSystem.synchronizeDirectory(directory.segmentsPath)
        }
        return copy
    }

    private func create(
        storeID: StoreID, over segments: [UInt64], report: RecoveryReport
    ) throws(LogError) -> RecoveredLog {
        let metadata = LogMetadata(
            version: .current, storeID: storeID, epoch: max(1, options.shared?.epoch ?? 1),
            acknowledgesEarly: options.durability != .always, beginning: .genesis,
            reached: LogReach(sequence: 0, chain: .zero, segment: 1))
        // A shared history may have begun in an earlier epoch.
        let head = LogHead(sequence: 0, epoch: 1, hash: .zero)
        let header = SegmentHeader(
            storeID: storeID, epoch: head.epoch, firstSequence: 1, previousFirstSequence: 0,
            previousChain: .zero)
        let size = min(options.firstSegmentSizeBytes, options.segmentSizeBytes)
        let (file, names) = try writing { () throws(FileSystemError) in
            if segments == [1] { try fileSystem.remove(directory.segmentPath(1)) }
            let file = try fileSystem.open(directory.sparePath + "/next", .replace)
            if options.segmentsAhead > 0 { try file.writeZeros(0..<size) }
            let names = try fileSystem.openDirectory(directory.segmentsPath)
            let named = try directory.install(file, as: header, in: names)
            try directory.write(metadata)
            // The directory itself may be new.
            try fileSystem.synchronizeDirectory(directory.parentPath)
            return (named, names)
        }
        return RecoveredLog(
            metadata: metadata, head: head, segments: [1], segmentNames: names, segment: file,
            offset: UInt64(SegmentHeader.size), limit: size, spares: [], report: report)
    }

    private func writing<Result>(
        _ body: () throws(FileSystemError) -> Result
    ) throws(LogError) -> Result {
        do throws(FileSystemError) { return try body() } catch {
            throw .opening(directory.path, error)
        }
    }
}

extension LogDirectory {
    /// Turns a prepared file into the segment that `header` describes. Durable when this returns.
    ///
    /// The header is synced before the file gets its name, so a named segment has a header. After that there
    /// is no way back, so nothing more is opened: the file is used through its open handle.
    /// - Parameter names: `segments/`.
    package func install(
        _ file: any File, as header: SegmentHeader, in names: any Directory
    ) throws(FileSystemError) -> any File {
        try file.writeAll(header.encoded(), at: 0)
        try file.synchronizeData()
        let path = segmentPath(header.firstSequence)
        try fileSystem.rename(file.path, to: path)
        try names.synchronize()
        return file.renamed(to: path)
    }
}

extension File {
    static var copySize: Int { 1 << 18 }

    func writeZeros(_ range: Range<UInt64>) throws(FileSystemError) {
        let zeros = [UInt8](repeating: 0, count: Self.copySize)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = min(range.upperBound - offset, UInt64(zeros.count))
            try writeAll(count == zeros.count ? zeros : Array(zeros[..<Int(count)]), at: offset)
            offset += count
        }
    }

    /// Copies a range of a source to an offset of this file, until `read` returns nothing.
    package func copy(
        _ range: Range<UInt64>, to target: UInt64,
        from read: (UnsafeMutableRawBufferPointer, UInt64) throws(FileSystemError) -> Int
    ) throws(FileSystemError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.copySize, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = min(range.upperBound - offset, UInt64(Self.copySize))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)])
            let count = try read(part, offset)
            if count == 0 { break }
            try writeAll(
                UnsafeRawBufferPointer(part).part(0..<count),
                at: offset - range.lowerBound + target)
            offset += UInt64(count)
        }
    }
}

extension LogDirectory {
    /// Copies a range of a file to a new file next to it. Durable when this returns.
    ///
    /// - Returns: the path of the copy.
    package func copyAside(
        _ extent: Range<UInt64>, of file: any File
    ) throws(FileSystemError) -> String {
        let path = try freePath(nextTo: file.path)
        let target = try fileSystem.open(path, .replace)
        defer { target.close() }
        try target.copy(extent, to: 0) { (buffer, offset) throws(FileSystemError) in
            try file.read(into: buffer, at: offset)
        }
        try target.synchronizeData()
        try fileSystem.synchronizeDirectory(Self.parent(of: path))
        return path
    }

    /// A path for what is taken out of a file, next to it: `….torn`, or `….2.torn` and so on.
    package func freePath(nextTo path: String) throws(FileSystemError) -> String {
        let parent = Self.parent(of: path)
        let names = Set(try fileSystem.list(parent))
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var candidate = name + ".torn"
        var number = 1
        while names.contains(candidate) {
            number += 1
            candidate = "\(name).\(number).torn"
        }
        return parent + "/" + candidate
    }
}
