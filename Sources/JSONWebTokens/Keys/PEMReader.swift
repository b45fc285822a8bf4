import CCrypto

/// Reads public keys and certificates in PEM (RFC 7468 §5, §13). Text between the blocks is passed over.
enum PEMReader {
    static func keys(in bytes: [UInt8]) throws(KeySetError) -> [ParsedKey] {
        let result = callingLibcrypto { () -> Result<[ParsedKey], KeySetError> in
            bytes.withUnsafeBytes { buffer in
                guard let source = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else {
                    return .failure(.unknownForm)
                }
                defer { BIO_free(source) }
                return keys(from: source)
            }
        }
        return try result.get()
    }

    private static func keys(from source: OpaquePointer) -> Result<[ParsedKey], KeySetError> {
        var keys: [ParsedKey] = []
        while true {
            var (label, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
            var content: UnsafeMutablePointer<UInt8>?
            var count = 0
            guard PEM_read_bio(source, &label, &header, &content, &count) == 1, let label else {
                // "No start line" is how the end looks.
                guard ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
                    return .failure(.brokenPEM(place: keys.count + 1))
                }
                return keys.isEmpty ? .failure(.unknownForm) : .success(keys)
            }
            defer {
                CRYPTO_free(label, nil, 0)
                CRYPTO_free(header, nil, 0)
                CRYPTO_free(content, nil, 0)
            }
            guard keys.count < KeySet.countLimit else { return .failure(.tooMany(keys.count + 1)) }
            let name = String(cString: label)
            let block = UnsafeBufferPointer(start: content, count: count)
            keys.append(ParsedKey(id: nil) { () throws(KeyRefusal) in try key(name, block) })
        }
    }

    private static func key(
        _ label: String, _ block: UnsafeBufferPointer<UInt8>
    ) throws(KeyRefusal) -> VerificationKey {
        guard !label.hasSuffix("PRIVATE KEY") else { throw .privateKey }
        guard let read = readers[label] else { throw .otherBlock(label) }
        guard let key = read(block) else { throw .brokenBlock(label) }
        defer { EVP_PKEY_free(key) }
        return try PublicKeyParts.key(from: key)
    }

    /// By label: what makes a key from a block that ends where the content does.
    private static let readers: [String: @Sendable (UnsafeBufferPointer<UInt8>) -> OpaquePointer?] =
        [
            "PUBLIC KEY": { block in
                var place = block.baseAddress
                guard let key = d2i_PUBKEY(nil, &place, block.count) else { return nil }
                if place == block.baseAddress?.advanced(by: block.count) { return key }
                EVP_PKEY_free(key)
                return nil
            },
            "CERTIFICATE": { block in
                var place = block.baseAddress
                guard let certificate = d2i_X509(nil, &place, block.count) else { return nil }
                defer { X509_free(certificate) }
                guard place == block.baseAddress?.advanced(by: block.count) else { return nil }
                return X509_get_pubkey(certificate)
            },
        ]
}

/// Takes keys of libcrypto's apart, to be made anew from what counts (``PublicKey``).
private enum PublicKeyParts {
    static func key(from key: OpaquePointer) throws(KeyRefusal) -> VerificationKey {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            guard let modulus = number(OSSL_PKEY_PARAM_RSA_N, of: key),
                let exponent = number(OSSL_PKEY_PARAM_RSA_E, of: key)
            else { throw .unsoundModulus }
            return try .rsa(id: nil, modulus: modulus, exponent: exponent)
        case EVP_PKEY_EC:
            // A curve by explicit parameters has no name, unless they are exactly those of one that has.
            let curve = curve(of: key)
            guard curve == "prime256v1" else { throw .otherCurve(curve) }
            guard let x = number(OSSL_PKEY_PARAM_EC_PUB_X, of: key, count: 32),
                let y = number(OSSL_PKEY_PARAM_EC_PUB_Y, of: key, count: 32)
            else { throw .notOnCurve }
            return try .p256(id: nil, point: [4] + x + y)
        case EVP_PKEY_ED25519:
            var point = [UInt8](repeating: 0, count: 32)
            var count = point.count
            guard EVP_PKEY_get_raw_public_key(key, &point, &count) == 1, count == point.count else {
                throw .notOnCurve
            }
            return try .ed25519(id: nil, point: point)
        default:
            throw .unknownKind(EVP_PKEY_get0_type_name(key).map { String(cString: $0) })
        }
    }

    private static func curve(of key: OpaquePointer) -> String? {
        var name = [CChar](repeating: 0, count: 80)
        var count = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
        return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A number of the key, big-endian, in as many bytes as said or as it needs.
    private static func number(_ name: String, of key: OpaquePointer, count: Int? = nil) -> [UInt8]?
    {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &number) == 1 else { return nil }
        defer { BN_free(number) }
        let count = count ?? Int(BN_num_bits(number) + 7) / 8
        var bytes = [UInt8](repeating: 0, count: count)
        guard BN_bn2binpad(number, &bytes, Int32(count)) == Int32(count) else { return nil }
        return bytes
    }
}
