import CCrypto

/// AES with a key of 128 bits (FIPS 197), one block at a time; OpenSSL picks the CPU's instructions.
///
/// Equal blocks become equal blocks. Whoever encrypts must want that, or never encrypt a block twice.
///
/// Not Sendable: one thread at a time.
package final class AES128 {
    package static let keyByteCount = 16

    /// 16 bytes, the most significant first.
    package struct Block: Hashable, Sendable {
        package var high: UInt64
        package var low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    private let key: [UInt8]
    private lazy var encryption = CipherContext(key, encrypts: true)
    private lazy var decryption = CipherContext(key, encrypts: false)

    /// - Parameter key: 16 bytes.
    package init(key: [UInt8]) {
        precondition(key.count == Self.keyByteCount, "an AES-128 key has 16 bytes")
        self.key = key
    }

    package func encrypt(_ block: Block) -> Block { encryption.transform(block) }

    package func decrypt(_ block: Block) -> Block { decryption.transform(block) }
}

/// One direction of the cipher, with its key schedule.
private final class CipherContext {
    /// Fetched once: an implicit fetch costs more than many blocks.
    ///
    /// `nonisolated(unsafe)`: the algorithm is immutable, and any number of contexts may use it.
    nonisolated(unsafe) private static let algorithm = EVP_CIPHER_fetch(nil, "AES-128-ECB", nil)

    private let context: OpaquePointer

    init(_ key: [UInt8], encrypts: Bool) {
        guard let algorithm = Self.algorithm, let context = EVP_CIPHER_CTX_new()
        else { preconditionFailure("libcrypto has no AES-128 or no memory is left") }
        self.context = context
        Self.check(EVP_CipherInit_ex2(context, algorithm, key, nil, encrypts ? 1 : 0, nil))
        // Otherwise a decrypted block would be held back until the next one.
        Self.check(EVP_CIPHER_CTX_set_padding(context, 0))
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    func transform(_ block: AES128.Block) -> AES128.Block {
        var words = (block.high.bigEndian, block.low.bigEndian)
        var count: Int32 = 0
        withUnsafeMutableBytes(of: &words) { bytes in
            let bytes = bytes.assumingMemoryBound(to: UInt8.self)
            Self.check(
                EVP_CipherUpdate(
                    context, bytes.baseAddress, &count, bytes.baseAddress, Int32(bytes.count)))
        }
        precondition(count == 16, "libcrypto held a block back")
        return AES128.Block(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1))
    }

    private static func check(_ result: Int32) {
        precondition(result == 1, "libcrypto refused to encrypt or decrypt a block")
    }
}
