extension TokenError: CustomStringConvertible {
    /// One sentence. What comes from the token is quoted and shortened: it may be anybody's.
    package var description: String { "The token was refused: \(reason)." }

    private var reason: String {
        switch self {
        case .tooLarge(let bytes):
            "it has \(bytes) bytes, and \(TokenVerifier.byteLimit) is the most"
        case .notThreeParts(let count):
            "it has \(count) part\(count == 1 ? "" : "s") and not three (HEADER.CLAIMS.SIGNATURE)"
        case .invalidBase64(let part): "its \(part) is not valid Base64url without padding"
        case .invalidJSON(let part, let error): "its \(part) is not JSON (\(error))"
        case .notAnObject(let part): "its \(part) is not a JSON object"
        case .duplicateMember(let part, let name): "its \(part) has \(quoted(name)) twice"
        case .missing(let part, let name): "its \(part) has no \(quoted(name))"
        case .malformed(let part, let name):
            "\(quoted(name)) in its \(part) is not of the right type"
        case .unsigned: "its \"alg\" is \"none\", so that nobody signed it"
        case .unknownAlgorithm(let name):
            "its \"alg\" is \(quoted(name)) (HS256, RS256, ES256 and EdDSA are supported)"
        case .critical(let names):
            "its \"crit\" demands what is unknown here: \(list(names))"
        case .otherType(let type): "its \"typ\" is \(quoted(type)) and not \"JWT\" or \"at+jwt\""
        case .noKeys: "there are no keys yet"
        case .unknownKey(let id): "no key has its \"kid\", \(quoted(id))"
        case .otherAlgorithm(let algorithm, let keys):
            "its \"alg\" is \(algorithm.rawValue), and the keys that it may be signed with are for "
                + keys.map(\.rawValue).sorted().joined(separator: ", ")
        case .tooManyKeys(let algorithm, let count):
            "\(count) keys are for \(algorithm.rawValue), and only \(KeySet.triedLimit) would be tried; "
                + "it needs a \"kid\" that says which"
        case .signatureLength(let algorithm, let bytes):
            "its signature has \(bytes) bytes, which those of \(algorithm.rawValue) do not have"
        case .wrongSignature(let algorithm, let id):
            "its signature (\(algorithm.rawValue), key \(quoted(id))) is wrong"
        case .expired, .notYetValid, .issuedInFuture: reasonInTime
        case .wrongIssuer(let issuer): "its \"iss\" is \(quoted(issuer))"
        case .wrongAudience(let audience): "its \"aud\" is \(list(audience))"
        }
    }

    private var reasonInTime: String {
        switch self {
        case .expired(let time, let now): "it expired \(seconds(now - time)) ago"
        case .notYetValid(let time, let now): "it is not valid for another \(seconds(time - now))"
        case .issuedInFuture(let time, let now):
            "it says that it was issued \(seconds(time - now)) from now; one of the clocks is wrong"
        default: ""
        }
    }

    private func seconds(_ microseconds: Int64) -> String {
        "\(microseconds / NumericDate.microseconds) s"
    }

    private func list(_ texts: [String]) -> String {
        let shown = texts.prefix(4).map { quoted($0) }.joined(separator: ", ")
        return texts.isEmpty ? "nothing" : texts.count > 4 ? shown + ", …" : shown
    }
}
