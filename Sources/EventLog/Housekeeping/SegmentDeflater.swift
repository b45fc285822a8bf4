import Digests
import Disk
import Zlib

/// Replaces a sealed segment with its deflated form.
///
/// Every frame is checked along the way, including its chain hash, and so is whether the next segment
/// continues where the last frame ends. The deflated data is inflated and compared before it replaces the
/// plain segment. A crash at any point leaves one of the two under the segment's name.
struct SegmentDeflater {
    let directory: LogDirectory
    let storeID: StoreID
    /// Whether to keep the plain file under ``LogDirectory/usedPath(_:)`` after it is replaced.
    var keepsPlainFile = false
    /// Called between blocks; true stops the work, and the plain segment stays.
    var isCancelled: @Sendable () -> Bool = { false }

    /// At this level, text deflates to about a fifth, twice as fast as at zlib's default.
    private static let level: Int32 = 4

    /// - Returns: false if it was already deflated, no segment follows it yet, or the work was cancelled.
    /// - Throws: `damaged` if the segment is; `storageFull`, `inputOutput`.
    func deflate(_ firstSequence: UInt64) throws(LogError) -> Bool {
        let source = try directory.openSegment(firstSequence, of: storeID)
        guard source.header.encoding == .frames else { return false }
        let segments = try directory.firstSequences()
        guard let successor = segments.first(where: { $0 > firstSequence }) else { return false }
        let path = directory.segmentPath(firstSequence)
        let aside = "\(directory.sparePath)/\(firstSequence.twentyDigits).deflating"
        let used = directory.usedPath(firstSequence)
        let fileSystem = directory.fileSystem
        do throws(LogError) {
            let target = try writing(path) { () throws(FileSystemError) in
                try fileSystem.open(aside, .replace)
            }
            defer { target.close() }
            guard try write(source, before: successor, to: target) else {
                try? fileSystem.remove(aside)
                return false
            }
            try writing(path) { () throws(FileSystemError) in
                try target.synchronizeData()
                // A failure is harmless: the plain file is then freed when it loses its name.
                if keepsPlainFile { try? fileSystem.link(path, as: used) }
                try fileSystem.rename(aside, to: path)
                try fileSystem.synchronizeDirectory(directory.segmentsPath)
            }
            return true
        } catch {
            try? fileSystem.remove(aside)
            // It may still be the segment itself, which must not be reused.
            if keepsPlainFile { try? fileSystem.remove(used) }
            throw error
        }
    }

    private func write(
        _ source: any SegmentSource, before successor: UInt64, to target: any File
    ) throws(LogError) -> Bool {
        var header = source.header
        header.encoding = .deflatedBlocks
        var output = DeflatedOutput(file: target)
        try writing(target.path) { () throws(FileSystemError) in
            try output.append(header.encoded())
        }
        let scanner = FrameScanner(source)
        let hasher = SHA256()
        var chain = header.previousChain
        var knowsChain = header.knowsPreviousChain
        var plain: [UInt8] = []
        var blockSequence = header.firstSequence
        var blockOffset = scanner.offset
        while true {
            let step = try scanner.next()
            if case .frame(let frame) = step {
                guard !knowsChain || frame.follows(chain, hasher: hasher) else {
                    throw .damaged(source, at: frame.offset, .chain, sequence: nil)
                }
                (chain, knowsChain) = (frame.header.chain, true)
                plain.append(contentsOf: frame.whole)
                if plain.count < DeflatedLayout.usualBlockSize { continue }
            } else if case .fault(let fault) = step {
                throw .damaged(source, at: scanner.offset, fault, sequence: scanner.nextSequence)
            }
            if !plain.isEmpty {
                guard !isCancelled() else { return false }
                let block = try deflated(
                    plain, sequence: blockSequence, offset: blockOffset, in: source)
                try writing(target.path) { () throws(FileSystemError) in
                    try output.append(block.header, block.bytes)
                }
            }
            if case .end = step {
                try checkEnd(scanner, before: successor)
                break
            }
            plain.removeAll(keepingCapacity: true)
            blockSequence = scanner.nextSequence ?? blockSequence
            blockOffset = scanner.offset
        }
        try writing(target.path) { () throws(FileSystemError) in
            try output.finish(
                plainSize: scanner.offset,
                lastSequence: (scanner.nextSequence ?? header.firstSequence) - 1)
        }
        return true
    }

    /// A write lost by the disk also reads as zeros; anything after it would be lost with it.
    private func checkEnd(
        _ scanner: FrameScanner, before successor: UInt64
    ) throws(LogError) {
        let (source, next) = (scanner.source, scanner.nextSequence ?? successor)
        switch try SegmentTail.examine(
            source, at: scanner.offset, fault: nil, nextSequence: next)
        {
        case .clean: break
        case .torn: throw .damaged(source, at: scanner.offset, .magic, sequence: next)
        case .damaged(let damage): throw .damaged(damage)
        }
        guard next == successor else {
            throw .damaged(
                source, at: scanner.offset, .missing(min(next, successor)..<successor),
                sequence: next)
        }
    }

    private func deflated(
        _ plain: [UInt8], sequence: UInt64, offset: UInt64, in source: any SegmentSource
    ) throws(LogError) -> (header: DeflatedLayout.Block, bytes: [UInt8]) {
        guard let bytes = Zlib.compressed(plain, level: Self.level),
            Zlib.decompressed(bytes, length: plain.count) == plain
        else {
            throw LogError(
                .inputOutput,
                "Could not deflate \(source.path) at byte \(offset); it stays as it is.")
        }
        let header = DeflatedLayout.Block(
            sequence: sequence, plainOffset: offset, plainLength: plain.count,
            deflatedLength: bytes.count, checksum: Checksum.crc32(bytes))
        return (header, bytes)
    }

    private func writing<Result>(
        _ path: String, _ body: () throws(FileSystemError) -> Result
    ) throws(LogError) -> Result {
        do throws(FileSystemError) { return try body() } catch {
            throw .deflating(path, error)
        }
    }
}

/// The file being written, and the index of its blocks.
private struct DeflatedOutput {
    let file: any File
    private var offset: UInt64 = 0
    private var index: [DeflatedLayout.IndexEntry] = []

    init(file: any File) {
        self.file = file
    }

    mutating func append(_ bytes: [UInt8]) throws(FileSystemError) {
        try file.writeAll(bytes, at: offset)
        offset += UInt64(bytes.count)
    }

    mutating func append(
        _ block: DeflatedLayout.Block, _ bytes: [UInt8]
    ) throws(FileSystemError) {
        index.append(
            DeflatedLayout.IndexEntry(
                sequence: block.sequence, plainOffset: block.plainOffset, fileOffset: offset))
        try append(block.encoded() + bytes)
    }

    mutating func finish(plainSize: UInt64, lastSequence: UInt64) throws(FileSystemError) {
        let entries = DeflatedLayout.encode(index)
        let footer = DeflatedLayout.Footer(
            indexOffset: offset, blockCount: index.count, indexChecksum: Checksum.crc32(entries),
            plainSize: plainSize, lastSequence: lastSequence)
        try append(entries + footer.encoded())
    }
}
