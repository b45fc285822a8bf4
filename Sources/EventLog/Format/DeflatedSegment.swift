import Disk
import Zlib

/// A sealed segment in its compressed form: the same bytes, readable from any block.
///
///     offset  size
///          0    96  segment header with encoding 1
///         96     …  blocks, one after another
///          …  24·b  index: an entry for each block
///          …    40  footer, at the file's end
///
/// A block holds whole frames:
///
///     offset  size
///          0     8  the next event's sequence where the block begins
///          8     8  offset of the block's first byte in the plain segment
///         16     4  plain length
///         20     4  deflated length n
///         24     4  crc32 of the deflated bytes
///         28     4  crc32 of bytes 0 to 27
///         32     n  zlib stream
///
/// An index entry is the first two fields of a block's header and its offset in the file (8 bytes
/// each). The footer:
///
///     offset  size
///          0     8  offset of the index in the file
///          8     4  number of blocks
///         12     4  crc32 of the index
///         16     8  length of the plain segment
///         24     8  sequence of the last event
///         32     4  crc32 of bytes 0 to 31
///         36     4  magic "ZEND"
///
/// Reading a block needs nothing outside it: without an index or footer, the block headers are
/// walked from the front.
enum DeflatedLayout {
    static let blockHeaderSize = 32
    static let indexEntrySize = 24
    static let footerSize = 40
    static let footerMagic = Array("ZEND".utf8)
    /// A block ends with the first frame that brings it to this many plain bytes: small enough that inflating
    /// one event costs little, and large enough to deflate well.
    static let usualBlockSize = 1 << 17
    /// No zlib stream expands to more than this many times its length.
    static let largestRatio = 1032

    struct Block: Equatable {
        let sequence: UInt64
        let plainOffset: UInt64
        let plainLength: Int
        let deflatedLength: Int
        let checksum: UInt32

        /// Whether this many deflated bytes can expand to the plain length.
        var isPossible: Bool {
            plainLength <= deflatedLength * largestRatio
                && plainLength <= FrameLayout.maximumPayload * 2
        }

        func encoded() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: blockHeaderSize)
            bytes.withUnsafeMutableBytes { buffer in
                buffer.storeLittleEndian(sequence, at: 0)
                buffer.storeLittleEndian(plainOffset, at: 8)
                buffer.storeLittleEndian(UInt32(plainLength), at: 16)
                buffer.storeLittleEndian(UInt32(deflatedLength), at: 20)
                buffer.storeLittleEndian(checksum, at: 24)
                let covered = UnsafeRawBufferPointer(buffer).part(0..<28)
                buffer.storeLittleEndian(Checksum.crc32(covered), at: 28)
            }
            return bytes
        }
    }

    struct IndexEntry: Equatable {
        let sequence: UInt64
        let plainOffset: UInt64
        /// Offset of the block's header in the file.
        let fileOffset: UInt64
    }

    struct Footer: Equatable {
        let indexOffset: UInt64
        let blockCount: Int
        let indexChecksum: UInt32
        let plainSize: UInt64
        let lastSequence: UInt64

        func encoded() -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: footerSize)
            bytes.withUnsafeMutableBytes { buffer in
                buffer.storeLittleEndian(indexOffset, at: 0)
                buffer.storeLittleEndian(UInt32(blockCount), at: 8)
                buffer.storeLittleEndian(indexChecksum, at: 12)
                buffer.storeLittleEndian(plainSize, at: 16)
                buffer.storeLittleEndian(lastSequence, at: 24)
                let covered = UnsafeRawBufferPointer(buffer).part(0..<32)
                buffer.storeLittleEndian(Checksum.crc32(covered), at: 32)
                for (index, byte) in footerMagic.enumerated() { buffer[36 + index] = byte }
            }
            return bytes
        }

        /// Whether the blocks follow each other from the first frame to the end of the segment, lie before
        /// the index in the file, and the file is long enough for the plain length.
        func describes(_ index: [IndexEntry]) -> Bool {
            var end = UInt64(SegmentHeader.size)
            for (number, entry) in index.enumerated() {
                guard entry.fileOffset < indexOffset else { return false }
                guard number == 0 ? entry.plainOffset == end : entry.plainOffset > end else {
                    return false
                }
                end = entry.plainOffset
            }
            return plainSize >= end && plainSize <= UInt64(Int64.max)
                && plainSize / UInt64(largestRatio) <= indexOffset
        }
    }

    static func encode(_ index: [IndexEntry]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: index.count * indexEntrySize)
        bytes.withUnsafeMutableBytes { buffer in
            for (number, entry) in index.enumerated() {
                let offset = number * indexEntrySize
                buffer.storeLittleEndian(entry.sequence, at: offset)
                buffer.storeLittleEndian(entry.plainOffset, at: offset + 8)
                buffer.storeLittleEndian(entry.fileOffset, at: offset + 16)
            }
        }
        return bytes
    }

    static func decodeIndex(_ bytes: [UInt8]) -> [IndexEntry] {
        bytes.withUnsafeBytes { buffer in
            stride(from: 0, to: buffer.count - indexEntrySize + 1, by: indexEntrySize).map {
                IndexEntry(
                    sequence: buffer.littleEndian(UInt64.self, at: $0),
                    plainOffset: buffer.littleEndian(UInt64.self, at: $0 + 8),
                    fileOffset: buffer.littleEndian(UInt64.self, at: $0 + 16))
            }
        }
    }
}

