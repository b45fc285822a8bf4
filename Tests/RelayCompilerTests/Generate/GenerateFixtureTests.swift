import Foundation
import GraphQLLanguage
import RelayArtifacts
import RelayCompiler
import RelayIR
import Testing

/// One shape of generated code each: `name.graphql` has a schema and, below a line, documents; `name.expected` has the
/// code, without the artifacts' texts: RelayIRTests show what they say.
///
/// `RELAY_WRITE_FIXTURES=1` writes what is expected; read it before committing. GeneratedCodeTests compile such code.
@Suite struct GenerateFixtureTests {
    @Test(arguments: [
        "abstract", "deprecated", "errors", "inputs", "mutation", "names", "pagination", "plural",
        "query", "variables",
    ])
    func documentsBecomeTheCodeThatTheyDid(_ name: String) throws {
        let parts = try GenerateFixture.text("\(name).graphql").components(separatedBy: "# ---\n")
        let documents = try RelayDocuments(
            Document(parsing: try #require(parts.last)),
            schema: try Schema.build([Source(try #require(parts.first))]))
        let code = GeneratedCode(
            documents,
            options: GenerateOptions(
                access: name == "mutation" ? .public : .internal,
                scalars: ["Time": "Foundation.Date"], imports: ["Foundation"]))
        let names =
            documents.operations.map(\.request.params.name)
            + documents.fragments.map(\.node.name)
        // As Swift reads them, the literals are the artifacts. (The query of a fragment may come before the others.)
        #expect(
            Set(SwiftLiterals.values(in: code.file(names)))
                == Set(
                    documents.operations.map(\.request.artifact)
                        + documents.fragments.map(\.node.artifact)))
        let text = [code.file(names), code.schemaFile()].map(withoutArtifacts)
            .joined(separator: "\n")
        if ProcessInfo.processInfo.environment["RELAY_WRITE_FIXTURES"] != nil {
            let file = GenerateFixture.file("\(name).expected")
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try GenerateFixture.text("\(name).expected") == text)
    }

    private func withoutArtifacts(_ text: String) -> String {
        var isArtifact = false
        return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            if line.contains("\"\"\"#") { isArtifact = false }
            defer { if line.contains("artifact: #\"\"\"") { isArtifact = true } }
            return !isArtifact
        }.joined(separator: "\n")
    }
}

enum GenerateFixture {
    static func file(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/Generate/\(name)")
    }

    static func text(_ name: String) throws -> String {
        try String(contentsOf: file(name), encoding: .utf8)
    }
}
