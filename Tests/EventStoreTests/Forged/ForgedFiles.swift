import Digests
import Zlib

@testable import EventLog

/// Integers of a file, little-endian, as its format has them.
struct ForgedField {
    let name: String
    let offset: Int
    let size: Int

    init(_ name: String, at offset: Int, _ size: Int) {
        (self.name, self.offset, self.size) = (name, offset, size)
    }
}

extension [UInt8] {
    func number(at offset: Int, _ size: Int) -> UInt64 {
        (0..<size).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
    }

    mutating func set(_ value: UInt64, at offset: Int, _ size: Int) {
        for index in 0..<size {
            self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
        }
    }

    mutating func seal(_ covered: Range<Int>, at offset: Int) {
        set(UInt64(Checksum.crc32([UInt8](self[covered]))), at: offset, 4)
    }

    mutating func replace(at offset: Int, with bytes: [UInt8]) {
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}

/// A plain segment, whose frames stay where they are whatever their headers say.
struct ForgedSegment {
    let path: String
    var bytes: [UInt8]
    private(set) var frames: [(offset: Int, payload: Int)] = []
    private var events: [(offset: Int, payload: Int)] = []

    init(_ path: String, _ bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var offset = SegmentHeader.size
        while offset + FrameLayout.headerSize <= bytes.count,
            bytes.number(at: offset, 2) == UInt64(FrameLayout.magic)
        {
            let payload = Int(bytes.number(at: offset + 4, 4))
            frames.append((offset, payload))
            var event = offset + FrameLayout.headerSize
            while event < offset + FrameLayout.headerSize + payload {
                let length = Int(bytes.number(at: event, 4))
                events.append((event, length))
                event += EventLayout.headerSize + length
            }
            offset += FrameLayout.size(payload: payload)
        }
    }

    /// Where events' bodies are.
    var payloads: [Range<Int>] {
        events.map {
            $0.offset + EventLayout.headerSize..<$0.offset + EventLayout.headerSize + $0.payload
        }
    }

    var headerFields: [ForgedField] {
        [
            ForgedField("minor version", at: 10, 2), ForgedField("encoding", at: 14, 1),
            ForgedField("flags", at: 15, 1), ForgedField("epoch", at: 32, 4),
            ForgedField("first sequence", at: 40, 8), ForgedField("previous segment", at: 48, 8),
        ]
    }

    var frameFields: [ForgedField] {
        frames.flatMap { frame in
            [
                ForgedField("flags", at: frame.offset + 2, 2),
                ForgedField("payload length", at: frame.offset + 4, 4),
                ForgedField("epoch", at: frame.offset + 8, 4),
                ForgedField("number of events", at: frame.offset + 12, 4),
                ForgedField("first sequence", at: frame.offset + 16, 8),
                ForgedField("durable through", at: frame.offset + 24, 8),
            ]
        }
    }

    var eventFields: [ForgedField] {
        events.flatMap { event in
            [
                ForgedField("event length", at: event.offset, 4),
                ForgedField("event kind", at: event.offset + 4, 1),
                ForgedField("event time", at: event.offset + 8, 8),
            ]
        }
    }

    /// Makes checksums and chain hashes right.
    /// - Returns: the chain hash after its last event.
    mutating func seal(after previous: ChainHash) -> ChainHash {
        bytes.replace(at: 56, with: previous.bytes)
        bytes.seal(0..<SegmentHeader.checksumOffset, at: SegmentHeader.checksumOffset)
        var chain = previous
        let hasher = SHA256()
        for frame in frames {
            let said = Int(bytes.number(at: frame.offset + 4, 4))
            let start = frame.offset + FrameLayout.headerSize
            let end = start + said <= bytes.count ? start + said : start + frame.payload
            if frame.payload > 0 {
                hasher.restart()
                let hashed = [
                    [UInt8](bytes[start..<end]), chain.bytes,
                    [UInt8](bytes[frame.offset..<frame.offset + FrameLayout.hashedHeaderSize]),
                ]
                for part in hashed { hasher.update(part) }
                chain = hasher.finishChain()
            }
            bytes.replace(at: frame.offset + FrameLayout.chainOffset, with: chain.bytes)
            bytes.seal(start..<end, at: frame.offset + FrameLayout.checksumOffset)
            bytes.seal(
                frame.offset..<frame.offset + FrameLayout.headerChecksumOffset,
                at: frame.offset + FrameLayout.headerChecksumOffset)
        }
        return chain
    }
}

/// The compressed form of a segment, with more blocks than the log would make of so few frames.
struct ForgedDeflatedSegment {
    var bytes: [UInt8]
    private var blocks: [(offset: Int, length: Int)] = []
    private let indexOffset: Int
    private var footer: Int { bytes.count - DeflatedLayout.footerSize }

