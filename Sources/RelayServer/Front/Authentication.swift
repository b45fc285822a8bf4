import HTTPMessages
import RelayJSON
import WebSocketIO

/// Which clients are let in. Without tokens all are, without an identity.
struct Authentication: Sendable {
    /// What is known of who asks.
    enum Viewer: Sendable, Hashable {
        /// No token was given, yet; a WebSocket client may still give one in connection_init.
        case undecided
        case known(String?)
        case refused
    }

    /// What a client is told that is refused.
    static let refusal = "A valid token is needed: \"authorization: Bearer TOKEN\"."

    /// Stands in every answer of 401: RFC 9110 §15.5.2.
    static let challenge: HTTPHeaders = ["www-authenticate": "Bearer"]

    /// What they are told where no GraphQL is spoken.
    static var refusalResponse: HTTPResponse {
        var response = HTTPResponse(status: 401, text: refusal)
        response.headers.append(challenge)
        return response
    }

    private let tokens: [[UInt8]]

    init(tokens: [String]) { self.tokens = tokens.map { Array($0.utf8) } }

    /// No token is needed.
    var isOpen: Bool { tokens.isEmpty }

    /// Looks at `Authorization: Bearer T` of an HTTP request or a handshake.
    func viewer(headers: HTTPHeaders) -> Viewer {
        if isOpen { return .known(nil) }
        guard let header = headers["authorization"] else { return .undecided }
        return viewer(authorization: header)
    }

    /// Looks at connection_init's payload: `{"token": T}` or `{"authorization": "Bearer T"}`.
    func viewer(payload: JSONValue?) -> Viewer {
        if isOpen { return .known(nil) }
        if let token = payload?["token"]?.string { return viewer(token: token) }
        for name in ["authorization", "Authorization"] {
            if let header = payload?[name]?.string { return viewer(authorization: header) }
        }
        return .undecided
    }

    private func viewer(authorization header: String) -> Viewer {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .refused }
        return viewer(token: String(parts[1]))
    }

    private func viewer(token: String) -> Viewer {
        let given = Array(token.utf8)
        // All of them are compared, so that the time tells nothing about which one came close.
        var matches = false
        for token in tokens { matches = Self.equalInConstantTime(token, given) || matches }
        return matches ? .known(nil) : .refused
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
