import CCrypto
import JSONWebTokens
import RelayJSON

/// A key that signs tokens, new in each run. Written anew on libcrypto; shares no code with the room.
final class Signer: @unchecked Sendable {
    // Unchecked: nothing is changed after `init`.

    let algorithm: TokenAlgorithm
    let id: String
    /// Of HS256.
    let secret: [UInt8]
    private let key: OpaquePointer?

    static let hs256 = Signer(.hs256, id: "hs")
    static let rs256 = Signer(.rs256, id: "rs")
    static let es256 = Signer(.es256, id: "es")
    static let edDSA = Signer(.edDSA, id: "ed")
    static let all = [hs256, rs256, es256, edDSA]

    init(_ algorithm: TokenAlgorithm, id: String, rsaBits: Int32 = 2_048, curve: String = "P-256") {
        self.algorithm = algorithm
        self.id = id
        secret = algorithm == .hs256 ? (0..<40).map { _ in UInt8.random(in: 0...255) } : []
        let kind: String? =
            switch algorithm {
            case .hs256: nil
            case .rs256: "RSA"
            case .es256: "EC"
            case .edDSA: "ED25519"
            }
        guard let kind, let context = EVP_PKEY_CTX_new_from_name(nil, kind, nil) else {
            key = nil
            return
        }
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        if algorithm == .rs256 { EVP_PKEY_CTX_set_rsa_keygen_bits(context, rsaBits) }
        if algorithm == .es256 { EVP_PKEY_CTX_set_group_name(context, curve) }
        var key: OpaquePointer?
        precondition(EVP_PKEY_generate(context, &key) == 1, "no key for \(algorithm)")
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    // MARK: Signing

    /// - Parameter header: nil: `alg` and `kid`.
    func token(_ claims: String, header: String? = nil) -> String {
        let header = header ?? #"{"alg":"\#(algorithm.rawValue)","kid":"\#(id)"}"#
        let signed = base64URL(header.utf8) + "." + base64URL(claims.utf8)
        return signed + "." + base64URL(signature(of: signed))
    }

    func token(_ claims: JSONValue, header: String? = nil) -> String {
        token(claims.text, header: header)
    }

    func signature(of text: String) -> [UInt8] {
        let message = Array(text.utf8)
        if algorithm == .hs256 { return hmac(secret, message) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let digest = algorithm == .edDSA ? nil : "SHA256"
        EVP_DigestSignInit_ex(context, nil, digest, nil, nil, key, nil)
        var signature = [UInt8](repeating: 0, count: 1_024)
        var count = signature.count
        precondition(
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1, "signed")
        signature.removeLast(signature.count - count)
        return algorithm == .es256 ? Self.raw(signature) : signature
    }

    /// r and s, 32 bytes each (more on larger curves), from DER.
    private static func raw(_ der: [UInt8]) -> [UInt8] {
        der.withUnsafeBufferPointer { der in
            var place = der.baseAddress
            let pair = d2i_ECDSA_SIG(nil, &place, der.count)
            defer { ECDSA_SIG_free(pair) }
            return [ECDSA_SIG_get0_r(pair), ECDSA_SIG_get0_s(pair)].flatMap { number in
                var bytes = [UInt8](repeating: 0, count: max(32, Int(BN_num_bits(number) + 7) / 8))
                BN_bn2binpad(number, &bytes, Int32(bytes.count))
                return bytes
            }
        }
    }

    // MARK: Its public half

    var jwk: JSONValue {
        var members: JSONObject = ["kid": .string(id)]
        switch algorithm {
        case .hs256:
            members["kty"] = "oct"
            members["k"] = .string(base64URL(secret))
        case .rs256:
            members["kty"] = "RSA"
            members["n"] = .string(base64URL(number("n")))
            members["e"] = .string(base64URL(number("e")))
        case .es256:
            members["kty"] = "EC"
            members["crv"] = "P-256"
            members["x"] = .string(base64URL(number("qx", count: 32)))
            members["y"] = .string(base64URL(number("qy", count: 32)))
        case .edDSA:
            var point = [UInt8](repeating: 0, count: 32)
            var count = 32
            EVP_PKEY_get_raw_public_key(key, &point, &count)
            members["kty"] = "OKP"
            members["crv"] = "Ed25519"
            members["x"] = .string(base64URL(point))
        }
        return .object(members)
    }

    func number(_ name: String, count: Int? = nil) -> [UInt8] {
        var number: OpaquePointer?
        precondition(EVP_PKEY_get_bn_param(key, name, &number) == 1, "\(name) of \(algorithm)")
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: count ?? Int(BN_num_bits(number) + 7) / 8)
        BN_bn2binpad(number, &bytes, Int32(bytes.count))
        return bytes
    }

    var publicPEM: String { pem { PEM_write_bio_PUBKEY($0, key) } }

    var privatePEM: String {
        pem { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    private func pem(_ write: (OpaquePointer?) -> Int32) -> String {
        let memory = BIO_new(BIO_s_mem())
        defer { BIO_free(memory) }
        precondition(write(memory) == 1, "written")
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(memory, &bytes, Int32(bytes.count))
        return String(decoding: bytes.prefix(Int(count)), as: UTF8.self)
    }
}

func hmac(_ secret: [UInt8], _ message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var count = 0
    let made = EVP_Q_mac(
        nil, "HMAC", nil, "SHA256", nil, secret, secret.count, message, message.count, &code,
        code.count, &count)
    precondition(made != nil && count == 32, "computed")
    return code
}

let base64URLAlphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    var (bits, bitCount) = (0, 0)
    for byte in bytes {
        bits = bits << 8 | Int(byte)
        bitCount += 8
        while bitCount >= 6 {
            bitCount -= 6
            text.append(base64URLAlphabet[bits >> bitCount & 63])
        }
        bits &= 1 << bitCount - 1
    }
    if bitCount > 0 { text.append(base64URLAlphabet[bits << (6 - bitCount) & 63]) }
    return String(decoding: text, as: UTF8.self)
}
