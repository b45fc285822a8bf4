import JSONWebTokens
import RelayJSON
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Tokens that others made.
@Suite struct VectorTests {
    // MARK: The examples of the RFCs

    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static let examples: [(section: String, key: JSONValue, token: String)] = [
        (
            "RFC 7515 A.1",
            [
                "kty": "oct",
                "k":
                    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
            ],
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(claims).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        ),
        (
            "RFC 7515 A.2",
            [
                "kty": "RSA", "e": "AQAB",
                "n": .string(
                    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4"
                        + "d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re"
                        + "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxX"
                        + "FvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
            ],
            "eyJhbGciOiJSUzI1NiJ9.\(claims)."
                + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5"
                + "jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb"
                + "1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QO"
                + "YEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
        ),
        (
            "RFC 7515 A.3",
            [
                "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
            ],
            "eyJhbGciOiJFUzI1NiJ9.\(claims)."
                + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        ),
    ]

    @Test(arguments: [0, 1, 2])
    func examplesOfRFC7515PassUntilTheyExpire(index: Int) throws {
        let example = Self.examples[index]
        let keys = try KeySet(parsing: example.key.bytes)
        let verifier = TokenVerifier(
            keys: { keys }, options: .init(viewerClaim: "iss", leewaySeconds: 0),
            now: { 1_300_819_379_999_999 })
        let viewer = try verifier.viewer(of: example.token)
        #expect(viewer.viewer == "joe", "\(example.section)")
        #expect(viewer.expiresAt == 1_300_819_380_000_000)
        #expect(
            viewer.claims == [
                "iss": "joe", "exp": 1_300_819_380, "http://example.com/is_root": true,
            ])
        let late = TokenVerifier(
            keys: { keys }, options: .init(viewerClaim: "iss", leewaySeconds: 0),
            now: { 1_300_819_380_000_000 })
        #expect(late.refusal(example.token)?.name == "expired")
    }

    /// Its payload is a sentence, not claims. It is parsed only when the signature is right.
    @Test func exampleOfRFC8037HasTheRightSignature() throws {
        let keys = try keySet([
            "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        ])
        let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        let verifier = verifier(keys)
        #expect(verifier.refusal(signed + "." + signature)?.name == "invalidJSON")
        let other = signed + ".i" + signature.dropFirst()
        #expect(verifier.refusal(other) == .wrongSignature(.edDSA, keyID: nil))
    }

    @Test func unsecuredExampleOfRFC7519IsRefused() throws {
        let keys = try keySet(Signer.all)
        #expect(verifier(keys).refusal("eyJhbGciOiJub25lIn0.\(Self.claims).") == .unsigned)
    }

    /// RFC 7515 A.4: ES512 is not supported.
    @Test func otherAlgorithmsOfRFC7515AreRefused() throws {
        let keys = try keySet(Signer.all)
        let refusal = verifier(keys).refusal("eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh")
        #expect(refusal == .unknownAlgorithm("ES512"))
    }

    // MARK: PyJWT

    @Test func tokensOfPyJWTAreJudgedAsExpected() throws {
        let vectors = try Vectors()
        #expect(
            vectors.keys.skipped.map(\.reason) == [.otherCurve("P-384"), .otherCurve("secp256k1")])
        let verifier = verifier(vectors.keys, Self.options)
        var passed = 0
        for token in vectors.tokens {
            let found = verifier.refusal(token.text)?.name ?? "passes"
            #expect(found == token.expected, "\(token.name)")
            if found == "passes" {
                passed += 1
                let viewer = try verifier.viewer(of: token.text)
                #expect(viewer.viewer == "ada")
                #expect(viewer.claims["roles"] == ["admin", "editor"])
            }
        }
        #expect(vectors.tokens.count >= 90)
        #expect(passed == 7 * 4)
    }

    /// Only the tokens of the block's key pass, whatever their `kid`.
    @Test(arguments: [("rsa", "RS256"), ("ec", "ES256"), ("ed", "EdDSA"), ("certificate", "RS256")])
    func keysInPEMOfCryptographyCheckTokensOfPyJWT(block: String, algorithm: String) throws {
        let vectors = try Vectors()
        let keys = try KeySet(parsing: Array(#require(vectors.pem[block]).utf8))
        let verifier = verifier(keys, Self.options)
        #expect(keys.keys.map(\.algorithm.rawValue) == [algorithm])
        var passed = 0
        for token in vectors.tokens {
            let refusal = verifier.refusal(token.text)
            if refusal == nil { passed += 1 }
            let isOfKey = token.name.hasPrefix(algorithm)
            let passes =
                isOfKey
                && (token.expected == "passes" || token.expected == "unknownKey"
                    || token.expected == "otherAlgorithm")
            #expect((refusal == nil) == passes, "\(token.name): \(String(describing: refusal))")
        }
        #expect(passed == 7 + 1 + 3)
    }

    private static let options = TokenVerifier.Options(
        issuer: "https://issuer.example", audience: "api", leewaySeconds: 10)
}

/// Fixtures/vectors.txt; its generator beside it says what is in it.
private struct Vectors {
    var keys: KeySet
    var pem: [String: String] = [:]
    var tokens: [(name: String, expected: String, text: String)] = []

    init() throws {
        let text = String(
            decoding: try bytes(
                ofFile: #filePath.split(separator: "/", omittingEmptySubsequences: false)
                    .dropLast().joined(separator: "/") + "/Fixtures/vectors.txt"), as: UTF8.self)
        let lines = text.split(separator: "\n").map {
            $0.split(separator: "\t", maxSplits: 2).map(String.init)
        }
        keys = try KeySet(parsing: Array(#require(lines.first?.last).utf8))
        for line in lines.dropFirst() {
            try #require(line.count == 3)
            if line[0] == "PEM" {
                pem[line[1]] = line[2].replacing("|", with: "\n")
            } else {
                tokens.append((line[0], line[1], line[2]))
            }
        }
    }
}

func bytes(ofFile path: String) throws -> [UInt8] {
    let file = try #require(fopen(path, "rb"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
    return bytes
}
