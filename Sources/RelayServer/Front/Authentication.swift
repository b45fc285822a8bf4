import HTTPMessages
import RelayJSON
import WebSocketIO

/// Who a client is, by what it shows. Without anything configured all are let in, and all may do everything.
struct Authentication: Sendable {
    /// Who asks.
    enum Identity: Sendable, Hashable {
        /// Whoever has a token without a name, and everybody where nothing is configured: all is allowed.
        case unrestricted
        case viewer(String)
        /// Somebody who has shown nothing, which is not always needed.
        case nobody

        /// The viewer's id.
        var id: String? { if case .viewer(let id) = self { id } else { nil } }
    }

    /// What is known of who asks.
    enum Decision: Sendable, Hashable {
        /// No token was given, yet; a WebSocket client may still give one in connection_init.
        case undecided
        case admitted(Identity)
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
    /// Whether clients are let in that show nothing.
    private let admitsNobody: Bool

    /// - Parameters:
    ///   - tokens: those without a name.
    ///   - viewers: those of viewers.
    init(tokens: [String], viewers: [Server.ViewerToken] = []) {
        self.tokens =
            tokens.map { (Array($0.utf8), .unrestricted) }
            + viewers.map { (Array($0.token.utf8), .viewer($0.viewer)) }
        admitsNobody = !viewers.isEmpty
    }

    /// No token is needed, and none is looked at.
    var isOpen: Bool { tokens.isEmpty }

    /// Why a server should not listen on an address; nil if it may.
    /// - Parameter isOpenWanted: everybody may come in, wherever they are.
    func objection(toListeningOn host: String, isOpenWanted: Bool) -> String? {
        if !isOpen || isOpenWanted || HostPolicy.isLoopback(host) { return nil }
        return """
            everybody who reaches \(host) could see and change everything. Use --token or --token-for, or \
            --open if that is wanted
            """
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

    /// Who asks, once nothing more can come; nil if that is not enough.
    func identity(after decision: Decision) -> Identity? {
        switch decision {
        case .admitted(let identity): identity
        case .undecided: admitsNobody ? .nobody : nil
        case .refused: nil
        }
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
        return found.map { .admitted($0) } ?? .refused
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
