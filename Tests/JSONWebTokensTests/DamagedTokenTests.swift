import BoundedTesting
import JSONWebTokens
import RelayJSON
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Good tokens that were changed in every way that is not signed.
@Suite(.bounded) struct DamagedTokenTests {
    private static let claims = good(["iss": "https://issuer.example", "roles": ["admin"]])

    private let verifier: TokenVerifier

    init() throws { verifier = JSONWebTokensTests.verifier(try keySet(Signer.all)) }

    /// - Returns: whether it passes.
    private func passes(_ bytes: [UInt8]) -> Bool {
        verifier.refusal(String(decoding: bytes, as: UTF8.self)) == nil
    }

    @Test(arguments: 0..<4)
    func everyFlippedBitIsNoticed(index: Int) {
        let token = Array(Signer.all[index].token(Self.claims).utf8)
        #expect(passes(token))
        for place in token.indices {
            for bit in 0..<8 {
                var damaged = token
                damaged[place] ^= 1 << bit
                #expect(!passes(damaged), "bit \(bit) of byte \(place)")
            }
        }
    }

    @Test(arguments: 0..<4)
    func everyTruncationIsNoticed(index: Int) {
        let token = Array(Signer.all[index].token(Self.claims).utf8)
        for count in token.indices {
            #expect(!passes(Array(token.prefix(count))), "the first \(count) bytes")
            if count > 0 { #expect(!passes(Array(token.dropFirst(count))), "without \(count)") }
        }
    }

    @Test(arguments: 0..<4)
    func nothingCanBePutIn(index: Int) {
        let token = Array(Signer.all[index].token(Self.claims).utf8)
        for place in 0...token.count {
            for byte in Array(" \n\t\r\0=.A-+/%".utf8) + [0x7F] {
                #expect(!passes(token[..<place] + [byte] + token[place...]), "\(byte) at \(place)")
            }
        }
        for suffix in ["=", "==", ".", "..", ".e30", " ", "\n"] {
            #expect(!passes(token + Array(suffix.utf8)))
        }
    }

    /// Bits beyond the last byte: without strictness, one token could be written in several ways.
    @Test(arguments: 0..<4)
    func lastCharactersHaveOneForm(index: Int) throws {
        let signer = Signer.all[index]
        let text = signer.token(Self.claims)
        let parts = text.split(separator: ".").map { Array($0.utf8) }
        try #require(parts.count == 3)
        var strays = 0
        for (place, name) in [TokenError.Part.header, .claims, .signature].enumerated() {
            for character in base64URLAlphabet where character != parts[place].last {
                var changed = parts
                changed[place][changed[place].count - 1] = character
                let token = changed.map { String(decoding: $0, as: UTF8.self) }
                    .joined(separator: ".")
                let refusal = verifier.refusal(token)
                #expect(refusal != nil)
                if refusal == .invalidBase64(name) { strays += 1 }
            }
        }
        // The signatures: 32, 64 and 256 bytes leave 4, 2 and 2 bits over (of 6): 60, 60, 60 or 48 texts are none.
        #expect(strays >= (signer.algorithm == .hs256 ? 48 : 60))
    }

    @Test func otherAlphabetsAreRefused() throws {
        var found = 0
        for number in 0..<200 where found < 8 {
            let token = Signer.hs256.token(good(["n": .int(Int64(number))]))
            #expect(verifier.refusal(token) == nil)
            for (ours, other) in [("-", "+"), ("_", "/")] where token.contains(ours) {
                found += 1
                let changed = token.replacing(ours, with: other)
                #expect(verifier.refusal(changed)?.name == "invalidBase64")
            }
        }
        #expect(found >= 8)
    }

    @Test func partsOfTwoTokensDoNotMix() {
        for signer in Signer.all {
            let one = signer.token(good()).split(separator: ".")
            let other = signer.token(good(["sub": "bob"])).split(separator: ".")
            #expect(
                verifier.refusal([one[0], other[1], one[2]].joined(separator: "."))?.name
                    == "wrongSignature")
            #expect(verifier.refusal(one.joined(separator: ".")) == nil)
        }
    }

    @Test func randomTextIsRefused() {
        let seed = newSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3_000 {
            let count = random.below(200)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(!passes(bytes), "seed \(seed)")
            let text = (0..<count).map { _ in random.pick(base64URLAlphabet + Array("...".utf8)) }
            #expect(!passes(text), "seed \(seed)")
        }
    }

    /// Pieces of good tokens and of JSON, signed by nobody; and the same, signed: then only what has `sub` and `exp`
    /// may pass.
    @Test func randomJSONDoesNotTrap() {
        let seed = newSeed()
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", #""sub""#, #""exp""#, #""alg""#, #""HS256""#, #""kid""#,
            "1e400", "-0", "1.5e308", "9223372036854775808", "null", "true", #""\u0000""#, "\u{0}",
            #"{"alg":"HS256"}"#, #""sub":"ada""#, #""exp":1700000060"#,
        ]
        var passed = 0
        for _ in 0..<5_000 {
            func text() -> String {
                (0..<random.below(12)).map { _ in random.pick(pieces) }.joined()
            }
            let header = random.below(2) == 0 ? nil : text()
            let claims = random.below(2) == 0 ? text() : "{" + text() + "}"
            let token = Signer.hs256.token(claims, header: header)
            guard verifier.refusal(token) == nil else { continue }
            passed += 1
            #expect(claims.contains("sub") && claims.contains("exp"), "seed \(seed): \(claims)")
        }
        #expect(passed < 5_000)
    }
}

/// `RELAY_TOKEN_SEED` repeats a run.
private func newSeed() -> UInt64 {
    let given = getenv("RELAY_TOKEN_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? .random(in: 0...(.max))
    print("DamagedTokenTests: RELAY_TOKEN_SEED=\(seed)")
    return seed
}
