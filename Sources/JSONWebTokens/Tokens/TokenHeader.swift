import RelayJSON

/// What a token says about how it is signed (RFC 7515 §4).
///
/// Keys that it brings along or points to (`jwk`, `x5c`, `jku`, `x5u`) are not looked at: who makes a token would choose
/// the key that it is checked with (RFC 8725 §3.10).
struct TokenHeader {
    let algorithm: TokenAlgorithm
    /// `kid`.
    let keyID: String?

    /// RFC 7519 §5.1, RFC 9068 §2.1. Other kinds of tokens that the same issuer signs (for logging out, say) have
    /// other types, and must not be taken for these (RFC 8725 §3.11, §3.12). In lower case.
    private static let types = ["jwt", "at+jwt"]

    init(_ text: UnsafeBufferPointer<UInt8>) throws(TokenError) {
        let members = try SignedToken.object(text, .header)
        guard let algorithm = members["alg"] else { throw .missing(.header, name: "alg") }
        guard let name = algorithm.string else { throw .malformed(.header, name: "alg") }
        guard name.lowercased() != "none" else { throw .unsigned }
        guard let algorithm = TokenAlgorithm.allCases.first(where: { $0.rawValue.isSame(as: name) })
        else { throw .unknownAlgorithm(name) }
        self.algorithm = algorithm

        // RFC 7515 §4.1.11: whatever it lists must be understood, and nothing that it may list is.
        if let critical = members["crit"] {
            throw .critical(critical.array?.compactMap(\.string) ?? [])
        }
        if let type = members["typ"] { try Self.check(type) }
        if let id = members["kid"] {
            guard let id = id.string else { throw .malformed(.header, name: "kid") }
            keyID = id
        } else {
            keyID = nil
        }
    }

    /// RFC 7515 §4.1.9: "application/" may be left out, and the case of letters means nothing.
    private static func check(_ type: JSONValue) throws(TokenError) {
        guard let type = type.string else { throw .malformed(.header, name: "typ") }
        let name = type.lowercased()
        let prefix = "application/"
        guard types.contains(name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name)
        else { throw .otherType(type) }
    }
}
