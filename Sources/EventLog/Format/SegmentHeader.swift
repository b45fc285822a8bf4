import Digests

/// The first 96 bytes of a segment file.
///
///     offset  size
///          0     8  magic "RELAYLOG"
///          8     2  format version, major: readers refuse a larger one
///         10     2  format version, minor: readers accept a larger one
///         12     1  checksum, 1 = CRC-32 of zlib
///         13     1  chain hash, 1 = SHA-256
///         14     1  encoding, 0 = frames, 1 = deflated blocks of frames
///         15     1  flags: 1 = the chain hash before the first frame is not known
///         16    16  store id
///         32     4  epoch when the segment was begun
///         36     4  zero
///         40     8  first sequence, as in the file's name
///         48     8  first sequence of the segment before it; 0 when there is none
///         56    32  chain hash before the first frame
///         88     4  zero
///         92     4  crc32 of bytes 0 to 91
///
/// The chain hash allows a segment to be verified alone, and a log to begin after dropped segments. It
/// is unknown, and zero, if a repair made the log begin after damage.
package struct SegmentHeader: Equatable, Sendable {
    package static let size = 96
    static let checksumOffset = 92
    static let magic = Array("RELAYLOG".utf8)

    package enum Encoding: UInt8, Sendable {
        case frames = 0
        case deflatedBlocks = 1
    }

    package let version: FormatVersion
    package var encoding: Encoding
    package let storeID: StoreID
    package var epoch: UInt32
    package var firstSequence: UInt64
    package var previousFirstSequence: UInt64
    package var previousChain: ChainHash
    /// False if a repair made the log begin with a frame whose predecessor was damaged.
    package var knowsPreviousChain: Bool

    private static let unknownChainFlag: UInt8 = 1

    package init(
        version: FormatVersion = .current, encoding: Encoding = .frames, storeID: StoreID,
        epoch: UInt32, firstSequence: UInt64, previousFirstSequence: UInt64,
        previousChain: ChainHash, knowsPreviousChain: Bool = true
    ) {
        self.version = version
        self.encoding = encoding
        self.storeID = storeID
        self.epoch = epoch
        self.firstSequence = firstSequence
        self.previousFirstSequence = previousFirstSequence
        self.previousChain = previousChain
        self.knowsPreviousChain = knowsPreviousChain
    }

    /// Replaces a damaged header of which only the file's name is known.
    package static func unknown(storeID: StoreID, firstSequence: UInt64) -> SegmentHeader {
        SegmentHeader(
            storeID: storeID, epoch: 0, firstSequence: firstSequence, previousFirstSequence: 0,
            previousChain: .zero, knowsPreviousChain: false)
    }

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes.withUnsafeMutableBytes { buffer in
            buffer.copyBytes(from: Self.magic)
            buffer.storeLittleEndian(version.major, at: 8)
            buffer.storeLittleEndian(version.minor, at: 10)
            buffer[12] = Checksum.identifier
            buffer[13] = ChainHash.identifier
            buffer[14] = encoding.rawValue
            buffer[15] = knowsPreviousChain ? 0 : Self.unknownChainFlag
            storeID.store(into: buffer, at: 16)
            buffer.storeLittleEndian(epoch, at: 32)
            buffer.storeLittleEndian(firstSequence, at: 40)
            buffer.storeLittleEndian(previousFirstSequence, at: 48)
            previousChain.store(into: buffer, at: 56)
            let covered = UnsafeRawBufferPointer(buffer).part(0..<Self.checksumOffset)
            buffer.storeLittleEndian(Checksum.crc32(covered), at: Self.checksumOffset)
        }
        return bytes
    }

    package static func read(_ bytes: [UInt8]) throws(SegmentFault) -> SegmentHeader {
        guard bytes.count >= size else { throw .cutShort }
        guard bytes.starts(with: magic) else { throw .magic }
        let result: Result<SegmentHeader, SegmentFault> = bytes.withUnsafeBytes { buffer in
            // The version comes first, because a later one may have changed everything after it.
            let version = FormatVersion(
                major: buffer.littleEndian(UInt16.self, at: 8),
                minor: buffer.littleEndian(UInt16.self, at: 10))
            let isIntact =
                Checksum.crc32(buffer.part(0..<checksumOffset))
                == buffer.littleEndian(UInt32.self, at: checksumOffset)
            guard version.isReadable else {
                return .failure(.futureVersion(version))
            }
            guard isIntact else { return .failure(.checksum) }
            guard buffer[12] == Checksum.identifier, buffer[13] == ChainHash.identifier,
                let encoding = Encoding(rawValue: buffer[14]),
                buffer.littleEndian(UInt32.self, at: 32) <= LogMetadata.largestEpoch
            else { return .failure(.unknownEncoding) }
            return .success(
                SegmentHeader(
                    version: version, encoding: encoding, storeID: StoreID(buffer, at: 16),
                    epoch: buffer.littleEndian(UInt32.self, at: 32),
                    firstSequence: buffer.littleEndian(UInt64.self, at: 40),
                    previousFirstSequence: buffer.littleEndian(UInt64.self, at: 48),
                    previousChain: ChainHash(buffer, at: 56),
                    knowsPreviousChain: buffer[15] & unknownChainFlag == 0))
        }
        return try result.get()
    }
}

/// Why a file does not start with the expected segment header.
package enum SegmentFault: Error, Equatable {
    case cutShort
    case magic
    case checksum
    case futureVersion(FormatVersion)
    case unknownEncoding
    case name(firstSequence: UInt64)
    case otherStore(StoreID)
    case predecessor(expected: UInt64, found: UInt64)
}

/// The format's version. A new minor version adds kinds and flags that old readers may keep and skip; a new
/// major version changes what old readers rely on.
package struct FormatVersion: Hashable, Sendable, CustomStringConvertible {
    package let major: UInt16
    package let minor: UInt16

    package static let current = FormatVersion(major: 1, minor: 1)

    var isReadable: Bool { major == Self.current.major }

    /// This version, or this program's if that is later.
    package var raised: FormatVersion {
        minor < Self.current.minor ? .current : self
    }

    package var description: String { "\(major).\(minor)" }
}

/// Identifies a store: 128 random bits from its creation, kept by every copy and fork.
package struct StoreID: Hashable, Sendable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package static func random() -> StoreID {
        StoreID(high: .random(in: 1...UInt64.max), low: .random(in: 0...UInt64.max))
    }

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
    }

    /// Parses the format of ``description``.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    func store(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeBytes(of: high.bigEndian, toByteOffset: offset, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: offset + 8, as: UInt64.self)
    }

    /// 32 hexadecimal digits.
    package var description: String { high.hexadecimal + low.hexadecimal }
}

extension UInt64 {
    /// 20 decimal digits, which sort in numerical order.
    var twentyDigits: String {
        let digits = String(self)
        return String(repeating: "0", count: 20 - digits.count) + digits
    }
}
