import Digests

/// Sizes and constants of a frame: one batch of events, written and synced together.
///
///     offset  size
///          0     2  magic "Fr"
///          2     2  flags: 1 = closing
///          4     4  payload length n
///          8     4  epoch
///         12     4  number of events
///         16     8  sequence of the first event
///         24     8  durable through: the last sequence known synced when this was written
///         32    32  chain hash
///         64     4  crc32 of the payload
///         68     4  crc32 of bytes 0 to 67
///         72     n  payload: the events (LogEvent.swift)
///       72+n   0-7  zero, up to the next multiple of 8
///          …     8  end marker, no byte of it zero
///
/// Frames start at multiples of 8. The chain hash is SHA-256(payload, previous chain hash, bytes 0
/// to 31); a closing frame has no events and repeats the previous chain hash.
///
/// A frame is valid if and only if magic and end marker are there; both checksums are right;
/// the padding is zero; the flags are known; its first sequence is one more than the last of the
/// frame before it; its epoch is not smaller than that frame's; it is closing exactly when it has
/// no events; and `count` events fill the payload to the byte. `verify` also checks the chain hash.
enum FrameLayout {
    static let headerSize = 72
    static let chainOffset = 32
    static let checksumOffset = 64
    static let headerChecksumOffset = 68
    /// The part of the header that is hashed.
    static let hashedHeaderSize = 32
    static let markerSize = 8
    static let magic: UInt16 = 0x7246
    /// Ends every frame. It has no zero byte, so that a write that stopped early can be told from a changed
    /// bit: unwritten space reads as zero.
    static let marker: UInt64 = 0xE3A5_96C7_5A3D_69F1
    /// Largest payload of one frame in bytes (1 GiB).
    static let maximumPayload = 1 << 30
    /// The last event that a log can have; the sequence after it still fits in an `Int64`.
    static let largestSequence = UInt64(Int64.max) - 1

    /// Size in bytes of a frame with this much payload.
    static func size(payload: Int) -> Int {
        headerSize + payload.roundedUpToEight + markerSize
    }
}

