import Foundation
import RelayCompiler
import Testing

/// A plugin passes over sources without documents, and knows them by a guess.
@Suite struct DocumentGuessTests {
    @Test(arguments: [
        #"graphql("query Q { a }")"#, #"let q = graphql ( "query Q { a }" )"#,
        ##"graphql(#"query Q { a }"#)"##, "graphql(\"\"\"\n    query Q { a }\n    \"\"\")",
        #"graphql /* A note, /* and one in it. */ */ ("query Q { a }")"#,
        "graphql(\n    // A note.\n    /**/ \"query Q { a }\")",
        #"Relay.graphql("query Q { a }")"#, #"let graphql2 = graphql("query Q { a }")"#,
        #"let url = "https://example.org/graphql"; let q = graphql("query Q { a }")"#,
        "graphql(\r\n\t\"query Q { a }\")",
    ])
    func sourcesWithDocumentsAreKnown(_ text: String) throws {
        #expect(DocumentGuess.isLikely(in: Data(text.utf8)))
        var extraction = Extraction()
        extraction.add(Array(text.utf8), file: "Q.swift")
        let (documents, mistakes) = extraction.parse()
        #expect(documents.count == 1 && mistakes.isEmpty)
    }

    @Test(arguments: [
        "", "graphql", "graphql(", "graphql /*", "graphql //", "graphql(/", "graphql(/* \"",
        "graph(\"\")",
        #"WebSocketNetwork(url: "wss://example.org/graphql")"#,
        #"let url = "https://example.org/graphql" // ("here")"#,
        "func graphql(_ request: Request) -> Response", "server.graphql(request)",
        "// See graphql.org (\"the site\").",
    ])
    func sourcesThatMentionTheWordHaveNone(_ text: String) {
        #expect(!DocumentGuess.isLikely(in: Data(text.utf8)))
    }

    /// The same for bytes that do not begin at 0.
    @Test func aPartOfDataIsLookedAt() {
        let data = Data(#"----graphql("query Q { a }")"#.utf8)
        #expect(DocumentGuess.isLikely(in: data[4...]) && !DocumentGuess.isLikely(in: data[5...]))
    }
}