    init?(_ segment: ForgedSegment, framesPerBlock: Int) {
        bytes = Array(segment.bytes[..<SegmentHeader.size])
        bytes[14] = SegmentHeader.Encoding.deflatedBlocks.rawValue
        bytes.seal(0..<SegmentHeader.checksumOffset, at: SegmentHeader.checksumOffset)
        let frames = segment.frames
        var index: [DeflatedLayout.IndexEntry] = []
        var end = SegmentHeader.size
        for first in stride(from: 0, to: frames.count, by: framesPerBlock) {
            let last = frames[min(first + framesPerBlock, frames.count) - 1]
            end = last.offset + FrameLayout.size(payload: last.payload)
            let start = frames[first].offset
            let plain = Array(segment.bytes[start..<min(end, segment.bytes.count)])
            guard let deflated = Zlib.compressed(plain, level: 4) else { return nil }
            let block = DeflatedLayout.Block(
                sequence: segment.bytes.number(at: start + 16, 8), plainOffset: UInt64(start),
                plainLength: plain.count, deflatedLength: deflated.count,
                checksum: Checksum.crc32(deflated))
            index.append(
                DeflatedLayout.IndexEntry(
                    sequence: block.sequence, plainOffset: block.plainOffset,
                    fileOffset: UInt64(bytes.count)))
            blocks.append((bytes.count, deflated.count))
            bytes += block.encoded() + deflated
        }
        guard !index.isEmpty else { return nil }
        indexOffset = bytes.count
        let entries = DeflatedLayout.encode(index)
        let footer = DeflatedLayout.Footer(
            indexOffset: UInt64(indexOffset), blockCount: index.count,
            indexChecksum: Checksum.crc32(entries), plainSize: UInt64(end),
            lastSequence: index[index.count - 1].sequence)
        bytes += entries + footer.encoded()
    }

    var fields: [ForgedField] {
        let ofBlocks = blocks.flatMap { block in
            [
                ForgedField("block's sequence", at: block.offset, 8),
                ForgedField("block's plain offset", at: block.offset + 8, 8),
                ForgedField("block's plain length", at: block.offset + 16, 4),
                ForgedField("block's deflated length", at: block.offset + 20, 4),
            ]
        }
        let ofIndex = blocks.indices.flatMap { number in
            let offset = indexOffset + number * DeflatedLayout.indexEntrySize
            return [
                ForgedField("index entry's sequence", at: offset, 8),
                ForgedField("index entry's plain offset", at: offset + 8, 8),
                ForgedField("index entry's file offset", at: offset + 16, 8),
            ]
        }
        return ofBlocks + ofIndex + [
            ForgedField("footer's index offset", at: footer, 8),
            ForgedField("footer's number of blocks", at: footer + 8, 4),
            ForgedField("footer's plain length", at: footer + 16, 8),
            ForgedField("footer's last sequence", at: footer + 24, 8),
        ]
    }

    /// Makes the index say what the blocks say.
    mutating func indexBlocks() {
        for (number, block) in blocks.enumerated() {
            let entry = indexOffset + number * DeflatedLayout.indexEntrySize
            bytes.replace(at: entry, with: Array(bytes[block.offset..<block.offset + 16]))
        }
    }

    /// Without it the blocks are walked from the front.
    mutating func loseFooter() { bytes[bytes.count - 1] ^= 1 }

    mutating func seal() {
        for block in blocks {
            let start = block.offset + DeflatedLayout.blockHeaderSize
            let said = Int(bytes.number(at: block.offset + 20, 4))
            let end = start + said <= bytes.count ? start + said : start + block.length
            bytes.seal(start..<end, at: block.offset + 24)
            bytes.seal(block.offset..<block.offset + 28, at: block.offset + 28)
        }
        bytes.seal(indexOffset..<footer, at: footer + 12)
        bytes.seal(footer..<footer + 32, at: footer + 32)
    }
}

/// A checkpoint file.
struct ForgedCheckpoint {
    var bytes: [UInt8]

    static let fields = [
        ForgedField("minor version", at: 10, 2), ForgedField("length of the hash", at: 12, 1),
        ForgedField("epoch", at: 32, 4), ForgedField("fold version", at: 36, 4),
        ForgedField("sequence", at: 40, 8), ForgedField("payload length", at: 48, 8),
    ]

    var payload: Range<Int> { CheckpointLayout.headerSize..<bytes.count }

    mutating func seal() {
        let hasher = SHA256()
        hasher.update([UInt8](bytes[payload]))
        bytes.replace(at: 56, with: hasher.finish())
        bytes.seal(payload, at: 88)
        bytes.seal(0..<92, at: 92)
    }
}
