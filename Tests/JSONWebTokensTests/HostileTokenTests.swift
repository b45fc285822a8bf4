import BoundedTesting
import CCrypto
import JSONWebTokens
import RelayJSON
import Testing
import Threads

/// What RFC 8725 warns of, and what forgers tried.
@Suite struct HostileTokenTests {
    private let signers = Signer.all

    private func refusal(_ token: String, _ keys: [Signer] = Signer.all) throws -> TokenError? {
        try verifier(keySet(keys)).refusal(token)
    }

    @Test func whatTheSignersSignPasses() throws {
        for signer in signers {
            #expect(try refusal(signer.token(good())) == nil, "\(signer.algorithm)")
            let anonymous = #"{"alg":"\#(signer.algorithm.rawValue)"}"#
            #expect(try refusal(signer.token(good(), header: anonymous)) == nil)
            #expect(try refusal(signer.token(good(), header: anonymous), [signer]) == nil)
        }
    }

    /// Keys are shared between threads, and only read.
    @Test func threadsMayUseTheSameKeys() throws {
        let verifier = verifier(try keySet(Signer.all))
        let tokens = signers.flatMap { signer in
            let forger = Signer(signer.algorithm, id: signer.id)
            return [(signer.token(good()), true), (forger.token(good()), false)]
        }
        let mistakes = Lock(0)
        let threads = (0..<4).map { first in
            BlockingThread {
                for index in first..<(first + 200) {
                    let (token, isGood) = tokens[index % tokens.count]
                    let passes = (try? verifier.viewer(of: token)) != nil
                    if passes != isGood { mistakes.withLock { $0 += 1 } }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(mistakes.withLock { $0 } == 0)
    }

    // MARK: §2.1, §3.1: algorithms

    @Test(arguments: ["none", "None", "NONE", "nOnE"])
    func unsignedTokensAreRefused(name: String) throws {
        for header in [#"{"alg":"\#(name)"}"#, #"{"alg":"\#(name)","kid":"hs"}"#] {
            let signed = base64URL(header.utf8) + "." + base64URL(good().bytes)
            #expect(try refusal(signed + ".") == .unsigned)
            let signature = base64URL(Signer.hs256.signature(of: signed))
            #expect(try refusal(signed + "." + signature) == .unsigned)
        }
    }

    @Test(arguments: [
        "hs256", "HS256 ", " HS256", "HS384", "RS512", "PS256", "ES384", "ES256K", "Ed25519",
        "A128KW",
        "",
    ])
    func otherAlgorithmsAreRefused(name: String) throws {
        let token = Signer.hs256.token(good(), header: #"{"alg":"\#(name)","kid":"hs"}"#)
        #expect(try refusal(token) == .unknownAlgorithm(name))
    }

    @Test func algorithmIsRequiredAndAText() throws {
        #expect(
            try refusal(Signer.hs256.token(good(), header: "{}"))
                == .missing(.header, name: "alg"))
        for value in ["null", "1", #"["HS256"]"#, #"{"HS256":1}"#, "true"] {
            let token = Signer.hs256.token(good(), header: #"{"alg":\#(value)}"#)
            #expect(try refusal(token) == .malformed(.header, name: "alg"))
        }
    }

    /// The public key, which everybody has, in every form that a server might take for a secret.
    @Test func publicKeysAreNoSecrets() throws {
        for signer in [Signer.rs256, .es256, .edDSA] {
            let pem = Array(signer.publicPEM.utf8)
            let forms: [[UInt8]] = [
                pem, Array(pem.dropLast()), signer.jwk.bytes, try keyBytes(signer.jwk),
            ]
            for secret in forms {
                for header in [#"{"alg":"HS256","kid":"\#(signer.id)"}"#, #"{"alg":"HS256"}"#] {
                    let signed = base64URL(header.utf8) + "." + base64URL(good().bytes)
                    let token = signed + "." + base64URL(hmac(secret, Array(signed.utf8)))
                    #expect(
                        try refusal(token, [signer])
                            == .otherAlgorithm(.hs256, ofKeys: [signer.algorithm]))
                    let fromPEM = try KeySet(parsing: pem)
                    #expect(
                        verifier(fromPEM).refusal(token)
                            == .otherAlgorithm(.hs256, ofKeys: [signer.algorithm]))
                    // Beside a real secret nothing changes.
                    let all = try refusal(token)?.name
                    #expect(all == (header.contains("kid") ? "otherAlgorithm" : "wrongSignature"))
                }
            }
        }
    }

    private func keyBytes(_ jwk: JSONValue) throws -> [UInt8] {
        try Array(#require(jwk["n"]?.string ?? jwk["x"]?.string).utf8)
    }

    @Test func secretsAreNoPublicKeysAndKeysCheckOnlyTheirAlgorithm() throws {
        for signer in signers {
            for other in signers where other.algorithm != signer.algorithm {
                // Signed by its own key, with the name of another's algorithm or the other's id.
                let name = #"{"alg":"\#(other.algorithm.rawValue)","kid":"\#(signer.id)"}"#
                #expect(
                    try refusal(signer.token(good(), header: name))
                        == .otherAlgorithm(other.algorithm, ofKeys: [signer.algorithm]))
                let id = #"{"alg":"\#(signer.algorithm.rawValue)","kid":"\#(other.id)"}"#
                #expect(
                    try refusal(signer.token(good(), header: id))
                        == .otherAlgorithm(signer.algorithm, ofKeys: [other.algorithm]))
                let both = #"{"alg":"\#(other.algorithm.rawValue)","kid":"\#(other.id)"}"#
                let name3 = try refusal(signer.token(good(), header: both))?.name ?? "passes"
                #expect(["wrongSignature", "signatureLength"].contains(name3))
            }
        }
    }

    @Test func anotherKeyOfTheSameKindIsRefused() throws {
        for signer in signers {
            let other = Signer(signer.algorithm, id: signer.id)
            #expect(
                try refusal(other.token(good()))
                    == .wrongSignature(signer.algorithm, keyID: signer.id))
        }
    }

