import CCrypto
import Zlib

/// The CRC-32 of zlib, checksum id 1: finds accidents.
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

/// The SHA-256 that links a frame to everything before it: finds rewriting, and names a history.
package struct ChainHash: Hashable, Sendable {
    package static let byteCount = 32
    static let identifier: UInt8 = 1

    // Four words instead of an array: a scan makes one for every frame.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// What the first frame of a log is linked to.
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
        guard let bytes = [UInt8](hexadecimal: text), bytes.count == Self.byteCount else {
            return nil
        }
        self = bytes.withUnsafeBytes { ChainHash($0) }
    }
}

extension [UInt8] {
    /// Reads pairs of hexadecimal digits; nil when there is anything else.
    init?(hexadecimal text: some StringProtocol) {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let high = rest.popFirst() {
            guard let low = rest.popFirst(), let first = Self.value(ofDigit: high),
                let second = Self.value(ofDigit: low)
            else { return nil }
            bytes.append(first << 4 | second)
        }
        self = bytes
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Sequence<UInt8> {
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A SHA-256 fed piece by piece and used again and again; OpenSSL picks the CPU's instructions.
///
/// Not Sendable: one thread at a time.
final class ChainHasher {
    private let context: OpaquePointer
    private let algorithm: OpaquePointer

    init() {
        // Fetched once: an implicit fetch at every start costs more than hashing a small frame.
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil), let context = EVP_MD_CTX_new()
        else { preconditionFailure("libcrypto has no SHA-256 or no memory is left") }
        self.algorithm = algorithm
        self.context = context
        restart()
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(algorithm)
    }

    func restart() {
        check(EVP_DigestInit_ex2(context, algorithm, nil))
    }

    func update(_ bytes: UnsafeRawBufferPointer) {
        check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// The hash of everything since the last `restart`; starts again.
    func finish() -> ChainHash {
        let hash = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ChainHash.byteCount) {
            check(EVP_DigestFinal_ex(context, $0.baseAddress, nil))
            return ChainHash(UnsafeRawBufferPointer($0))
        }
        restart()
        return hash
    }

    private func check(_ result: Int32) {
        precondition(result == 1, "libcrypto refused to compute a SHA-256")
    }
}
