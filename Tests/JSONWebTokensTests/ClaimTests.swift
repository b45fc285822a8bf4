import JSONWebTokens
import RelayJSON
import Testing

/// RFC 7519 §4, in tokens whose signature is right.
@Suite struct ClaimTests {
    private let signer = Signer.hs256

    private func refusal(
        _ claims: JSONValue, _ options: TokenVerifier.Options = .init(leewaySeconds: 10)
    ) throws -> TokenError? {
        try verifier(keySet([signer]), options).refusal(signer.token(claims))
    }

    private func viewer(
        _ claims: String, _ options: TokenVerifier.Options = .init(leewaySeconds: 10)
    ) throws -> VerifiedToken {
        try verifier(keySet([signer]), options).viewer(of: signer.token(claims))
    }

    // MARK: Times

    @Test(
        arguments: [
            (JSONValue.int(now + 60), nil), (.int(now - 9), nil), (.int(now - 10), "expired"),
            (.double(Double(now) - 9.999), nil), (.double(Double(now) - 10.001), "expired"),
            (.int(0), "expired"), (.int(-1), "expired"), (.int(.min), "expired"), (.int(.max), nil),
            (.double(1e300), nil), (.double(-1e300), "expired"), (.double(9.3e18), nil),
            (.double(2.305843009213694e12), nil), (.double(2.305843009213693e12), nil),
            (.int(2_305_843_009_213), nil), (.int(2_305_843_009_214), nil),
            (.string("1800000000"), "malformed"), (.bool(true), "malformed"), (.null, "malformed"),
            (.array([1_800_000_000]), "malformed"), (.object([:]), "malformed"),
        ] as [(JSONValue, String?)])
    func expiry(exp: JSONValue, expected: String?) throws {
        #expect(try refusal(good(["exp": exp]))?.name == expected, "\(exp)")
    }

    @Test func expiryIsRequired() throws {
        #expect(try refusal(["sub": "ada"]) == .missing(.claims, name: "exp"))
    }

    @Test(
        arguments: [
            (JSONValue.int(now - 60), nil), (.int(now), nil), (.int(now + 10), nil),
            (.int(now + 11), "notYetValid"), (.double(Double(now) + 10.001), "notYetValid"),
            (.int(.max), "notYetValid"), (.int(.min), nil), (.double(1e300), "notYetValid"),
            (.double(-1e300), nil), (.string("0"), "malformed"), (.null, "malformed"),
        ] as [(JSONValue, String?)])
    func beginning(nbf: JSONValue, expected: String?) throws {
        #expect(try refusal(good(["nbf": nbf]))?.name == expected, "\(nbf)")
        let issued = expected == "notYetValid" ? "issuedInFuture" : expected
        #expect(try refusal(good(["iat": nbf]))?.name == issued, "\(nbf)")
    }

