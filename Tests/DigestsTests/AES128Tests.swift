import BoundedTesting
import Testing

@testable import Digests

@Suite struct AES128Tests {
    /// FIPS 197, appendices B and C.1: key, block, encrypted block.
    static let vectors = [
        (
            "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
            "69c4e0d86a7b0430d8cdb78070b4c55a"
        ),
        (
            "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
            "3925841d02dc09fbdc118597196a0b32"
        ),
    ]

    @Test(arguments: vectors)
    func blocksAreThoseOfTheStandard(_ key: String, _ plain: String, _ encrypted: String) throws {
        let cipher = AES128(key: try #require([UInt8](hexadecimal: key)))
        let (plain, encrypted) = (try block(plain), try block(encrypted))
        #expect(cipher.encrypt(plain) == encrypted)
        #expect(cipher.decrypt(encrypted) == plain)
    }

    /// No block depends on the one before, in either direction.
    @Test func eachBlockIsByItself() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed: \(seed)")
        var random = SeededGenerator(seed: seed)
        let key = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        let cipher = AES128(key: key)
        for _ in 0..<1_000 {
            let block = AES128.Block(high: random.next(), low: random.next())
            let encrypted = AES128(key: key).encrypt(block)
            #expect(cipher.encrypt(block) == encrypted && cipher.decrypt(encrypted) == block)
        }
    }

    private func block(_ digits: String) throws -> AES128.Block {
        AES128.Block(
            high: try #require(UInt64(digits.prefix(16), radix: 16)),
            low: try #require(UInt64(digits.suffix(16), radix: 16)))
    }
}
