package import RelayJSON

/// Why a key is not used.
package enum KeyRefusal: Error, Hashable, Sendable {
    case notAnObject
    /// `kty`; nil if there is none.
    case unknownKind(String?)
    /// `crv`, or the name that libcrypto has for it.
    case otherCurve(String?)
    /// `alg` says something that this kind of key is not used for here.
    case otherAlgorithm(String)
    /// `use` is not `sig`, or `key_ops` has no `verify`.
    case notForVerifying
    case missing(member: String)
    case malformed(member: String)
    case shortSecret(bytes: Int)
    case longSecret(bytes: Int)
    case shortModulus(bits: Int)
    case longModulus(bits: Int)
    case badExponent
    case unsoundModulus
    case notOnCurve
    /// One of the points of Ed25519 for which everybody can sign.
    case smallOrder
    /// Who only checks tokens has no use for it, and it can be stolen here.
    case privateKey
    /// A secret that others can read, and sign with.
    case publishedSecret
    /// A block of PEM with this label.
    case otherBlock(String)
    /// What is in a block of PEM is not what its label says.
    case brokenBlock(String)
}

/// A key of a file that is not used.
package struct SkippedKey: Hashable, Sendable, CustomStringConvertible {
    /// The first one has place 1.
    package let place: Int
    package let id: String?
    package let reason: KeyRefusal

    package var description: String {
        let name = id.map { " (\(quoted($0)))" } ?? ""
        return "Key \(place)\(name) is not used: \(reason)."
    }
}

/// Why there are no keys.
package enum KeySetError: Error, Hashable, Sendable {
    case tooLarge(bytes: Int)
    case invalidJSON(JSONError)
    case duplicateMember(String)
    /// Neither a JWK Set, nor a JWK, nor PEM.
    case unknownForm
    case brokenPEM(place: Int)
    case tooMany(Int)
    /// There are keys, or none, and none is of use.
    case noneUsable([SkippedKey])
}