    // MARK: §3.10: what the header says about keys

    /// CVE-2018-0114: the forger's key comes with the token.
    @Test func keysInTheHeaderAreNotUsed() throws {
        for signer in signers {
            let forger = Signer(signer.algorithm, id: "forger")
            for id in ["", #""kid":"\#(signer.id)","#] {
                let header =
                    #"{"alg":"\#(signer.algorithm.rawValue)",\#(id)"jwk":\#(forger.jwk.text),"jku":"https://forger","x5u":"https://forger"}"#
                #expect(
                    try refusal(forger.token(good(), header: header))?.name == "wrongSignature")
            }
        }
    }

    @Test func unknownKeyIDsAreNamed() throws {
        let header = #"{"alg":"HS256","kid":"new"}"#
        #expect(try refusal(Signer.hs256.token(good(), header: header)) == .unknownKey(id: "new"))
        for value in ["1", "null", #"["hs"]"#] {
            let token = Signer.hs256.token(good(), header: #"{"alg":"HS256","kid":\#(value)}"#)
            #expect(try refusal(token) == .malformed(.header, name: "kid"))
        }
    }

    /// Line ends and quotes stay escaped, and a long text is shortened (`refusal` checks both).
    @Test func textOfForgersCannotForgeLines() throws {
        let id = #"\n2024-01-01 admin logged in\u001b[2J\""# + String(repeating: "x", count: 4_000)
        let refusal = try refusal(
            Signer.hs256.token(good(), header: #"{"alg":"HS256","kid":"\#(id)"}"#))
        #expect(refusal?.name == "unknownKey")
        #expect(refusal?.description.utf8.count ?? 0 < 200)
    }

    // MARK: RFC 7515 §4.1.11, RFC 8725 §3.11

    @Test(arguments: [
        #"["exp"]"#, #"["b64"]"#, "[]", "null", #""exp""#, #"["http://x.example/y",1]"#,
    ])
    func criticalHeadersAreRefused(value: String) throws {
        let header = #"{"alg":"HS256","kid":"hs","crit":\#(value),"exp":1,"b64":true}"#
        #expect(try refusal(Signer.hs256.token(good(), header: header))?.name == "critical")
    }

    @Test(
        arguments: [
            (#""JWT""#, nil), (#""jwt""#, nil), (#""at+jwt""#, nil),
            (#""application/at+JWT""#, nil),
            (#""logout+jwt""#, "otherType"), (#""dpop+jwt""#, "otherType"), (#""""#, "otherType"),
            (#""JOSE""#, "otherType"), (#""application/application/jwt""#, "otherType"),
            ("null", "malformed"), (#"["JWT"]"#, "malformed"),
        ] as [(String, String?)])
    func otherKindsOfTokensAreRefused(value: String, expected: String?) throws {
        let header = #"{"alg":"HS256","kid":"hs","typ":\#(value)}"#
        #expect(try refusal(Signer.hs256.token(good(), header: header))?.name == expected)
    }

    // MARK: ECDSA and Ed25519

    /// CVE-2022-21449: r and s have to be from 1 to n - 1.
    @Test func signaturesOfZerosAreRefused() throws {
        let order: [UInt8] =
            [255, 255, 255, 255, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8) + [
                0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
                0x25, 0x51,
            ]
        let token = Signer.es256.token(good())
        let signed = String(token.prefix(upTo: try #require(token.lastIndex(of: "."))))
        let good = Signer.es256.signature(of: signed)
        let zero = [UInt8](repeating: 0, count: 32)
        let one = Array(zero.dropLast()) + [1]
        let ones = [UInt8](repeating: 255, count: 32)
        let (r, s) = (Array(good.prefix(32)), Array(good.suffix(32)))
        let numbers: [[UInt8]] = [zero, one, ones, order, r, s]
        for (first, second) in numbers.flatMap({ first in numbers.map { (first, $0) } })
        where (first, second) != (r, s) {
            let signature = first + second
            #expect(
                try refusal(signed + "." + base64URL(signature))
                    == .wrongSignature(.es256, keyID: "es"))
        }
        #expect(try refusal(signed + "." + base64URL(good)) == nil)
    }

    /// DER, as other protocols have it, and every length but the right one.
    @Test func signaturesOfOtherLengthsAreRefused() throws {
        for signer in signers {
            let token = signer.token(good())
            let signed = String(token.prefix(upTo: try #require(token.lastIndex(of: "."))))
            let good = signer.signature(of: signed)
            for signature in [
                [], Array(good.dropLast()), good + [0], [0] + good, good + good,
                Array(good.prefix(1)),
                [0x30, 0x44, 0x02, 0x20] + good.prefix(32) + [0x02, 0x20]
                    + good.suffix(32),
            ] {
                let name = try refusal(signed + "." + base64URL(signature))?.name ?? "passes"
                #expect(["signatureLength", "wrongSignature"].contains(name))
                if signer.algorithm != .rs256 { #expect(name == "signatureLength") }
            }
        }
    }

    // MARK: Members twice, sizes, depths

    @Test func membersThatOccurTwiceAreRefused() throws {
        let headers: [(String, String)] = [
            (#"{"alg":"HS256","alg":"HS256"}"#, "alg"), (#"{"alg":"none","alg":"HS256"}"#, "alg"),
            (#"{"alg":"HS256","\u0061lg":"none"}"#, "alg"),
            (#"{"alg":"HS256","x":{"y":1,"y":2}}"#, "y"),
            (#"{"alg":"HS256","kid":"hs","kid":"hs"}"#, "kid"),
        ]
        for (header, name) in headers {
            #expect(
                try refusal(Signer.hs256.token(good(), header: header))
                    == .duplicateMember(.header, name: name))
        }
        let claims: [(String, String)] = [
            (#"{"sub":"ada","exp":1700000060,"sub":"bob"}"#, "sub"),
            (#"{"sub":"ada","exp":1,"exp":1700000060}"#, "exp"),
            (#"{"sub":"ada","exp":1700000060,"e\u0078p":1700000060}"#, "exp"),
            (#"{"sub":"ada","exp":1700000060,"x":[{"y":1,"y":1}]}"#, "y"),
        ]
        for (claims, name) in claims {
            #expect(
                try refusal(Signer.hs256.token(claims)) == .duplicateMember(.claims, name: name))
        }
    }

    @Test func tokensOfMoreThan16KilobytesAreRefused() throws {
        func token(padding count: Int) -> String {
            Signer.hs256.token(good(["x": .string(String(repeating: "x", count: count))]))
        }
        var count = 12_000
        while token(padding: count + 1).utf8.count <= 16_384 { count += 1 }
        #expect(token(padding: count).utf8.count >= 16_383)
        #expect(try refusal(token(padding: count)) == nil)
        let larger = token(padding: count + 1)
        #expect(try refusal(larger) == .tooLarge(bytes: larger.utf8.count))
        let huge = String(repeating: ".", count: 10_000_000)
        #expect(try refusal(huge) == .tooLarge(bytes: 10_000_000))
    }

    @Test func deepJSONIsRefused() throws {
        func nested(_ depth: Int, _ pair: (String, String)) -> String {
            String(repeating: pair.0, count: depth) + "1" + String(repeating: pair.1, count: depth)
        }
        for pair in [("[", "]"), (#"{"x":"#, "}")] {
            let fits = #"{"sub":"ada","exp":1700000060,"x":\#(nested(15, pair))}"#
            #expect(try refusal(Signer.hs256.token(fits)) == nil)
            for depth in [16, 1_000] {
                let claims = #"{"sub":"ada","exp":1700000060,"x":\#(nested(depth, pair))}"#
                #expect(try refusal(Signer.hs256.token(claims))?.name == "invalidJSON")
                let header = #"{"alg":"HS256","x":\#(nested(depth, pair))}"#
                #expect(
                    try refusal(Signer.hs256.token(good(), header: header))?.name == "invalidJSON")
            }
        }
        let open = String(repeating: "[", count: 9_000)
        #expect(try refusal(Signer.hs256.token(open))?.name == "invalidJSON")
    }

    @Test(arguments: ["", " ", "[]", "null", #""ada""#, "1", "{", "{}x", "\u{FEFF}{}", "{} {}"])
    func whatIsNoObjectIsRefused(text: String) throws {
        for refusal in [
            try refusal(Signer.hs256.token(text)),
            try refusal(Signer.hs256.token(good(), header: text)),
        ] {
            #expect(["notAnObject", "invalidJSON"].contains(refusal?.name ?? "passes"))
        }
    }

    @Test func tokensHaveThreePartsThatEncodeBytes() throws {
        let token = Signer.hs256.token(good())
        for (text, count) in [
            ("", 1), ("a", 1), ("a.b", 2), (token + ".", 4), ("." + token, 4), ("a.b.c.d.e", 5),
        ] {
            #expect(try refusal(text) == .notThreeParts(count: count))
        }
        // A fifth of four characters stands for no byte, even if all of its bits are zero.
        let parts = token.split(separator: ".").map(String.init)
        let aligned = base64URL("{}   \n".utf8)
        #expect(aligned.utf8.count % 4 == 0)
        #expect(try refusal("\(aligned)A.e30.AAAA") == .invalidBase64(.header))
        #expect(try refusal("\(parts[0]).\(parts[1]).AAAAA") == .invalidBase64(.signature))
        #expect(try refusal("\(aligned).e30.AAAA") == .missing(.header, name: "alg"))
    }

    @Test func headersAndClaimsAreUTF8() throws {
        let bytes = Array(#"{"sub":"a"#.utf8) + [0xC0, 0x80] + Array(#"","exp":1700000060}"#.utf8)
        let signed = base64URL(#"{"alg":"HS256","kid":"hs"}"#.utf8) + "." + base64URL(bytes)
        let token = signed + "." + base64URL(Signer.hs256.signature(of: signed))
        #expect(try refusal(token)?.name == "invalidJSON")
    }
}
