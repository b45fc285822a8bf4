import CCrypto
import JSONWebTokens
import RelayJSON
import Testing

/// When all tests are, in seconds since 1970.
let now: Int64 = 1_700_000_000

/// What most tests begin with.
let goodClaims: JSONObject = ["sub": "ada", "exp": .int(now + 60)]

func good(_ changes: JSONObject = [:]) -> JSONValue {
    var claims = goodClaims
    for (name, value) in changes { claims[name] = value }
    return .object(claims)
}

func keySet(_ keys: JSONValue...) throws -> KeySet {
    try KeySet(parsing: JSONValue.object(["keys": .array(keys)]).bytes)
}

func keySet(_ signers: [Signer]) throws -> KeySet {
    try KeySet(parsing: JSONValue.object(["keys": .array(signers.map(\.jwk))]).bytes)
}

func verifier(_ keys: KeySet, _ options: TokenVerifier.Options = .init()) -> TokenVerifier {
    TokenVerifier(keys: { keys }, options: options, now: { now * 1_000_000 })
}

extension TokenVerifier {
    /// The error, or nil if the token passes. Checks what holds for every error: it tells nothing of the token that
    /// could be used, and leaves nothing in libcrypto's queue.
    func refusal(_ token: String, _ place: SourceLocation = #_sourceLocation) -> TokenError? {
        defer { #expect(ERR_peek_error() == 0, sourceLocation: place) }
        do throws(TokenError) {
            _ = try viewer(of: token)
            return nil
        } catch {
            let text = error.description
            #expect(text.hasPrefix("The token was refused: ") && text.hasSuffix("."))
            #expect(text.utf8.count < 700, sourceLocation: place)
            #expect(text.utf8.allSatisfy { $0 >= 0x20 }, sourceLocation: place)
            for part in token.split(separator: ".") where part.utf8.count >= 24 {
                #expect(!text.contains(part.prefix(24)), sourceLocation: place)
            }
            return error
        }
    }
}

extension TokenError {
    /// The name of the case.
    var name: String { String("\(self.mirrored)".prefix { $0 != "(" }) }

    private var mirrored: String {
        Mirror(reflecting: self).children.first?.label ?? (self == .unsigned ? "unsigned" : "?")
    }
}
