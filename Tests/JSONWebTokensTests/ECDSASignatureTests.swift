import RelayJSON
import Testing

@testable import JSONWebTokens

@Suite struct ECDSASignatureTests {
    private static let order: [UInt8] =
        [255, 255, 255, 255, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8) + [
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
            0x25,
            0x51,
        ]
    private static let zero = [UInt8](repeating: 0, count: 32)

    private func number(_ head: [UInt8], _ tail: [UInt8] = []) -> [UInt8] {
        head + [UInt8](repeating: 0, count: 32 - head.count - tail.count) + tail
    }

    @Test func numbersBecomeDER() {
        #expect(
            ECDSASignature.der(number([], [1]) + number([], [0x7F]))
                == [0x30, 6, 2, 1, 1, 2, 1, 0x7F])
        #expect(
            ECDSASignature.der(number([], [0x80]) + number([], [1, 0]))
                == [0x30, 8, 2, 2, 0, 0x80, 2, 2, 1, 0])
        let large = number([0x80])
        #expect(
            ECDSASignature.der(large + number([0x7F]))
                == [0x30, 69, 2, 33, 0] + large + [2, 32] + number([0x7F]))
    }

    /// libcrypto would refuse these, too; it does not come to that.
    @Test func numbersAreFrom1ToTheOrder() throws {
        let one = number([], [1])
        let last = Self.order.dropLast() + [0x50]
        for good in [one, Array(last)] {
            #expect(ECDSASignature.der(good + one) != nil && ECDSASignature.der(one + good) != nil)
        }
        let tooLarge = [Self.order, [UInt8](repeating: 255, count: 32)]
        for bad in [Self.zero, Self.order.dropLast() + [0x52]] + tooLarge {
            #expect(ECDSASignature.der(bad + one) == nil && ECDSASignature.der(one + bad) == nil)
        }
        #expect(ECDSASignature.der([]) == nil)
        #expect(ECDSASignature.der(one + one + [0]) == nil)
    }

    /// Numbers that need a zero in front, and numbers that have some: one signature in a hundred.
    @Test func signaturesPassWhateverTheyBeginWith() throws {
        let verifier = verifier(try keySet([.es256]))
        var missing: Set<Int> = [0, 0x7F, 0x80, 0xFF, 256, 256 + 0x7F, 256 + 0x80, 256 + 0xFF]
        for serial in 0..<20_000 where !missing.isEmpty {
            let token = Signer.es256.token(good(["jti": .int(Int64(serial))]))
            let text = token.split(separator: ".").last.map(String.init) ?? ""
            let signature = try #require(Base64URL.decode(text))
            let found = [Int(signature[0]), 256 + Int(signature[32])].filter(missing.contains)
            guard !found.isEmpty else { continue }
            missing.subtract(found)
            #expect(verifier.refusal(token) == nil, "\(signature)")
        }
        #expect(missing.isEmpty)
    }
}
