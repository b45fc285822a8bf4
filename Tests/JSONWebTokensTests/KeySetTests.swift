import CCrypto
import JSONWebTokens
import RelayJSON
import Testing

@Suite struct KeySetTests {
    private func error(_ text: String) -> KeySetError? {
        do throws(KeySetError) {
            _ = try KeySet(parsing: Array(text.utf8))
            return nil
        } catch { return error }
    }

    /// Why the one key is refused; nil if it is not.
    private func refusal(_ key: JSONValue) -> KeyRefusal? {
        guard let error = error(JSONValue.object(["keys": [key]]).text) else { return nil }
        guard case .noneUsable(let skipped) = error, skipped.count == 1 else {
            Issue.record("\(error)")
            return nil
        }
        return skipped[0].reason
    }

    private func change(_ key: JSONValue, _ changes: JSONObject) -> JSONValue {
        var members = key.object ?? [:]
        for (name, value) in changes { members[name] = value }
        return .object(members)
    }

    private func remove(_ name: String, from key: JSONValue) -> JSONValue {
        var members = key.object ?? [:]
        members[name] = nil
        return .object(members)
    }

    // MARK: JWK

    @Test func everyKindIsRead() throws {
        let keys = try keySet(Signer.all)
        #expect(keys.keys.map(\.id) == ["hs", "rs", "es", "ed"])
        #expect(keys.keys.map(\.algorithm) == [.hs256, .rs256, .es256, .edDSA])
        #expect(keys.skipped.isEmpty)
        #expect(try KeySet(parsing: Signer.es256.jwk.bytes).keys.count == 1)
    }

