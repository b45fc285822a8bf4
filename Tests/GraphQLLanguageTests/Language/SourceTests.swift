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

    @Test func anOffsetPastTheEndIsTheEnd() {
        #expect(Source("ab").location(at: 99) == SourceLocation(line: 1, column: 3))
        #expect(Source("").location(at: 0) == SourceLocation(line: 1, column: 1))
    }
}
