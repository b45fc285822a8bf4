import CCrypto

/// A reusable SHA-256 (FIPS 180-4), fed piece by piece; OpenSSL picks the CPU's instructions.
///
/// Not Sendable: one thread at a time.
package final class SHA256 {
    package static let byteCount = 32

    /// Fetched once: a fetch costs more than hashing a few hundred bytes, and takes locks of the library.
    ///
    /// `nonisolated(unsafe)`: the algorithm is immutable, and any number of contexts may use it.
    nonisolated(unsafe) private static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

    private let context: OpaquePointer
    private let algorithm: OpaquePointer

    package init() {
        guard let algorithm = Self.algorithm, let context = EVP_MD_CTX_new()
        else { preconditionFailure("libcrypto has no SHA-256 or no memory is left") }
        self.algorithm = algorithm
        self.context = context
        restart()
    }

    deinit { EVP_MD_CTX_free(context) }

    package func restart() {
        check(EVP_DigestInit_ex2(context, algorithm, nil))
    }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    package func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Writes the hash of everything since the last ``restart()``; starts over.
    /// - Parameter hash: of at least 32 bytes.
    package func finish(into hash: UnsafeMutableRawBufferPointer) {
        precondition(hash.count >= Self.byteCount)
        check(
            EVP_DigestFinal_ex(context, hash.baseAddress?.assumingMemoryBound(to: UInt8.self), nil))
        restart()
    }

    /// The 32-byte hash of everything since the last ``restart()``; starts over.
    package func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, initialized in
            finish(into: UnsafeMutableRawBufferPointer(buffer))
            initialized = Self.byteCount
        }
    }

    private func check(_ result: Int32) {
        precondition(result == 1, "libcrypto refused to compute a SHA-256")
    }
}
