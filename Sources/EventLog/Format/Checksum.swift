import Digests
import Zlib

/// The CRC-32 of zlib, checksum id 1: detects accidental changes.
enum Checksum {
    static let identifier: UInt8 = 1

    @inline(__always)
    static func crc32(_ bytes: UnsafeRawBufferPointer, continuing checksum: UInt32 = 0) -> UInt32 {
        Zlib.crc32(bytes, continuing: checksum)
    }

    static func crc32(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { crc32($0) }
    }
}

/// The SHA-256 that links a frame to everything before it: detects rewriting, and identifies a history.
package struct ChainHash: Hashable, Sendable {
    package static let byteCount = 32
    static let identifier: UInt8 = 1

    // Four words instead of an array, because a scan makes one for every frame.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// The predecessor of a log's first frame.
    package static let zero = ChainHash(words: (0, 0, 0, 0))

    private init(words: (UInt64, UInt64, UInt64, UInt64)) {
        self.words = words
    }

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0) {
        words = (
            bytes.littleEndian(UInt64.self, at: offset),
            bytes.littleEndian(UInt64.self, at: offset + 8),
            bytes.littleEndian(UInt64.self, at: offset + 16),
            bytes.littleEndian(UInt64.self, at: offset + 24)
        )
    }

    func store(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        bytes.storeLittleEndian(words.0, at: offset)
        bytes.storeLittleEndian(words.1, at: offset + 8)
        bytes.storeLittleEndian(words.2, at: offset + 16)
        bytes.storeLittleEndian(words.3, at: offset + 24)
    }

    /// Reads what ``bytes`` returns; nil for another number of bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self = bytes.withUnsafeBytes { ChainHash($0) }
    }

    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, initialized in
            store(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            initialized = Self.byteCount
        }
    }

    package static func == (left: ChainHash, right: ChainHash) -> Bool {
        left.words == right.words
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
    }
}

extension ChainHash: CustomStringConvertible {
    /// 64 hexadecimal digits.
    package var description: String { bytes.hexadecimal }
}

extension ChainHash {
    /// Reads what ``description`` writes.
    init?(_ text: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: text) else { return nil }
        self.init(bytes)
    }
}

extension SHA256 {
    /// The hash of everything since the last `restart`, as a link of a chain; starts again.
    func finishChain() -> ChainHash {
        withUnsafeTemporaryAllocation(byteCount: SHA256.byteCount, alignment: 8) { hash in
            finish(into: hash)
            return ChainHash(UnsafeRawBufferPointer(hash))
        }
    }
}