    /// RFC 7517 §5.
    @Test func unknownKeysArePassedOverAndReported() throws {
        let keys = try keySet(
            ["kty": "AKP", "kid": "new"], Signer.es256.jwk, "text", ["kid": "none"],
            ["kty": "OKP", "crv": "X25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"])
        #expect(keys.keys.map(\.id) == ["es"])
        #expect(keys.skipped.map(\.place) == [1, 3, 4, 5])
        #expect(
            keys.skipped.map(\.reason) == [
                .unknownKind("AKP"), .notAnObject, .unknownKind(nil), .otherCurve("X25519"),
            ])
        #expect(
            keys.skipped.map(\.description) == [
                #"Key 1 ("new") is not used: keys of type "AKP" are unknown (known are oct, RSA, EC and OKP)."#,
                "Key 3 is not used: it is not a JSON object.",
                #"Key 4 ("none") is not used: keys of type (none) are unknown (known are oct, RSA, EC and OKP)."#,
                #"Key 5 is not used: curve "X25519" is not supported (P-256 and Ed25519 are)."#,
            ])
    }

    @Test func aKeyIsForItsOwnAlgorithmOnly() {
        let names = ["HS256", "RS256", "ES256", "EdDSA", "HS512", "PS256", "RSA-OAEP", "none"]
        for signer in Signer.all {
            for name in names {
                let expected: KeyRefusal? =
                    name == signer.algorithm.rawValue ? nil : .otherAlgorithm(name)
                #expect(refusal(change(signer.jwk, ["alg": .string(name)])) == expected)
            }
            #expect(refusal(change(signer.jwk, ["alg": 1])) == .malformed(member: "alg"))
        }
    }

    @Test func aKeyForOtherPurposesIsNotUsed() {
        for signer in Signer.all {
            #expect(
                refusal(change(signer.jwk, ["use": "sig", "key_ops": ["sign", "verify"]])) == nil)
            #expect(refusal(change(signer.jwk, ["use": "enc"])) == .notForVerifying)
            #expect(refusal(change(signer.jwk, ["use": 1])) == .notForVerifying)
            #expect(refusal(change(signer.jwk, ["key_ops": ["sign"]])) == .notForVerifying)
            #expect(refusal(change(signer.jwk, ["key_ops": []])) == .notForVerifying)
            #expect(
                refusal(change(signer.jwk, ["key_ops": "verify"])) == .malformed(member: "key_ops"))
            #expect(refusal(change(signer.jwk, ["kid": 7])) == .malformed(member: "kid"))
        }
    }

    @Test func membersAreRequiredAndStrict() {
        for (signer, names) in [
            (Signer.hs256, ["k"]), (.rs256, ["n", "e"]), (.es256, ["crv", "x", "y"]),
            (.edDSA, ["crv", "x"]),
        ] {
            for name in names {
                #expect(refusal(remove(name, from: signer.jwk)) == .missing(member: name))
                guard name != "crv" else { continue }
                let text = signer.jwk[name]?.string ?? ""
                for value in [text + "=", text + " ", "+" + text, "\n" + text] {
                    #expect(
                        refusal(change(signer.jwk, [name: .string(value)]))
                            == .malformed(member: name))
                }
                #expect(refusal(change(signer.jwk, [name: 1])) == .malformed(member: name))
            }
        }
        // Coordinates have their full length (RFC 7518 §6.2.1.2).
        let short = JSONValue.string(base64URL([UInt8](repeating: 1, count: 31)))
        #expect(refusal(change(Signer.es256.jwk, ["x": short])) == .malformed(member: "x"))
        #expect(refusal(change(Signer.edDSA.jwk, ["x": short])) == .malformed(member: "x"))
    }

    @Test func privateKeysAreNotUsed() {
        for signer in [Signer.rs256, .es256, .edDSA] {
            #expect(refusal(change(signer.jwk, ["d": "AQAB"])) == .privateKey)
        }
    }

    // MARK: Weak keys

    @Test func shortSecretsAreRefused() {
        func secret(_ count: Int) -> JSONValue {
            ["kty": "oct", "k": .string(base64URL([UInt8](repeating: 7, count: count)))]
        }
        #expect(refusal(secret(32)) == nil)
        #expect(refusal(secret(31)) == .shortSecret(bytes: 31))
        #expect(refusal(secret(0)) == .shortSecret(bytes: 0))
        #expect(refusal(secret(4_096)) == nil)
        #expect(refusal(secret(4_097)) == .longSecret(bytes: 4_097))
    }

    @Test func weakRSAKeysAreRefused() {
        let weak = Signer(.rs256, id: "weak", rsaBits: 1_024)
        #expect(refusal(weak.jwk) == .shortModulus(bits: 1_024))
        #expect(error(weak.publicPEM).map(reasons) == [.shortModulus(bits: 1_024)])
        let n = Signer.rs256.number("n")
        func key(_ modulus: [UInt8], _ exponent: [UInt8] = [1, 0, 1]) -> JSONValue {
            ["kty": "RSA", "n": .string(base64URL(modulus)), "e": .string(base64URL(exponent))]
        }
        #expect(refusal(key(n)) == nil)
        #expect(refusal(key([0, 0] + n)) == nil, "RFC 7518 §6.3.1.1: some write zeros in front")
        #expect(refusal(key([0x7F] + n.dropFirst())) == .shortModulus(bits: 2_047))
        #expect(refusal(key([UInt8](repeating: 0, count: 256))) == .shortModulus(bits: 0))
        #expect(
            refusal(key([1] + [UInt8](repeating: 0, count: 1_024))) == .longModulus(bits: 8_193))
        for exponent in [[], [0], [1], [0, 1], [2], [1, 0, 0], [UInt8](repeating: 255, count: 9)] {
            #expect(refusal(key(n, exponent)) == .badExponent, "\(exponent)")
        }
        #expect(refusal(key(n, [3])) == nil)
        // Even, and with small factors.
        #expect(refusal(key(n.dropLast() + [n[255] ^ 1])) == .unsoundModulus)
        #expect(refusal(key([UInt8](repeating: 255, count: 256))) == .unsoundModulus)
    }

    @Test func pointsThatAreNotOnTheCurveAreRefused() {
        let (x, y) = (Signer.es256.number("qx", count: 32), Signer.es256.number("qy", count: 32))
        func key(_ x: [UInt8], _ y: [UInt8]) -> JSONValue {
            [
                "kty": "EC", "crv": "P-256", "x": .string(base64URL(x)),
                "y": .string(base64URL(y)),
            ]
        }
        #expect(refusal(key(x, y)) == nil)
        #expect(refusal(key(y, x)) == .notOnCurve)
        #expect(refusal(key(x, y.dropLast() + [y[31] ^ 1])) == .notOnCurve)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(refusal(key(zeros, zeros)) == .notOnCurve)
        #expect(refusal(key([UInt8](repeating: 255, count: 32), y)) == .notOnCurve)
        #expect(refusal(change(key(x, y), ["crv": "P-384"])) == .otherCurve("P-384"))
        #expect(refusal(change(key(x, y), ["crv": "Ed25519"])) == .otherCurve("Ed25519"))
    }

    /// The eight points of small order by their y (RFC 7748 §7 has the same for Curve25519), and a y of no point.
    @Test func weakEd25519KeysAreRefused() throws {
        func key(_ point: [UInt8]) -> JSONValue {
            ["kty": "OKP", "crv": "Ed25519", "x": .string(base64URL(point))]
        }
        let zeros = [UInt8](repeating: 0, count: 30)
        let order8: [[UInt8]] = [
            [
                0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF,
                0x98, 0xF0, 0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88,
                0x6D, 0x53, 0xFC, 0x05,
            ],
            [
                0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10,
                0x67, 0x0F, 0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77,
                0x92, 0xAC, 0x03, 0x7A,
            ],
        ]
        let minusOne = [0xEC] + [UInt8](repeating: 255, count: 30) + [0x7F]
        for point in [[0] + zeros + [0], [1] + zeros + [0], minusOne] + order8 {
            #expect(refusal(key(point)) == .smallOrder)
            #expect(refusal(key(point.dropLast() + [point[31] | 0x80])) == .smallOrder)
        }
        // y = p, and y = 2, for which x² is no square.
        #expect(refusal(key([0xED] + [UInt8](repeating: 255, count: 30) + [0x7F])) == .notOnCurve)
        #expect(refusal(key([2] + zeros + [0])) == .notOnCurve)
        // What libcrypto makes is sound.
        for _ in 0..<20 { #expect(refusal(Signer(.edDSA, id: "new").jwk) == nil) }
    }

    // MARK: Whole files

    @Test func filesThatAreNoKeySetsAreRefused() {
        #expect(error("") == .unknownForm)
        #expect(error("secret") == .unknownForm)
        #expect(error("[]") == .unknownForm)
        #expect(error("{}") == .unknownForm)
        #expect(error(#"{"keys":{}}"#) == .unknownForm)
        #expect(error(#"{"keys":[]}"#) == .noneUsable([]))
        #expect(error(#"{"keys":[],"keys":[]}"#) == .duplicateMember("keys"))
        #expect(error(#"{"keys":[{"kty":"oct","kty":"RSA"}]}"#) == .duplicateMember("kty"))
        let many = String(repeating: "{},", count: 100)
        #expect(error(#"{"keys":[\#(many){}]}"#) == .tooMany(101))
        #expect(error(String(repeating: " ", count: 1_048_577)) == .tooLarge(bytes: 1_048_577))
        if case .invalidJSON? = error(#"{"keys":["#) {} else { Issue.record("half a file") }
        #expect(
            error("secret")?.description
                == "The keys are neither a JWK Set (RFC 7517: {\"keys\": […]}) nor PEM "
                + "(-----BEGIN PUBLIC KEY-----).")
        #expect(ERR_peek_error() == 0)
    }

    @Test func severalBlocksOfPEMAreRead() throws {
        let blocks = [Signer.rs256, .es256, .edDSA].map(\.publicPEM)
        let text = "# our keys\n" + blocks.joined(separator: "\nand\n") + "end\n"
        let keys = try KeySet(parsing: Array(text.utf8))
        #expect(keys.keys.map(\.algorithm) == [.rs256, .es256, .edDSA])
        #expect(keys.keys.allSatisfy { $0.id == nil })
        for signer in [Signer.rs256, .es256, .edDSA] {
            #expect(verifier(keys).refusal(signer.token(good())) == nil, "its kid does not matter")
        }
        #expect(verifier(keys).refusal(Signer.hs256.token(good()))?.name == "otherAlgorithm")
        let windows = text.replacing("\n", with: "\r\n")
        #expect(try KeySet(parsing: Array(windows.utf8)).keys.count == 3)
    }

    @Test func otherBlocksOfPEMAreReported() throws {
        let strange = "-----BEGIN THING-----\nAQAB\n-----END THING-----\n"
        let wrong = strange.replacing("THING", with: "PUBLIC KEY")
        let noCertificate = strange.replacing("THING", with: "CERTIFICATE")
        let p384 = Signer(.es256, id: "p384", curve: "P-384").publicPEM
        let explicit = Self.explicitCurve
        let text =
            strange + wrong + noCertificate + p384 + Signer.rs256.privatePEM + explicit
            + Signer.es256.publicPEM
        let keys = try KeySet(parsing: Array(text.utf8))
        #expect(keys.keys.map(\.algorithm) == [.es256])
        #expect(
            keys.skipped.map(\.reason) == [
                .otherBlock("THING"), .brokenBlock("PUBLIC KEY"), .brokenBlock("CERTIFICATE"),
                .otherCurve("secp384r1"), .privateKey, .otherCurve(nil),
            ])
        #expect(ERR_peek_error() == 0)
    }

    /// P-256 with the key itself as generator, so that 1 is its private key (CVE-2020-0601).
    private static let explicitCurve = """
        -----BEGIN PUBLIC KEY-----
        MIIBMzCB7AYHKoZIzj0CATCB4AIBATAsBgcqhkjOPQEBAiEA/////wAAAAEAAAAA
        AAAAAAAAAAD///////////////8wRAQg/////wAAAAEAAAAAAAAAAAAAAAD/////
        //////////wEIFrGNdiqOpPns+u9VXaYhrxlHQawzFOw9jvOPD4n0mBLBEEEAfyN
        ad+5ZpgcMuN7Zx9Md7U4BKbjUHILtqz2DNTabdb19ehw75SUW6DJS/C+I/vmDd1g
        Olzj1ipDO56qT1c01wIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8YyVR
        AgEBA0IABAH8jWnfuWaYHDLje2cfTHe1OASm41ByC7as9gzU2m3W9fXocO+UlFug
        yUvwviP75g3dYDpc49YqQzueqk9XNNc=
        -----END PUBLIC KEY-----

        """

    /// DER says how long it is; what follows is somebody's, and not a key's.
    @Test func blocksEndWithTheirContent() throws {
        let lines = Signer.edDSA.publicPEM.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        // 44 bytes: the last group of four characters is of two bytes.
        try #require(lines[1].utf8.count == 60 && lines[1].hasSuffix("="))
        for more in ["AAAA", "MAA="] {
            let text = [lines[0], lines[1].dropLast() + "A" + more, lines[2]].joined(
                separator: "\n")
            #expect(error(text + "\n").map(reasons) == [.brokenBlock("PUBLIC KEY")])
        }
    }

    @Test func brokenPEMIsRefused() {
        let block = Signer.es256.publicPEM
        let lines = block.split(separator: "\n")
        #expect(error(block + lines.dropLast().joined(separator: "\n")) == .brokenPEM(place: 2))
        #expect(error(block.replacing("\n", with: "!\n")) != nil)
        #expect(error(block + block.replacing("E", with: "*")) != .unknownForm)
        let content = lines.dropFirst().dropLast().joined()
        #expect(error(content) == .unknownForm)
    }

    private func reasons(_ error: KeySetError) -> [KeyRefusal] {
        if case .noneUsable(let skipped) = error { skipped.map(\.reason) } else { [] }
    }

    // MARK: Which key

    @Test func aTokenWithoutKeyIDTriesAllOfItsAlgorithmUpToABound() throws {
        let signers = (0..<9).map { Signer(.es256, id: "\($0)") }
        let header = #"{"alg":"ES256"}"#
        let eight = try keySet(Array(signers.prefix(8)) + [.hs256, .rs256])
        for signer in signers.prefix(8) {
            #expect(verifier(eight).refusal(signer.token(good(), header: header)) == nil)
        }
        let token = signers[8].token(good(), header: header)
        #expect(verifier(eight).refusal(token) == .wrongSignature(.es256, keyID: nil))
        let nine = verifier(try keySet(signers))
        #expect(nine.refusal(token) == .tooManyKeys(.es256, count: 9))
        #expect(nine.refusal(signers[8].token(good())) == nil)
    }

    /// While keys rotate, an issuer may use one id twice.
    @Test func keysMayShareAnID() throws {
        let (old, new) = (Signer(.edDSA, id: "x"), Signer(.edDSA, id: "x"))
        let keys = verifier(try keySet([old, Signer(.es256, id: "x"), new]))
        #expect(keys.refusal(old.token(good())) == nil)
        #expect(keys.refusal(new.token(good())) == nil)
        #expect(keys.refusal(Signer(.edDSA, id: "x").token(good()))?.name == "wrongSignature")
    }

    @Test func keyIDsAreComparedByteByByte() throws {
        let keys = verifier(try keySet([Signer(.edDSA, id: "\u{E9}")]))
        let token = Signer.edDSA.token(good(), header: #"{"alg":"EdDSA","kid":"e\u0301"}"#)
        #expect(keys.refusal(token) == .unknownKey(id: "e\u{301}"))
    }

    /// Whoever can read a secret can sign with it.
    @Test func secretsThatArePublicAreNotUsed() throws {
        let all = JSONValue.object(["keys": .array(Signer.all.map(\.jwk))])
        let keys = try KeySet(parsing: all.bytes, arePublic: true)
        #expect(keys.keys.map(\.id) == ["rs", "es", "ed"])
        #expect(
            keys.skipped.map(\.description) == [
                #"Key 1 ("hs") is not used: it is a secret, and whoever can read it here can sign with it."#
            ])
    }

    @Test func withoutKeysEveryTokenIsRefused() {
        for signer in Signer.all {
            #expect(verifier(.none).refusal(signer.token(good())) == .noKeys)
            #expect(
                verifier(.none).refusal(signer.token(good(), header: #"{"alg":"HS256"}"#))
                    == .noKeys)
        }
    }
}
