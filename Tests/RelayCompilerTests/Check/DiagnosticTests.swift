import RelayCompiler
import RelayJSON
import Testing

@testable import GraphQLLanguage

@Suite struct DiagnosticTests {
    private static let list = Source("query A {\n\tb c b\n}", name: "Sources/List.graphql")
    private static let row = Source("query A { a }", name: "Sources/Row.graphql")

    private static func place(_ source: Source, _ line: Int, _ column: Int) -> SourcePlace {
        SourcePlace(source: source, location: SourceLocation(line: line, column: column))
    }

    @Test func anErrorHasItsPlaceAndTheLineWithACaret() {
        #expect(
            Diagnostic("Unknown field.", at: Self.place(Self.list, 2, 4)).description == """
                Sources/List.graphql:2:4: error: Unknown field.
                  2 | \tb c b
                    | \t  ^
                """)
        #expect(
            Diagnostic("Old field.", at: Self.place(Self.row, 1, 11), severity: .warning)
                .description == """
                    Sources/Row.graphql:1:11: warning: Old field.
                      1 | query A { a }
                        |           ^
                    """)
        #expect(Diagnostic("No schema.", at: nil).description == "error: No schema.")
    }

    @Test func furtherPlacesInTheLineHaveCaretsAndOthersAreNotes() {
        let places = [
            Self.place(Self.list, 2, 2), Self.place(Self.row, 1, 7), Self.place(Self.list, 2, 6),
        ]
        #expect(
            Diagnostic("Twice.", at: places).description == """
                Sources/List.graphql:2:2: error: Twice.
                  2 | \tb c b
                    | \t^   ^
                Sources/Row.graphql:1:7: note: Here, too.
                  1 | query A { a }
                    |       ^
                """)
        let note = Diagnostic.Note("It was b before.", at: Self.place(Self.list, 2, 6))
        #expect(
            Diagnostic("Changed.", at: Self.place(Self.list, 2, 2), notes: [note]).description
                == """
                Sources/List.graphql:2:2: error: Changed.
                  2 | \tb c b
                    | \t^
                Sources/List.graphql:2:6: note: It was b before.
                  2 | \tb c b
                    | \t    ^
                """)
    }

    @Test func errorsAreInTheOrderOfFilesAndPlacesEachOnce() {
        let errors = [
            Diagnostic("c", at: Self.place(Self.row, 1, 1)),
            Diagnostic("d", at: Self.place(Self.list, 2, 2)),
            Diagnostic("b", at: Self.place(Self.list, 2, 2)),
            Diagnostic("a", at: Self.place(Self.list, 2, 4)),
            Diagnostic("a", at: Self.place(Self.list, 1, 9)),
            Diagnostic("y", at: nil), Diagnostic("b", at: Self.place(Self.list, 2, 2)),
            Diagnostic("x", at: nil),
        ]
        let firstLines = Diagnostic.text(of: errors).split(separator: "\n").filter {
            $0.contains("error:")
        }
        #expect(
            firstLines == [
                "error: x", "error: y", "Sources/List.graphql:1:9: error: a",
                "Sources/List.graphql:2:2: error: b", "Sources/List.graphql:2:2: error: d",
                "Sources/List.graphql:2:4: error: a", "Sources/Row.graphql:1:1: error: c",
            ])
        #expect(Diagnostic.text(of: []) == "")
    }

    /// Two rules may see the same: one of two places, one of three.
    @Test func whatIsSaidTwiceOfAPlaceIsOneErrorWithAllPlaces() {
        let places = [
            Self.place(Self.list, 2, 2), Self.place(Self.row, 1, 7), Self.place(Self.row, 1, 9),
        ]
        let errors = Diagnostic.sorted([
            Diagnostic("Twice.", at: [places[0], places[2]]), Diagnostic("Twice.", at: places),
            Diagnostic("Twice.", at: [places[1], places[2]]),
        ])
        #expect(errors.count == 2)
        #expect(errors.first?.notes.map(\.place) == [places[2], places[1]])
    }

    @Test func furtherPlacesAreInTheJSON() {
        let places = [Self.place(Self.list, 2, 2), Self.place(Self.row, 1, 7)]
        #expect(
            JSONValue.object(Diagnostic("Twice.", at: places).json) == [
                "severity": "error", "file": "Sources/List.graphql", "line": 2, "column": 2,
                "message": "Twice.",
                "related": [
                    [
                        "file": "Sources/Row.graphql", "line": 1, "column": 7,
                        "message": "Here, too.",
                    ]
                ],
            ])
        #expect(Diagnostic("No schema.", at: nil).json["related"] == nil)
    }

    @Test func errorsOfDocumentsAndSchemasAreOnesOfThis() throws {
        let text = Source("type Query { a: A }", name: "schema.graphql")
        let schemaErrors = try #require(throws: SchemaErrors.self) { try Schema.build([text]) }
        #expect(
            schemaErrors.errors.map { Diagnostic($0).description } == [
                """
                schema.graphql:1:17: error: Unknown type "A".
                  1 | type Query { a: A }
                    |                 ^
                """
            ])
        let error = DocumentError(
            "No.", locations: [SourceLocation(line: 1, column: 1)], code: nil)
        #expect(
            Diagnostic(error, in: Self.row).description == """
                Sources/Row.graphql:1:1: error: No.
                  1 | query A { a }
                    | ^
                """)
    }
}