/// The fields of a frame's header.
package struct FrameHeader: Equatable, Sendable {
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16
        /// Written when the log is closed; holds no events. Everything before it is complete.
        static let closing = Flags(rawValue: 1)
        static let known: Flags = [.closing]
    }

    var flags: Flags
    var payloadLength: Int
    package internal(set) var epoch: UInt32
    package internal(set) var count: Int
    package internal(set) var firstSequence: UInt64
    var durableThrough: UInt64
    package internal(set) var chain: ChainHash
    var payloadChecksum: UInt32

    /// The last event's sequence; for a closing frame, that of the event before it.
    package var lastSequence: UInt64 { firstSequence + UInt64(count) - 1 }
    var size: Int { FrameLayout.size(payload: payloadLength) }

    /// Writes everything except the header's checksum, which ``seal(_:)`` adds.
    func store(into bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeLittleEndian(FrameLayout.magic, at: 0)
        bytes.storeLittleEndian(flags.rawValue, at: 2)
        bytes.storeLittleEndian(UInt32(payloadLength), at: 4)
        bytes.storeLittleEndian(epoch, at: 8)
        bytes.storeLittleEndian(UInt32(count), at: 12)
        bytes.storeLittleEndian(firstSequence, at: 16)
        bytes.storeLittleEndian(durableThrough, at: 24)
        chain.store(into: bytes, at: FrameLayout.chainOffset)
        bytes.storeLittleEndian(payloadChecksum, at: FrameLayout.checksumOffset)
    }

    static func seal(_ bytes: UnsafeMutableRawBufferPointer) {
        let covered = UnsafeRawBufferPointer(bytes).part(0..<FrameLayout.headerChecksumOffset)
        bytes.storeLittleEndian(
            Checksum.crc32(covered), at: FrameLayout.headerChecksumOffset)
    }

    /// Reads a header from its 72 bytes, or throws what is wrong with them.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(FrameFault) -> FrameHeader {
        guard bytes.littleEndian(UInt16.self, at: 0) == FrameLayout.magic else { throw .magic }
        let covered = bytes.part(0..<FrameLayout.headerChecksumOffset)
        guard
            Checksum.crc32(covered)
                == bytes.littleEndian(UInt32.self, at: FrameLayout.headerChecksumOffset)
        else { throw .headerChecksum }
        let header = FrameHeader(
            flags: Flags(rawValue: bytes.littleEndian(UInt16.self, at: 2)),
            payloadLength: Int(bytes.littleEndian(UInt32.self, at: 4)),
            epoch: bytes.littleEndian(UInt32.self, at: 8),
            count: Int(bytes.littleEndian(UInt32.self, at: 12)),
            firstSequence: bytes.littleEndian(UInt64.self, at: 16),
            durableThrough: bytes.littleEndian(UInt64.self, at: 24),
            chain: ChainHash(bytes, at: FrameLayout.chainOffset),
            payloadChecksum: bytes.littleEndian(UInt32.self, at: FrameLayout.checksumOffset))
        let isClosing = header.flags.contains(.closing)
        guard header.flags.isSubset(of: .known), isClosing == (header.count == 0),
            isClosing == (header.payloadLength == 0),
            header.payloadLength <= FrameLayout.maximumPayload,
            header.count * EventLayout.headerSize <= header.payloadLength,
            header.firstSequence > 0,
            header.firstSequence <= FrameLayout.largestSequence + 1 - UInt64(header.count),
            header.epoch <= LogMetadata.largestEpoch
        else { throw .fields }
        return header
    }

    /// Checks everything after the header: `frame` is the whole frame.
    func check(_ frame: UnsafeRawBufferPointer) throws(FrameFault) {
        let payload = payload(of: frame)
        guard Checksum.crc32(payload) == payloadChecksum else { throw .payloadChecksum }
        let end = FrameLayout.headerSize + payloadLength
        let markerOffset = frame.count - FrameLayout.markerSize
        guard frame.littleEndian(UInt64.self, at: markerOffset) == FrameLayout.marker,
            frame.part(end..<markerOffset).isZero
        else { throw .endMarker }
        guard EventLayout.count(in: payload) == count else { throw .events }
    }

    func payload(of frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        frame.part(FrameLayout.headerSize..<FrameLayout.headerSize + payloadLength)
    }

    /// The correct chain hash after a frame with this header and payload.
    func chain(
        after previous: ChainHash, payload: UnsafeRawBufferPointer, hasher: SHA256
    ) -> ChainHash {
        guard !flags.contains(.closing) else { return previous }
        hasher.restart()
        hasher.update(payload)
        return Self.finishChain(previous: previous, header: self, hasher: hasher)
    }

    /// Completes the chain hash with what follows the payload.
    static func finishChain(
        previous: ChainHash, header: FrameHeader, hasher: SHA256
    ) -> ChainHash {
        withUnsafeTemporaryAllocation(byteCount: FrameLayout.headerSize, alignment: 8) { bytes in
            previous.store(into: bytes, at: 0)
            hasher.update(UnsafeRawBufferPointer(bytes).part(0..<ChainHash.byteCount))
            header.store(into: bytes)
            hasher.update(UnsafeRawBufferPointer(bytes).part(0..<FrameLayout.hashedHeaderSize))
            return hasher.finishChain()
        }
    }
}

/// Why bytes are not the frame expected there.
package enum FrameFault: Error, Equatable {
    case magic
    case headerChecksum
    case fields
    case payloadChecksum
    case endMarker
    /// The file ends too early.
    case cutShort
    case sequence(expected: UInt64, found: UInt64)
    case epoch(atLeast: UInt32, found: UInt32)
    /// The events do not fill the payload as the header says.
    case events
    case chain
    /// The next segment begins later than this one ends.
    case missing(Range<UInt64>)
}
