import Testing

@testable import GraphQLLanguage

/// What is shown of the lines that mistakes are in.
@Suite struct SourceExcerptTests {
    private static func shown(_ text: String, _ places: (line: Int, column: Int)...) -> [String] {
        let source = Source(text)
        return SourceExcerpt.excerpts(
            of: places.map {
                SourcePlace(
                    source: source, location: SourceLocation(line: $0.line, column: $0.column))
            })
    }

    @Test func theLineHasACaretUnderEachPlace() {
        #expect(
            Self.shown("type Query {\n  user: Usr\n}", (2, 9)) == [
                "  2 |   user: Usr\n    |         ^"
            ])
        #expect(Self.shown("a b c", (1, 1), (1, 5)) == ["  1 | a b c\n    | ^   ^"])
    }

    @Test func linesOfOneMistakeHaveOneMargin() {
        let text = (1...10).map { "type T\($0)" }.joined(separator: "\r\n")
        #expect(
            Self.shown(text, (10, 6), (2, 6)) == [
                "  10 | type T10\n     |      ^", "   2 | type T2\n     |      ^",
            ])
    }

    @Test func theEndOfALineAndOfTheDocumentHaveACaret() {
        #expect(Self.shown("a: B", (1, 5)) == ["  1 | a: B\n    |     ^"])
        #expect(Self.shown("a\n", (2, 1)) == ["  2 |\n    | ^"])
    }

    @Test func tabsAndWideCharactersDoNotMoveTheCaret() {
        #expect(Self.shown("\ta: B", (1, 5)) == ["  1 | \ta: B\n    | \t   ^"])
        #expect(Self.shown("\"語\" b", (1, 5)) == ["  1 | \"語\" b\n    |      ^"])
        // A column counts UTF-16 code units: the emoji is two of them, and two columns wide.
        #expect(Self.shown("\"😀\" b", (1, 6)) == ["  1 | \"😀\" b\n    |      ^"])
    }

    @Test func ofALongLineThePartAroundThePlaceIsShown() throws {
        let text = String(repeating: "x", count: 500) + "!" + String(repeating: "y", count: 500)
        let lines = try #require(Self.shown(text, (1, 501)).first).split(separator: "\n")
        #expect(lines[0].count == "  1 | ".count + 102)
        #expect(lines[0].hasPrefix("  1 | …x") && lines[0].hasSuffix("y…"))
        let caret = try #require(lines[1].firstIndex(of: "^"))
        let column = lines[1].distance(from: lines[1].startIndex, to: caret)
        #expect(Array(lines[0])[column] == "!")
    }

    @Test func aFileCannotWriteToATerminal() {
        #expect(
            Self.shown("a \u{1B}[31m\u{202E} b", (1, 9))
                == ["  1 | a \u{FFFD}[31m\u{FFFD} b\n    |         ^"])
    }

    @Test func placesBeyondTheTextAreAtItsEnd() {
        #expect(Self.shown("ab", (1, 99), (7, 3)) == ["  1 | ab\n    |   ^", "  7 |\n    | ^"])
    }
}
