import Testing

@testable import GraphQLLanguage

/// A text that was taken from a file of another language: what is said about it is about the file.
@Suite struct SourceOriginTests {
    private static let file = Source("let a = q(\"é\\n{ b }\")\nlet c = 😀", name: "A.swift")
    /// `é`, LF (from the escape sequence), `{ b }`.
    private static let source = Source(
        utf8: Array("é\n{ b }".utf8),
        from: SourceOrigin(
            file: file,
            runs: [
                .init(text: 0, file: 11, isCopy: true), .init(text: 2, file: 13, isCopy: false),
                .init(text: 3, file: 15, isCopy: true),
            ]))

    @Test func aLocationIsLineAndColumnOfTheFile() {
        #expect(Self.source.name == "A.swift")
        #expect(Self.source.location(at: 0) == SourceLocation(line: 1, column: 12))
        #expect(Self.source.location(at: 2) == SourceLocation(line: 1, column: 13))
        #expect(Self.source.location(at: 3) == SourceLocation(line: 1, column: 15))
        #expect(Self.source.location(at: 5) == SourceLocation(line: 1, column: 17))
        #expect(Self.source.location(at: 99) == SourceLocation(line: 1, column: 20))
        #expect(
            Self.source.locations(at: [5, 0])
                == [SourceLocation(line: 1, column: 17), SourceLocation(line: 1, column: 12)])
    }

    @Test func theBytesOfOneEscapeSequenceAreAllFromItsBeginning() {
        let source = Source(
            utf8: Array("😀x".utf8),
            from: SourceOrigin(
                file: Self.file,
                runs: [
                    .init(text: 0, file: 4, isCopy: false), .init(text: 4, file: 9, isCopy: true),
                ]))
        #expect((0...3).map { source.location(at: $0).column } == [5, 5, 5, 5])
        #expect(source.location(at: 4).column == 10)
    }

    @Test func aDocumentThatStartsElsewhereKeepsItsOrigin() {
        let moved = Self.source.starting(at: 1_000)
        #expect(moved.location(at: 1_005) == SourceLocation(line: 1, column: 17))
    }

    @Test func syntaxErrorsAndExcerptsShowTheFile() throws {
        let error = try #require(throws: DocumentError.self) {
            try Document(parsing: Self.source)
        }
        #expect(error.locations == [SourceLocation(line: 1, column: 12)])
        let place = Self.source.place(of: 5)
        #expect(place.line == "let a = q(\"é\\n{ b }\")")
        #expect(
            SourceExcerpt.excerpts(of: [place])
                == ["  1 | let a = q(\"é\\n{ b }\")\n    |                 ^"])
    }

    /// Two literals in one line of the file.
    @Test func placesOfTwoDocumentsInOneLineAreInOneExcerpt() {
        let file = Source("q(\"{ a }\", \"{ b }\")", name: "A.swift")
        let sources = [3, 12].map { start in
            Source(
                utf8: Array(file.bytes[start..<start + 5]),
                from: SourceOrigin(
                    file: file, runs: [.init(text: 0, file: start, isCopy: true)]))
        }
        #expect(
            SourceExcerpt.excerpts(of: sources.map { $0.place(of: 2) })
                == ["  1 | q(\"{ a }\", \"{ b }\")\n    |      ^        ^"])
    }
}
