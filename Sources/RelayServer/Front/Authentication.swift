import HTTPMessages
import JSONWebTokens
import RelayJSON
import WebSocketIO

/// Who a client is, by what it shows. Without anything configured all are let in, and all may do everything.
struct Authentication: Sendable {
    /// Who asks.
    enum Identity: Sendable, Hashable {
        /// Whoever has a token without a name, and everybody where nothing is configured: all is allowed.
        case unrestricted
        case viewer(ExactText)

        /// The viewer's id.
        var id: String? { if case .viewer(let id) = self { id.text } else { nil } }
    }

    /// What is known of who asks.
    enum Decision: Sendable, Hashable {
        /// No token was given, yet; a WebSocket client may still give one in connection_init.
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
    private let onRefusal: @Sendable (TokenError) -> Void

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
            + viewers.map { (Array($0.token.utf8), .viewer(ExactText($0.viewer))) }
    }

    /// No token is needed, and none is looked at.
    var isOpen: Bool { tokens.isEmpty && verifier == nil }

    /// Whether JSON Web Tokens are accepted as soon as there are keys.
    var isWithoutKeys: Bool { verifier.map { !$0.hasKeys } ?? false }

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
            let viewer = try verifier.viewer(of: token)
            return .admitted(.viewer(ExactText(viewer.id)), until: viewer.expiresAt)
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