extension DeflatedLayout.Block {
    init?(_ bytes: [UInt8]) {
        guard bytes.count == DeflatedLayout.blockHeaderSize else { return nil }
        let block: Self? = bytes.withUnsafeBytes { buffer in
            guard Checksum.crc32(buffer.part(0..<28)) == buffer.littleEndian(UInt32.self, at: 28)
            else { return nil }
            return Self(
                sequence: buffer.littleEndian(UInt64.self, at: 0),
                plainOffset: buffer.littleEndian(UInt64.self, at: 8),
                plainLength: Int(buffer.littleEndian(UInt32.self, at: 16)),
                deflatedLength: Int(buffer.littleEndian(UInt32.self, at: 20)),
                checksum: buffer.littleEndian(UInt32.self, at: 24))
        }
        guard let block else { return nil }
        self = block
    }
}

extension DeflatedLayout.Footer {
    init?(_ bytes: [UInt8]) {
        guard bytes.count == DeflatedLayout.footerSize,
            bytes.suffix(4).elementsEqual(DeflatedLayout.footerMagic)
        else { return nil }
        let footer: Self? = bytes.withUnsafeBytes { buffer in
            guard Checksum.crc32(buffer.part(0..<32)) == buffer.littleEndian(UInt32.self, at: 32)
            else { return nil }
            return Self(
                indexOffset: buffer.littleEndian(UInt64.self, at: 0),
                blockCount: Int(buffer.littleEndian(UInt32.self, at: 8)),
                indexChecksum: buffer.littleEndian(UInt32.self, at: 12),
                plainSize: buffer.littleEndian(UInt64.self, at: 16),
                lastSequence: buffer.littleEndian(UInt64.self, at: 24))
        }
        guard let footer else { return nil }
        self = footer
    }
}

/// Reads a deflated segment as if it were plain, one block in memory at a time.
///
/// Not Sendable: it caches the last inflated block.
final class DeflatedSegment: SegmentSource {
    let header: SegmentHeader
    private let file: any File
    private let index: [DeflatedLayout.IndexEntry]
    private let plainSize: UInt64
    /// Set if the index was unusable and the block headers were walked instead.
    let indexDamage: LogDamage?
    private var block: (number: Int, bytes: [UInt8])?

    init(_ file: any File, header: SegmentHeader) throws(LogError) {
        self.file = file
        self.header = header
        if let (index, footer) = try Self.index(of: file) {
            self.index = index
            plainSize = footer.plainSize
            indexDamage = nil
        } else {
            let end: UInt64
            (index, plainSize, end) = try Self.walk(file)
            indexDamage = LogDamage(
                file: file.path, offset: end, length: nil, sequence: nil,
                reason: "the index of the blocks does not match its checksum")
        }
    }

    var path: String { file.path }

    func size() -> UInt64 { plainSize }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(LogError) -> Int {
        var done = 0
        while done < buffer.count {
            let position = offset + UInt64(done)
            guard position < plainSize, let number = block(at: position) else { break }
            let bytes = try inflate(number)
            let start = Int(position - index[number].plainOffset)
            // A block shorter than its successor's offset implies is damaged like any other.
            guard start < bytes.count else { break }
            let part = bytes[start...].prefix(buffer.count - done)
            UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyBytes(from: part)
            done += part.count
        }
        return done
    }

    func readAhead(at offset: UInt64) -> Int {
        guard let number = block(at: offset) else { return 0 }
        let end = number + 1 < index.count ? index[number + 1].plainOffset : plainSize
        return Int(end - offset)
    }

