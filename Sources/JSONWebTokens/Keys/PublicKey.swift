import CCrypto

/// A public key of libcrypto's, made from its parts and checked.
///
/// Keys from PEM files are taken apart and made anew, too, so that the checks are the same and nothing else that such
/// a file may say has a meaning (curves by explicit parameters, for example: CVE-2020-0601).
final class PublicKey: @unchecked Sendable {
    // Unchecked: an EVP_PKEY is not changed after it was made, and what libcrypto caches in it, it locks.

    private let key: OpaquePointer
    private let digest: String?

    private init(_ key: OpaquePointer, digest: String?) {
        self.key = key
        self.digest = digest
    }

    deinit { EVP_PKEY_free(key) }

    /// - Parameter signature: in the form that libcrypto wants; ECDSA's in DER.
    func verifies(_ signature: [UInt8], of message: UnsafeBufferPointer<UInt8>) -> Bool {
        callingLibcrypto {
            guard let context = EVP_MD_CTX_new() else { return false }
            defer { EVP_MD_CTX_free(context) }
            // Without further parameters RSA is PKCS #1 version 1.5.
            guard EVP_DigestVerifyInit_ex(context, nil, digest, nil, nil, key, nil) == 1 else {
                return false
            }
            return EVP_DigestVerify(
                context, signature, signature.count, message.baseAddress, message.count) == 1
        }
    }
}

extension PublicKey {
    /// RFC 7518 §3.3: 2048 bits or more. Much larger ones are only good for keeping a server busy.
    static let modulusBits = 2_048...8_192

    /// - Parameters: big-endian, unsigned.
    static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(KeyRefusal) -> PublicKey {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        let bits = modulus.first.map { modulus.count * 8 - $0.leadingZeroBitCount } ?? 0
        guard bits >= modulusBits.lowerBound else { throw .shortModulus(bits: bits) }
        guard bits <= modulusBits.upperBound else { throw .longModulus(bits: bits) }
        // With an exponent of 1 everybody can sign, and an even one is none.
        guard let last = exponent.last, last & 1 == 1, exponent != [1], exponent.count <= 8 else {
            throw .badExponent
        }
        let key = callingLibcrypto { () -> OpaquePointer? in
            let n = BN_bin2bn(modulus, Int32(modulus.count), nil)
            let e = BN_bin2bn(exponent, Int32(exponent.count), nil)
            defer {
                BN_free(n)
                BN_free(e)
            }
            return make("RSA") { builder in
                OSSL_PARAM_BLD_push_BN(builder, PermanentText.modulus.address, n) == 1
                    && OSSL_PARAM_BLD_push_BN(builder, PermanentText.exponent.address, e) == 1
            }
        }
        guard let key else { throw .unsoundModulus }
        return PublicKey(key, digest: "SHA256")
    }

    /// - Parameter point: uncompressed: 4, x, y (SEC 1 §2.3.3).
    static func p256(point: [UInt8]) throws(KeyRefusal) -> PublicKey {
        guard point.count == 65, point.first == 4 else { throw .notOnCurve }
        let key = callingLibcrypto {
            // The builder copies the point only when it is done.
            point.withUnsafeBytes { point in
                make("EC") { builder in
                    OSSL_PARAM_BLD_push_utf8_string(
                        builder, PermanentText.group.address, PermanentText.p256.address, 0) == 1
                        && OSSL_PARAM_BLD_push_octet_string(
                            builder, PermanentText.point.address, point.baseAddress, point.count)
                            == 1
                }
            }
        }
        guard let key else { throw .notOnCurve }
        return PublicKey(key, digest: "SHA256")
    }

    /// - Parameter point: 32 bytes (RFC 8032 §5.1.2).
    static func ed25519(point: [UInt8]) throws(KeyRefusal) -> PublicKey {
        guard try Ed25519Point.isSound(point) else { throw .notOnCurve }
        let key = callingLibcrypto {
            EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, point, point.count)
        }
        guard let key else { throw .notOnCurve }
        return PublicKey(key, digest: nil)
    }

    /// A key of a kind; nil if libcrypto finds it unsound (`EVP_PKEY_public_check`: SP 800-56A and 800-56B).
    private static func make(_ kind: String, _ push: (OpaquePointer) -> Bool) -> OpaquePointer? {
        guard let builder = OSSL_PARAM_BLD_new() else { return nil }
        defer { OSSL_PARAM_BLD_free(builder) }
        guard push(builder), let parameters = OSSL_PARAM_BLD_to_param(builder) else { return nil }
        defer { OSSL_PARAM_free(parameters) }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1,
            EVP_PKEY_fromdata(context, &key, publicKeySelection, parameters) == 1, let key
        else { return nil }
        if isSound(key) { return key }
        EVP_PKEY_free(key)
        return nil
    }

    private static func isSound(_ key: OpaquePointer) -> Bool {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_public_check(context) == 1
    }

    /// `EVP_PKEY_PUBLIC_KEY`, a macro that Swift does not import.
    private static let publicKeySelection =
        OSSL_KEYMGMT_SELECT_PUBLIC_KEY | OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS
        | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS
}
