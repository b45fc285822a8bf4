import Testing

@testable import GraphQLLanguage

@Suite struct SourceTests {
    @Test func everyLineTerminatorStartsALine() {
        let source = Source("a\nb\rc\r\nd")
        #expect(source.location(at: 0) == SourceLocation(line: 1, column: 1))
        #expect(source.location(at: 2) == SourceLocation(line: 2, column: 1))
        #expect(source.location(at: 4) == SourceLocation(line: 3, column: 1))
        #expect(source.location(at: 7) == SourceLocation(line: 4, column: 1))
    }

    @Test func columnsCountUTF16CodeUnitsAsGraphqlJsDoes() {
        let source = Source("é☃😀x")
        #expect(source.location(at: 2).column == 2)
        #expect(source.location(at: 5).column == 3)
        #expect(source.location(at: 9).column == 5)
    }

    /// However far behind the beginning it is counted from.
    @Test func placesOfALongDocumentAreThoseCountedInOneGo() {
        let pieces = ["a", "\r\n", "é", "\r", "😀", "\n", "☃bc", "\r\n\r\n"]
        let text = (0..<4_000).map { pieces[$0 * $0 % 31 % pieces.count] }.joined()
        let source = Source(text)
        // Where a scalar begins, the line feed of a CRLF left out.
        let offsets = source.bytes.indices.filter {
            let isLineFeedOfCRLF = $0 > 0 && source.bytes[$0 - 1] == 13 && source.bytes[$0] == 10
            return source.bytes[$0] & 0xC0 != 0x80 && !isLineFeedOfCRLF
        }
        #expect(offsets.count > 3_000)
        #expect(offsets.map { source.location(at: $0) } == source.locations(at: offsets))
    }

    @Test func anOffsetPastTheEndIsTheEnd() {
        #expect(Source("ab").location(at: 99) == SourceLocation(line: 1, column: 3))
        #expect(Source("").location(at: 0) == SourceLocation(line: 1, column: 1))
    }
}
