import GraphQLExecution
import HTTPMessages
import JSONWebTokens
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import WebSocketIO

/// Who a client is, by what it shows. Without anything configured all are let in, and all may do everything.
struct Authentication: Sendable {
    /// What is known of who asks.
    enum Decision: Sendable, Hashable {
        /// No token was given. A WebSocket client may still give one in connection_init; then ``orNobody(_:mayBeNobody:)``.
        case undecided
        /// - Parameter until: microseconds since 1970; nil: as long as it likes.
        case admitted(Identity, until: Int64? = nil)
        case refused
    }

    /// The message for clients without a valid token.
    static let refusal = "A valid token is needed: \"authorization: Bearer TOKEN\"."

    /// Part of every 401 response: RFC 9110 §15.5.2.
    static let challenge: HTTPHeaders = ["www-authenticate": "Bearer"]

    /// The same, on paths that do not speak GraphQL.
    static var refusalResponse: HTTPResponse {
        var response = HTTPResponse(status: 401, text: refusal)
        response.headers.append(challenge)
        return response
    }

    /// The program's own way to say who a client is; nil: it does not know.
    /// - Parameter payload: of connection_init or a ping.
    typealias Hook =
        @Sendable (_ headers: [String: String], _ payload: VariableData?) throws -> Viewer?

    private let tokens: [(bytes: [UInt8], identity: Identity)]
    private let verifier: TokenVerifier?
    private let hook: Hook?
    /// Whoever shows no token is let in, without a viewer: there are rules for what everyone may see.
    private let admitsNobody: Bool
    private let onRefusal: @Sendable (any Error) -> Void
    /// The claims that rules look at.
    private var claims: Set<String> = []

    /// - Parameters:
    ///   - tokens: those without a name.
    ///   - viewers: those of viewers.
    ///   - hook: is asked about every other client.
    ///   - verifier: looks at the tokens of those whom the hook does not know.
    ///   - onRefusal: hears why the verifier has refused one.
    init(
        tokens: [String], viewers: [Server.ViewerToken] = [], verifier: TokenVerifier? = nil,
        hook: Hook? = nil,
        onRefusal: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.verifier = verifier
        self.hook = hook
        self.onRefusal = onRefusal
        self.tokens =
            tokens.map { (Array($0.utf8), .unrestricted) }
            + viewers.map { (Array($0.token.utf8), .viewer(Viewer(id: $0.viewer))) }
        admitsNobody = !viewers.isEmpty || verifier != nil || hook != nil
    }

    /// Forgets other claims than these, so that tokens that differ in others are as good as equal.
    /// - Parameter claims: those that rules look at.
    func keeping(claims: Set<String>) -> Authentication {
        var kept = self
        kept.claims = claims
        return kept
    }

    /// No token is needed, and none is looked at.
    var isOpen: Bool { tokens.isEmpty && verifier == nil && hook == nil }

    /// Whether the headers of a handshake matter later on.
    var looksAtHandshakes: Bool { hook != nil }

    /// What becomes of a client that has had its chance to show a token.
    /// - Parameter mayBeNobody: what ``HostPolicy`` says of those without a token.
    func orNobody(_ decision: Decision, mayBeNobody: Bool) -> Decision {
        guard case .undecided = decision else { return decision }
        return admitsNobody && mayBeNobody ? .admitted(.nobody) : .refused
    }

    /// Whether JSON Web Tokens are accepted as soon as there are keys.
    var isWithoutKeys: Bool { verifier.map { !$0.hasKeys } ?? false }

    /// Looks at `Authorization: Bearer T` of an HTTP request or a handshake.
    func decide(headers: HTTPHeaders) -> Decision {
        if isOpen { return .admitted(.unrestricted) }
        return decide(headers["authorization"].map(Shown.init(header:)), headers, nil)
    }

    /// Looks at connection_init's payload, or a ping's: `{"token": T}` or `{"authorization": "Bearer T"}`.
    /// - Parameter handshake: its headers, if they matter (``looksAtHandshakes``).
    func decide(payload: JSONObject?, handshake: HTTPHeaders) -> Decision {
        if isOpen { return .admitted(.unrestricted) }
        let names = ["authorization", "Authorization"]
        let shown =
            payload?["token"]?.string.map(Shown.token)
            ?? names.lazy.compactMap { payload?[$0]?.string }.first.map(Shown.init(header:))
        return decide(shown, handshake, payload)
    }

    /// What a client has shown.
    private enum Shown {
        case token(String)
        /// A header that is not `Bearer TOKEN`.
        case unreadable

        init(header: String) {
            let parts = header.split(separator: " ", maxSplits: 1)
            self =
                parts.count == 2 && parts[0].lowercased() == "bearer"
                ? .token(String(parts[1])) : .unreadable
        }
    }

    private func decide(
        _ shown: Shown?, _ headers: HTTPHeaders, _ payload: JSONObject?
    ) -> Decision {
        if case .token(let token) = shown, let identity = known(token) {
            return .admitted(identity)
        }
        do {
            if let hook, let viewer = try hook(headers.byName, payload.map(VariableData.init)) {
                // Without a name it would be the same as nobody.
                guard !viewer.id.isEmpty else { return .refused }
                return admit(viewer)
            }
            switch shown {
            case nil: return .undecided
            case .unreadable?: return .refused
            case .token(let text)?:
                guard let token = try verifier?.viewer(of: text) else { return .refused }
                return admit(
                    Viewer(
                        id: token.viewer, claimValues: token.claims, expiresAt: token.expiresAt))
            }
        } catch {
            onRefusal(error)
            return .refused
        }
    }

    private func admit(_ viewer: Viewer) -> Decision {
        if let end = viewer.expiresAt, end <= WallClock.microseconds() { return .refused }
        return .admitted(
            Identity.viewer(viewer).keeping(claims: claims), until: viewer.expiresAt)
    }

    private func known(_ token: String) -> Identity? {
        let given = Array(token.utf8)
        // All of them are compared, so that the time reveals nothing about which one came close.
        var found: Identity?
        for (token, identity) in tokens where Self.equalInConstantTime(token, given) {
            found = found ?? identity
        }
        return found
    }

    /// Equality in a time that depends on the length of what was given alone.
    static func equalInConstantTime(_ secret: [UInt8], _ given: [UInt8]) -> Bool {
        var difference: UInt8 = secret.count == given.count ? 0 : 1
        for (index, byte) in given.enumerated() {
            difference |= byte ^ (index < secret.count ? secret[index] : 0)
        }
        return difference == 0
    }
}

extension HTTPHeaders {
    /// The values by the names, in lower case; several of one name as HTTP joins them (RFC 9110 §5.3).
    fileprivate var byName: [String: String] {
        Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
    }
}
