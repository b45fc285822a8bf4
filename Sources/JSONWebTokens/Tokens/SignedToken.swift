import RelayJSON

/// A token taken apart: HEADER.CLAIMS.SIGNATURE (RFC 7515 §7.1). Valid as long as the memory that it was made on.
struct SignedToken {
    let header: UnsafeBufferPointer<UInt8>
    let claims: UnsafeBufferPointer<UInt8>
    /// What the signature is over: the first two, with the point between them.
    let signed: UnsafeBufferPointer<UInt8>
    private let signatureText: UnsafeBufferPointer<UInt8>

    init(_ token: UnsafeBufferPointer<UInt8>) throws(TokenError) {
        guard token.count <= TokenVerifier.byteLimit else { throw .tooLarge(bytes: token.count) }
        let point = UInt8(ascii: ".")
        guard let first = token.firstIndex(of: point), let last = token.lastIndex(of: point),
            first != last, !token[(first + 1)..<last].contains(point)
        else { throw .notThreeParts(count: token.count { $0 == point } + 1) }
        header = UnsafeBufferPointer(rebasing: token[..<first])
        claims = UnsafeBufferPointer(rebasing: token[(first + 1)..<last])
        signed = UnsafeBufferPointer(rebasing: token[..<last])
        signatureText = UnsafeBufferPointer(rebasing: token[(last + 1)...])
    }

    /// - Throws: if it is not as long as signatures of the algorithm are.
    func signature(_ algorithm: TokenAlgorithm) throws(TokenError) -> [UInt8] {
        guard let signature = Base64URL.decode(signatureText) else {
            throw .invalidBase64(.signature)
        }
        let isRight =
            switch algorithm {
            case .hs256: signature.count == HMACKey.byteCount
            // As long as the modulus, which libcrypto checks.
            case .rs256: signature.count >= PublicKey.modulusBits.lowerBound / 8
            case .es256: signature.count == ECDSASignature.byteCount
            case .edDSA: signature.count == 64
            }
        guard isRight else { throw .signatureLength(algorithm, bytes: signature.count) }
        return signature
    }

    /// The JSON object that a part of a token is.
    static func object(
        _ text: UnsafeBufferPointer<UInt8>, _ part: TokenError.Part
    ) throws(TokenError) -> JSONObject {
        guard let bytes = Base64URL.decode(text) else { throw .invalidBase64(part) }
        do { return try StrictJSON.object(bytes) } catch {
            switch error {
            case .syntax(let error): throw .invalidJSON(part, error)
            case .notAnObject: throw .notAnObject(part)
            case .duplicateMember(let name): throw .duplicateMember(part, name: name)
            }
        }
    }
}