    /// A number that no Double holds is no number.
    @Test func infiniteTimesAreRefused() throws {
        let token = signer.token(#"{"sub":"ada","exp":1e999}"#)
        #expect(try verifier(keySet([signer])).refusal(token)?.name == "invalidJSON")
    }

    @Test func expiryOfTheViewerIncludesTheLeewayAndItsFraction() throws {
        let exact = try viewer(#"{"sub":"ada","exp":1700000000.25}"#)
        #expect(exact.expiresAt == 1_700_000_010_250_000)
        // Less than a microsecond is cut off: Doubles of today's size have half of one.
        let cut = try viewer(#"{"sub":"ada","exp":1700000000.0000007}"#)
        #expect(cut.expiresAt == 1_700_000_010_000_000)
        let never = try viewer(#"{"sub":"ada","exp":1e300}"#)
        #expect(never.expiresAt > 4_000_000_000_000_000 && never.expiresAt < .max)
    }

    @Test func leewayIsBounded() throws {
        let claims = good(["exp": .int(now - 3_600)])
        #expect(try refusal(claims, .init(leewaySeconds: .max))?.name == "expired")
        #expect(try refusal(good(["exp": .int(now - 3_599)]), .init(leewaySeconds: .max)) == nil)
        #expect(
            try refusal(good(["exp": .int(now)]), .init(leewaySeconds: .min))?.name == "expired")
        #expect(try refusal(good(["exp": .int(now + 1)]), .init(leewaySeconds: .min)) == nil)
    }

    // MARK: From whom, for whom

    @Test(
        arguments: [
            (JSONValue.string("https://a"), nil), (.string("https://a/"), "wrongIssuer"),
            (.string("HTTPS://a"), "wrongIssuer"), (.string(""), "wrongIssuer"),
            (.array(["https://a"]), "malformed"), (.int(1), "malformed"), (.null, "malformed"),
        ] as [(JSONValue, String?)])
    func issuer(iss: JSONValue, expected: String?) throws {
        let options = TokenVerifier.Options(issuer: "https://a")
        #expect(try refusal(good(["iss": iss]), options)?.name == expected, "\(iss)")
        #expect(try refusal(good(["iss": iss])) == nil, "it is looked at only if an option says so")
    }

    @Test(
        arguments: [
            (JSONValue.string("api"), nil), (.array(["web", "api"]), nil), (.array(["api"]), nil),
            (.string("API"), "wrongAudience"), (.string("api "), "wrongAudience"),
            (.array(["web"]), "wrongAudience"), (.array([]), "wrongAudience"),
            (.array(["api", 1]), "malformed"), (.array([["api"]]), "malformed"),
            (.int(1), "malformed"),
            (.null, "malformed"), (.object(["api": true]), "malformed"),
        ] as [(JSONValue, String?)])
    func audience(aud: JSONValue, expected: String?) throws {
        let options = TokenVerifier.Options(audience: "api")
        #expect(try refusal(good(["aud": aud]), options)?.name == expected, "\(aud)")
        #expect(try refusal(good(["aud": aud])) == nil, "it is looked at only if an option says so")
    }

    @Test func absentIssuerAndAudienceAreRefusedWhereTheyAreDemanded() throws {
        #expect(try refusal(good(), .init(issuer: "a")) == .missing(.claims, name: "iss"))
        #expect(try refusal(good(), .init(audience: "a")) == .missing(.claims, name: "aud"))
    }

    /// Two ways to write é are two issuers.
    @Test func issuersAreComparedByteByByte() throws {
        let options = TokenVerifier.Options(issuer: "\u{E9}", audience: "\u{E9}")
        let one = good(["iss": "\u{E9}", "aud": "\u{E9}"])
        #expect(try refusal(one, options) == nil)
        #expect(
            try refusal(good(["iss": "e\u{301}", "aud": "\u{E9}"]), options)?.name == "wrongIssuer")
        #expect(
            try refusal(good(["iss": "\u{E9}", "aud": "e\u{301}"]), options)?.name
                == "wrongAudience")
    }

    // MARK: Who

    @Test(
        arguments: [
            (JSONValue.string("ada"), "ada"), (.string(" "), " "), (.int(42), "42"),
            (.int(-1), "-1"),
            (.string(""), nil), (.double(4.5), nil), (.double(1e3), nil), (.bool(true), nil),
            (.null, nil), (.array(["ada"]), nil), (.object(["id": "ada"]), nil),
            (.string("a\u{FFFD}"), nil),
        ] as [(JSONValue, String?)])
    func viewerClaim(value: JSONValue, expected: String?) throws {
        for claim in ["sub", "https://issuer.example/user"] {
            let options = TokenVerifier.Options(viewerClaim: claim)
            let token = signer.token(good([claim: value]))
            let verifier = try verifier(keySet([signer]), options)
            if let expected {
                #expect(try verifier.viewer(of: token).viewer == expected)
            } else {
                #expect(verifier.refusal(token) == .malformed(.claims, name: claim))
            }
        }
        let options = TokenVerifier.Options(viewerClaim: "email")
        #expect(try refusal(good(), options) == .missing(.claims, name: "email"))
    }

    /// What is no Unicode would read as the same id for all.
    @Test func halfASurrogatePairIsNoViewer() throws {
        let token = signer.token(#"{"sub":"\ud800","exp":1700000060}"#)
        let refusal = try verifier(keySet([signer])).refusal(token)
        #expect(refusal == .malformed(.claims, name: "sub"))
    }

    @Test func claimsAreScalarsAndListsOfThem() throws {
        let viewer = try viewer(
            #"""
            {"sub":"ada","exp":1700000060,"text":"é","whole":1,"part":1.5,"yes":true,"no":false,"list":["a",1,true],
            "empty":[],"null":null,"object":{"a":1},"deep":[["a"]],"mixed":["a",null],"objects":[{}]}
            """#)
        #expect(
            viewer.claims == [
                "sub": "ada", "exp": 1_700_000_060, "text": "é", "whole": 1, "part": 1.5,
                "yes": true, "no": false, "list": ["a", 1, true], "empty": [], "mixed": ["a"],
            ])
    }
}
