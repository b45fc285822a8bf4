package import RelayJSON

/// Why a token is refused, for the server's log: neither the token nor its signature is in it.
package enum TokenError: Error, Hashable, Sendable {
    package enum Part: String, Sendable, Hashable { case header, claims, signature }

    // The token.
    case tooLarge(bytes: Int)
    case notThreeParts(count: Int)
    case invalidBase64(Part)
    case invalidJSON(Part, JSONError)
    case notAnObject(Part)
    case duplicateMember(Part, name: String)
    case missing(Part, name: String)
    /// Not of the type that the name demands.
    case malformed(Part, name: String)

    // The header.
    /// `alg` is "none", in whatever letters.
    case unsigned
    case unknownAlgorithm(String)
    case critical([String])
    case otherType(String)

    // The keys and the signature.
    /// They have not been there yet.
    case noKeys
    /// No key has this id: the issuer may have new ones.
    case unknownKey(id: String)
    /// There are keys, but none of the token's algorithm.
    case otherAlgorithm(TokenAlgorithm, ofKeys: Set<TokenAlgorithm>)
    case tooManyKeys(TokenAlgorithm, count: Int)
    case signatureLength(TokenAlgorithm, bytes: Int)
    case wrongSignature(TokenAlgorithm, keyID: String?)

    // The claims. Times are in microseconds since 1970-01-01 00:00 UTC.
    case expired(at: Int64, now: Int64)
    case notYetValid(from: Int64, now: Int64)
    case issuedInFuture(at: Int64, now: Int64)
    case wrongIssuer(String)
    case wrongAudience([String])
}
