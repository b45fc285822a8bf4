import GraphQLExecution
import HTTPMessages
import JSONWebTokens
import RelayJSON
import WebSocketIO

/// Who a client is, by what it shows. Without anything configured all are let in, and all may do everything.
struct Authentication: Sendable {
    /// What is known of who asks.
    enum Decision: Sendable, Hashable {
        /// No token was given. A WebSocket client may still give one in connection_init; then ``orNobody(_:)``.
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

    private let tokens: [(bytes: [UInt8], identity: Identity)]
    private let verifier: TokenVerifier?
    /// Whoever shows no token is let in, without a viewer: there are rules for what everyone may see.
    private let admitsNobody: Bool
    private let onRefusal: @Sendable (TokenError) -> Void
    /// The claims that rules look at; nil: all that are about the viewer.
    private var claims: Set<String>?

    /// - Parameters:
    ///   - tokens: those without a name.
    ///   - viewers: those of viewers.
    ///   - verifier: looks at every other token.
    ///   - onRefusal: hears why the verifier has refused one.
    init(
        tokens: [String], viewers: [Server.ViewerToken] = [], verifier: TokenVerifier? = nil,
        onRefusal: @escaping @Sendable (TokenError) -> Void = { _ in }
    ) {
        self.verifier = verifier
        self.onRefusal = onRefusal
        self.tokens =
            tokens.map { (Array($0.utf8), .unrestricted) }
            + viewers.map { (Array($0.token.utf8), .viewer(Viewer(id: $0.viewer))) }
        admitsNobody = !viewers.isEmpty || verifier != nil
    }

    /// Forgets other claims than these, so that tokens that differ in others are as good as equal.
    /// - Parameter claims: those that rules look at; nil: all that are about the viewer.
    func keeping(claims: Set<String>?) -> Authentication {
        var kept = self
        kept.claims = claims
        return kept
    }

    /// No token is needed, and none is looked at.
    var isOpen: Bool { tokens.isEmpty && verifier == nil }

    /// What becomes of a client that has had its chance to show a token.
    func orNobody(_ decision: Decision) -> Decision {
        guard case .undecided = decision else { return decision }
        return admitsNobody ? .admitted(.nobody) : .refused
    }

    /// Looks at `Authorization: Bearer T` of an HTTP request or a handshake.
    func decide(headers: HTTPHeaders) -> Decision {
        if isOpen { return .admitted(.unrestricted) }
        guard let header = headers["authorization"] else { return .undecided }
        return decide(authorization: header)
    }

    /// Looks at connection_init's payload, or a ping's: `{"token": T}` or `{"authorization": "Bearer T"}`.
    func decide(payload: JSONObject?) -> Decision {
        if isOpen { return .admitted(.unrestricted) }
        if let token = payload?["token"]?.string { return decide(token: token) }
        for name in ["authorization", "Authorization"] {
            if let header = payload?[name]?.string { return decide(authorization: header) }
        }
        return .undecided
    }

    private func decide(authorization header: String) -> Decision {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .refused }
        return decide(token: String(parts[1]))
    }

    private func decide(token: String) -> Decision {
        let given = Array(token.utf8)
        // All of them are compared, so that the time reveals nothing about which one came close.
        var found: Identity?
        for (token, identity) in tokens where Self.equalInConstantTime(token, given) {
            found = found ?? identity
        }
        if let found { return .admitted(found) }
        guard let verifier else { return .refused }
        do throws(TokenError) {
            let token = try verifier.viewer(of: token)
            let viewer = Viewer(id: token.viewer, claimValues: token.claims)
            return .admitted(
                Identity.viewer(viewer).keeping(claims: claims), until: token.expiresAt)
        } catch {
            onRefusal(error)
            return .refused
        }
    }

    /// Equality in a time that depends on the length of what was given alone.
    private static func equalInConstantTime(_ secret: [UInt8], _ given: [UInt8]) -> Bool {
        var difference: UInt8 = secret.count == given.count ? 0 : 1
        for (index, byte) in given.enumerated() {
            difference |= byte ^ (index < secret.count ? secret[index] : 0)
        }
        return difference == 0
    }
}
