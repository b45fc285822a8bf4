import RelayJSON

/// `CLIENT:N`: a client's name for one of its mutations; N increases each time.
package struct MutationID: Hashable, Sendable, CustomStringConvertible {
    package let client: String
    package let number: UInt64

    package init(client: String, number: UInt64) {
        self.client = client
        self.number = number
    }

    /// Parses `CLIENT:N`; the client's name may contain colons. nil if the text does not have that form: N
    /// has one spelling, digits without a sign or leading zeros.
    package init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), colon > text.startIndex,
            case let digits = text[text.utf8.index(after: colon)...],
            let number = UInt64(digits), String(number) == digits
        else { return nil }
        self.init(client: String(text[..<colon]), number: number)
    }

    package var description: String { "\(client):\(number)" }

    /// Names are equal when their bytes are (`ExactText`).
    package static func == (left: MutationID, right: MutationID) -> Bool {
        left.number == right.number && left.client.isSame(as: right.client)
    }

    package func hash(into hasher: inout Hasher) {
        client.hashBytes(into: &hasher)
        hasher.combine(number)
    }
}

/// The owner of a series of numbers: two viewers may use the same client name without conflict.
package struct MutationScope: Hashable, Sendable {
    /// nil for the unnamed viewer: everyone, if viewers are not distinguished.
    package let viewer: String?
    package let client: String

    package init(viewer: String?, client: String) {
        self.viewer = viewer
        self.client = client
    }

    /// Names are equal when their bytes are (`ExactText`).
    package static func == (left: MutationScope, right: MutationScope) -> Bool {
        switch (left.viewer, right.viewer) {
        case (nil, nil): left.client.isSame(as: right.client)
        case (let viewer?, let other?):
            viewer.isSame(as: other) && left.client.isSame(as: right.client)
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(viewer.map { ExactText($0) })
        client.hashBytes(into: &hasher)
    }

    /// Ordered by the bytes of the names; the unnamed viewer comes first.
    package func precedes(_ other: MutationScope) -> Bool {
        switch (viewer, other.viewer) {
        case (nil, nil): break
        case (nil, _): return true
        case (_, nil): return false
        case (let viewer?, let other?):
            if !viewer.isSame(as: other) {
                return viewer.utf8.lexicographicallyPrecedes(other.utf8)
            }
        }
        return client.utf8.lexicographicallyPrecedes(other.client.utf8)
    }
}

/// What a mutation asked for, as a hash of its root fields and their coerced arguments: tells a repeat
/// from another mutation with the same id. And whom its answer was made for, besides the viewer.
package struct MutationFingerprint: Hashable, Sendable {
    /// The number of bytes of each of its hashes.
    package static let size = 16

    private struct Hash: Hashable {
        let high: UInt64
        let low: UInt64
    }

    private let asked: Hash
    private var claims: Hash?

    /// - Parameters:
    ///   - bytes: the hash of what it asked for.
    ///   - claims: the hash of the viewer's claims that rules look at; empty if there are none.
    /// - Returns: nil unless there are ``size`` bytes of each.
    package init?(_ bytes: some Collection<UInt8>, claims: [UInt8] = []) {
        guard let asked = Self.hash(bytes) else { return nil }
        self.asked = asked
        if claims.isEmpty { return }
        guard let hash = Self.hash(claims) else { return nil }
        self.claims = hash
    }

    /// Reads ``bytes``.
    package init?(joined bytes: [UInt8]) {
        self.init(bytes.prefix(Self.size), claims: Array(bytes.dropFirst(Self.size)))
    }

    private static func hash(_ bytes: some Collection<UInt8>) -> Hash? {
        guard bytes.count == size else { return nil }
        return Hash(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// Whether both ask for the same.
    package func asksTheSame(as other: MutationFingerprint) -> Bool { asked == other.asked }

    /// Whether an answer to one is one to the other, who asks with the same claims.
    package func hasSameClaims(as other: MutationFingerprint) -> Bool { claims == other.claims }

    package var askedBytes: [UInt8] { Self.bytes(of: asked) }

    /// Empty if there are no claims.
    package var claimBytes: [UInt8] { claims.map(Self.bytes) ?? [] }

    /// Both hashes, one after the other.
    package var bytes: [UInt8] { askedBytes + claimBytes }

    private static func bytes(of hash: Hash) -> [UInt8] {
        [hash.high, hash.low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
        }
    }
}
