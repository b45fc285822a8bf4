/// A key that checks tokens of one algorithm, and of no other.
///
/// What kind of key it is decides the algorithm, never the token: otherwise a public key, which everybody knows, could
/// be taken for the secret of an HMAC (RFC 8725 §2.1, §3.1).
package struct VerificationKey: Sendable {
    /// The `kid` (RFC 7517 §4.5). Keys from PEM have none.
    package let id: String?
    package let algorithm: TokenAlgorithm
    private let material: Material

    private enum Material {
        case secret(HMACKey)
        case publicKey(PublicKey)
    }

    /// RFC 7518 §3.2: at least as long as the hash.
    static let secretBytes = 32...4_096

    static func hmac(id: String?, secret: [UInt8]) throws(KeyRefusal) -> VerificationKey {
        guard secret.count >= secretBytes.lowerBound else {
            throw .shortSecret(bytes: secret.count)
        }
        guard secret.count <= secretBytes.upperBound, let key = HMACKey(secret: secret) else {
            throw .longSecret(bytes: secret.count)
        }
        return VerificationKey(id: id, algorithm: .hs256, material: .secret(key))
    }

    static func rsa(
        id: String?, modulus: [UInt8], exponent: [UInt8]
    ) throws(KeyRefusal) -> VerificationKey {
        let key = try PublicKey.rsa(modulus: modulus, exponent: exponent)
        return VerificationKey(id: id, algorithm: .rs256, material: .publicKey(key))
    }

    static func p256(id: String?, point: [UInt8]) throws(KeyRefusal) -> VerificationKey {
        let key = try PublicKey.p256(point: point)
        return VerificationKey(id: id, algorithm: .es256, material: .publicKey(key))
    }

    static func ed25519(id: String?, point: [UInt8]) throws(KeyRefusal) -> VerificationKey {
        let key = try PublicKey.ed25519(point: point)
        return VerificationKey(id: id, algorithm: .edDSA, material: .publicKey(key))
    }

    /// - Parameter signature: as it is in a token (RFC 7518 §3.2 to 3.4, RFC 8037 §3.1).
    func verifies(_ signature: [UInt8], of message: UnsafeBufferPointer<UInt8>) -> Bool {
        switch material {
        case .secret(let key):
            return key.verifies(signature, of: message)
        case .publicKey(let key) where algorithm == .es256:
            guard let signature = ECDSASignature.der(signature) else { return false }
            return key.verifies(signature, of: message)
        case .publicKey(let key):
            return key.verifies(signature, of: message)
        }
    }
}
