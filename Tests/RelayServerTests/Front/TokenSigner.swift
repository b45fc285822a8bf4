import CCrypto
import Foundation
import RelayJSON
@_spi(Rooms) import RelayRecords

@testable import RelayServer

/// An issuer's key, new in each run: Ed25519, so that others may know its public half.
final class TokenSigner: @unchecked Sendable {
    // Unchecked: nothing is changed after `init`.

    let id: String
    private let key: OpaquePointer?

    init(_ id: String) {
        self.id = id
        let context = EVP_PKEY_CTX_new_from_name(nil, "ED25519", nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        var key: OpaquePointer?
        precondition(EVP_PKEY_generate(context, &key) == 1, "there is no key")
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    var jwk: JSONValue {
        var point = [UInt8](repeating: 0, count: 32)
        var count = 32
        EVP_PKEY_get_raw_public_key(key, &point, &count)
        return [
            "kty": "OKP", "crv": "Ed25519", "kid": .string(id), "x": .string(Self.base64(point)),
        ]
    }

    /// A token that is good for ten minutes.
    /// - Parameter keyID: another than the key's own.
    func token(_ viewer: String, keyID: String? = nil) -> String {
        let time = WallClock.microseconds() / 1_000_000 + 600
        let claims: JSONValue = ["sub": .string(viewer), "exp": .int(time)]
        let header: JSONValue = ["alg": "EdDSA", "kid": .string(keyID ?? id)]
        let signed = Self.base64(header.text.utf8) + "." + Self.base64(claims.text.utf8)
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        EVP_DigestSignInit(context, nil, nil, nil, key)
        let bytes = Array(signed.utf8)
        precondition(EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1, "signed")
        return signed + "." + Self.base64(signature)
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