    func start(of sequence: UInt64) -> (offset: UInt64, sequence: UInt64) {
        guard let entry = index.last(where: { $0.sequence <= sequence }) else {
            return (UInt64(SegmentHeader.size), header.firstSequence)
        }
        return (entry.plainOffset, entry.sequence)
    }

    func readable(after offset: UInt64) -> UInt64? {
        index.first { $0.plainOffset > offset }?.plainOffset
    }

    private func block(at offset: UInt64) -> Int? {
        guard let first = index.first, offset >= first.plainOffset, offset < plainSize else {
            return nil
        }
        var low = 0
        var high = index.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if index[middle].plainOffset <= offset { low = middle } else { high = middle }
        }
        return low
    }

    private func inflate(_ number: Int) throws(LogError) -> [UInt8] {
        if let block, block.number == number { return block.bytes }
        let entry = index[number]
        let bytes = try Self.inflate(file, at: entry.fileOffset, expecting: entry)
        block = (number, bytes)
        return bytes
    }

    private static func inflate(
        _ file: any File, at offset: UInt64, expecting entry: DeflatedLayout.IndexEntry
    ) throws(LogError) -> [UInt8] {
        func damaged(_ reason: String) -> LogError {
            .damaged(
                LogDamage(
                    file: file.path, offset: offset, length: nil, sequence: entry.sequence,
                    reason: reason))
        }
        let head = try reading { () throws(FileSystemError) in
            try file.bytes(at: offset, count: DeflatedLayout.blockHeaderSize)
        }
        guard let block = DeflatedLayout.Block(head), block.sequence == entry.sequence,
            block.plainOffset == entry.plainOffset
        else { throw damaged("the block's header does not match its checksum") }
        let start = offset + UInt64(DeflatedLayout.blockHeaderSize)
        let deflated: [UInt8]? = try reading { () throws(FileSystemError) in
            // Trust the lengths, and allocate memory, only if the file has the bytes.
            guard block.isPossible, start + UInt64(block.deflatedLength) <= (try file.size()) else {
                return nil
            }
            return try file.bytes(at: start, count: block.deflatedLength)
        }
        guard let deflated else {
            throw damaged("the block's header says more bytes than there can be")
        }
        guard deflated.count == block.deflatedLength, Checksum.crc32(deflated) == block.checksum
        else { throw damaged("the block does not match its checksum") }
        guard let plain = Zlib.decompressed(deflated, length: block.plainLength) else {
            throw damaged("the block does not inflate to what its header says")
        }
        return plain
    }

    private static func index(
        of file: any File
    ) throws(LogError) -> ([DeflatedLayout.IndexEntry], DeflatedLayout.Footer)? {
        try reading { () throws(FileSystemError) in
            let size = try file.size()
            guard size >= UInt64(SegmentHeader.size + DeflatedLayout.footerSize) else { return nil }
            let end = size - UInt64(DeflatedLayout.footerSize)
            guard
                let footer = DeflatedLayout.Footer(
                    try file.bytes(at: end, count: DeflatedLayout.footerSize)),
                footer.indexOffset <= end,
                end - footer.indexOffset
                    == UInt64(footer.blockCount * DeflatedLayout.indexEntrySize)
            else { return nil }
            let bytes = try file.bytes(
                at: footer.indexOffset, count: footer.blockCount * DeflatedLayout.indexEntrySize)
            let index = DeflatedLayout.decodeIndex(bytes)
            guard Checksum.crc32(bytes) == footer.indexChecksum,
                footer.describes(index)
            else { return nil }
            return (index, footer)
        }
    }

    /// Rebuilds the index from the block headers.
    private static func walk(
        _ file: any File
    ) throws(LogError) -> (index: [DeflatedLayout.IndexEntry], plainSize: UInt64, end: UInt64) {
        try reading { () throws(FileSystemError) in
            var index: [DeflatedLayout.IndexEntry] = []
            var plainEnd = UInt64(SegmentHeader.size)
            var offset = UInt64(SegmentHeader.size)
            while let block = DeflatedLayout.Block(
                try file.bytes(at: offset, count: DeflatedLayout.blockHeaderSize)),
                block.plainOffset == plainEnd, block.isPossible
            {
                index.append(
                    DeflatedLayout.IndexEntry(
                        sequence: block.sequence, plainOffset: plainEnd, fileOffset: offset))
                plainEnd += UInt64(block.plainLength)
                offset += UInt64(DeflatedLayout.blockHeaderSize + block.deflatedLength)
            }
            return (index, plainEnd, offset)
        }
    }
}
