import RelayJSON

extension KeyRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAnObject: "it is not a JSON object"
        case .unknownKind(let kind):
            "keys of type \(quoted(kind)) are unknown (known are oct, RSA, EC and OKP)"
        case .otherCurve(let curve):
            "curve \(quoted(curve)) is not supported (P-256 and Ed25519 are)"
        case .otherAlgorithm(let name):
            "it is for \(quoted(name)) (HS256, RS256, ES256 and EdDSA are supported, "
                + "each by its own type of key)"
        case .notForVerifying:
            "its \"use\" or \"key_ops\" say that it is not for checking signatures"
        case .missing(let member): "\(quoted(member)) is missing"
        case .malformed(let member):
            "\(quoted(member)) is not what it has to be (RFC 7517, RFC 7518)"
        case .shortSecret(let bytes):
            "the secret has \(bytes) bytes, and \(VerificationKey.secretBytes.lowerBound) is the least"
        case .longSecret(let bytes):
            "the secret has \(bytes) bytes, and \(VerificationKey.secretBytes.upperBound) is the most"
        case .shortModulus(let bits):
            "the RSA key has \(bits) bits, and \(PublicKey.modulusBits.lowerBound) is the least"
        case .longModulus(let bits):
            "the RSA key has \(bits) bits, and \(PublicKey.modulusBits.upperBound) is the most"
        case .badExponent: "the RSA key's exponent is 1, even or longer than 64 bits"
        case .unsoundModulus: "the RSA key's modulus is not the product of two large primes"
        case .notOnCurve: "it is not a point on its curve"
        case .smallOrder: "it is a point of small order, for which everybody can sign"
        case .privateKey:
            "it is a private key; give the public one, because this server signs nothing"
        case .publishedSecret:
            "it is a secret, and whoever can read it here can sign with it"
        case .otherBlock(let label):
            "\(quoted(label)) is not supported (\"PUBLIC KEY\" and \"CERTIFICATE\" are)"
        case .brokenBlock(let label): "it is not a valid \(quoted(label))"
        }
    }
}

extension KeySetError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge(let bytes):
            "The keys have \(bytes) bytes, and \(KeySet.byteLimit) is the most."
        case .invalidJSON(let error): "The keys are not a JWK Set. \(error)"
        case .duplicateMember(let name):
            "The keys are not a JWK Set: \(quoted(name)) occurs twice in one object."
        case .unknownForm:
            "The keys are neither a JWK Set (RFC 7517: {\"keys\": […]}) nor PEM "
                + "(-----BEGIN PUBLIC KEY-----)."
        case .brokenPEM(let place): "Block \(place) of the keys is not valid PEM."
        case .tooMany(let count):
            "There are more than \(KeySet.countLimit) keys (\(count)), and each would cost time."
        case .noneUsable(let skipped):
            ([skipped.isEmpty ? "There are no keys." : "None of the keys can be used."]
                + skipped.prefix(8).map(\.description)).joined(separator: " ")
        }
    }
}

/// Foreign text for a message: in quotes, with escapes, and not too much of it.
func quoted(_ text: String?) -> String {
    guard let text else { return "(none)" }
    return JSONValue.string(text.shortened(to: 64)).text
}
