import Testing

@testable import GraphQLLanguage
@testable import RelayCompiler

@Suite struct ExtractionTests {
    @Test func documentsComeFromSwiftAndGraphQLFiles() throws {
        var extraction = Extraction()
        extraction.add(
            Array(#"let a = graphql("query ListQuery { a }"), b = graphql("{ b")"#.utf8),
            file: "Sources/App/List.swift")
        extraction.add(Array("let c = 1".utf8), file: "Other.swift")
        extraction.add(Array("# All\nquery Names { names }\n".utf8), file: "a.b/All.names.graphql")
        #expect(extraction.documents.map(\.fileBaseName) == ["List", "List", "All.names"])
        #expect(
            extraction.documents.map(\.file) == [
                "Sources/App/List.swift", "Sources/App/List.swift", "a.b/All.names.graphql",
            ])
        #expect(extraction.documents.map(\.fileKind) == [.swift, .swift, .graphQL])

        let (parsed, errors) = extraction.parse()
        #expect(parsed.map(\.document.operations.first?.name?.value) == ["ListQuery", "Names"])
        #expect(
            errors.map(\.description) == [
                #"""
                Sources/App/List.swift:1:59: error: Syntax Error: Expected Name, found <EOF>.
                  1 | let a = graphql("query ListQuery { a }"), b = graphql("{ b")
                    |                                                           ^
                """#
            ])
    }

    /// So that a node's location says which document it is in.
    @Test func locationsOfDifferentDocumentsAreDifferent() throws {
        var extraction = Extraction()
        extraction.add(Array(#"graphql("{ a }"); graphql("{ b }")"#.utf8), file: "A.swift")
        extraction.add(Array("\n  { c }".utf8), file: "B.graphql")
        let ranges = extraction.documents.map(\.source.locations)
        #expect(ranges == [0...5, 6...11, 12...20])
        let (parsed, _) = extraction.parse()
        let places = parsed.map { document -> String in
            let location = document.document.operations[0].location
            let place = document.extracted.place(of: location)
            return "\(place.file):\(place.location.line):\(place.location.column): \(place.line)"
        }
        #expect(
            places == [
                #"A.swift:1:10: graphql("{ a }"); graphql("{ b }")"#,
                #"A.swift:1:28: graphql("{ a }"); graphql("{ b }")"#, "B.graphql:2:3:   { c }",
            ])
    }

    @Test func aByteOrderMarkIsNoColumn() throws {
        for file in ["A.swift", "A.graphql"] {
            var extraction = Extraction()
            let text = file == "A.swift" ? #"graphql("{ a }")"# : "{ a }"
            extraction.add([0xEF, 0xBB, 0xBF] + Array(text.utf8), file: file)
            let document = try #require(extraction.documents.first)
            #expect(document.place(of: 0).location.column == (file == "A.swift" ? 10 : 1))
            #expect(document.place(of: 0).line == text)
        }
    }

    @Test func malformedUTF8IsNoTrap() throws {
        var extraction = Extraction()
        extraction.add(
            Array(#"/*"#.utf8) + [0xFF, 0xC0] + Array(#"*/ graphql("{ "#.utf8)
                + [0xE2, 0x82] + Array(#" }")"#.utf8), file: "A.swift")
        #expect(
            extraction.parse().errors.map(\.message) == [
                "Syntax Error: Unexpected character: U+FFFD."
            ])
    }

    @Test(arguments: [
        ("List.swift", "List"), ("a/b/List.swift", "List"), ("List+Row.swift", "List+Row"),
        ("List.view.swift", "List.view"), (".swift", ".swift"), ("a.b/.swift", ".swift"),
        ("List", "List"), ("", ""), ("/", ""),
    ])
    func aBaseNameHasNoFolderAndNoExtension(_ file: String, expected: String) {
        let document = ExtractedDocument(source: Source("", name: file), fileKind: .graphQL)
        #expect(document.fileBaseName == expected)
    }
}
