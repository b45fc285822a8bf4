import RelayJSON

/// The keys that tokens may be signed with, parsed and checked once.
package struct KeySet: Sendable {
    package let keys: [VerificationKey]
    /// Keys that are not used, each with its reason. RFC 7517 §5: what is not understood is passed over.
    package let skipped: [SkippedKey]

    package static let byteLimit = 1_048_576
    static let countLimit = 100
    /// How many keys are tried for one token.
    static let triedLimit = 8

    /// Reads a JWK Set (RFC 7517 §5), one JWK, or PEM with any number of public keys and certificates.
    ///
    /// For example `{"keys": [{"kty": "oct", "kid": "2024", "k": "…"}]}`.
    /// A certificate is only what its key comes in: neither its dates nor who issued it are looked at.
    ///
    /// - Parameters:
    ///   - arePublic: others can read this, too. Then no secret is used: everybody could sign with it.
    ///   - mayBeEmpty: a JWK Set without keys says that there are none any more. A file or an answer that is empty says
    ///     nothing.
    package init(
        parsing bytes: [UInt8], arePublic: Bool = false, mayBeEmpty: Bool = false
    ) throws(KeySetError) {
        guard bytes.count <= Self.byteLimit else { throw .tooLarge(bytes: bytes.count) }
        let parsed: [ParsedKey]
        var isEmptySet = false
        switch bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
        case UInt8(ascii: "{")?:
            parsed = try JWKReader.keys(in: bytes)
            isEmptySet = parsed.isEmpty
        case UInt8(ascii: "[")?: throw .unknownForm
        default: parsed = try PEMReader.keys(in: bytes)
        }
        var keys: [VerificationKey] = []
        var skipped: [SkippedKey] = []
        for (index, key) in parsed.enumerated() {
            switch key.result {
            case .success(let secret) where arePublic && secret.algorithm == .hs256:
                skipped.append(
                    SkippedKey(place: index + 1, id: key.id, reason: .publishedSecret))
            case .success(let key): keys.append(key)
            case .failure(let reason):
                skipped.append(SkippedKey(place: index + 1, id: key.id, reason: reason))
            }
        }
        guard !keys.isEmpty || (isEmptySet && mayBeEmpty) else { throw .noneUsable(skipped) }
        self.keys = keys
        self.skipped = skipped
    }

    /// For a time when there are no keys yet: every token is refused.
    package static let none = KeySet()

    package var isEmpty: Bool { keys.isEmpty }

    private init() {
        keys = []
        skipped = []
    }

    /// The keys that a token may be signed with.
    ///
    /// `kid` is a hint (RFC 7515 §4.1.4): keys without an id, as all from PEM are, answer to any. The algorithm is
    /// none: only keys of the token's algorithm are ever tried.
    func candidates(
        for algorithm: TokenAlgorithm, id: String?
    ) throws(TokenError) -> [VerificationKey] {
        if isEmpty { throw .noKeys }
        var named = keys
        if let id {
            named = keys.filter { $0.id?.isSame(as: id) ?? false }
            if named.isEmpty { named = keys.filter { $0.id == nil } }
            if named.isEmpty { throw .unknownKey(id: id) }
        }
        let candidates = named.filter { $0.algorithm == algorithm }
        if candidates.isEmpty {
            throw .otherAlgorithm(algorithm, ofKeys: Set(named.map(\.algorithm)))
        }
        guard candidates.count <= Self.triedLimit else {
            throw .tooManyKeys(algorithm, count: candidates.count)
        }
        return candidates
    }
}

/// A key as it was read, or why it was not.
struct ParsedKey {
    var id: String?
    var result: Result<VerificationKey, KeyRefusal>

    init(id: String?, _ make: () throws(KeyRefusal) -> VerificationKey) {
        self.id = id
        do throws(KeyRefusal) { result = .success(try make()) } catch { result = .failure(error) }
    }
}
