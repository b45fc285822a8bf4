import CCrypto

/// A shared secret for HMAC with SHA-256 (RFC 2104), ready to use.
final class HMACKey: @unchecked Sendable {
    // Unchecked: the context is complete when `init` returns. Later it is only copied, which only reads it.

    static let byteCount = 32
    private let context: OpaquePointer

    /// - Returns: nil if libcrypto refuses.
    init?(secret: [UInt8]) {
        let made = callingLibcrypto { () -> OpaquePointer? in
            guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
            defer { EVP_MAC_free(algorithm) }
            guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
            var digest = Array("SHA256".utf8CString)
            let result = digest.withUnsafeMutableBufferPointer { digest in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(
                        PermanentText.digest.address, digest.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, secret, secret.count, parameters)
            }
            if result == 1 { return context }
            EVP_MAC_CTX_free(context)
            return nil
        }
        guard let made else { return nil }
        context = made
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// Compares in a time that does not depend on how much is right.
    func verifies(_ code: [UInt8], of message: UnsafeBufferPointer<UInt8>) -> Bool {
        guard code.count == Self.byteCount else { return false }
        return callingLibcrypto {
            guard let copy = EVP_MAC_CTX_dup(context) else { return false }
            defer { EVP_MAC_CTX_free(copy) }
            guard EVP_MAC_update(copy, message.baseAddress, message.count) == 1 else {
                return false
            }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.byteCount) {
                var count = 0
                guard EVP_MAC_final(copy, $0.baseAddress, &count, $0.count) == 1,
                    count == Self.byteCount
                else { return false }
                return CRYPTO_memcmp($0.baseAddress, code, Self.byteCount) == 0
            }
        }
    }
}
