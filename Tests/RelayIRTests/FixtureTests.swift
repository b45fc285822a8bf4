import Foundation
import GraphQLLanguage
import RelayArtifacts
import RelayIR
import Testing

/// Whole documents and everything that is made of them: `name.graphql` and `name.expected`.
///
/// `RELAY_WRITE_FIXTURES=1` writes what is expected; read it before committing.
@Suite struct FixtureTests {
    @Test(arguments: ["todo", "tracker"])
    func documentsCompileToWhatTheyDid(_ name: String) throws {
        let schema = name == "todo" ? try ExampleSchema.todo() : try ExampleSchema.tracker()
        let documents = try RelayDocuments(
            Document(parsing: Source(try Fixture.text("\(name).graphql"))), schema: schema)
        let text = documents.text
        if ProcessInfo.processInfo.environment["RELAY_WRITE_FIXTURES"] != nil {
            try text.write(to: Fixture.file("\(name).expected"), atomically: true, encoding: .utf8)
        }
        #expect(try Fixture.text("\(name).expected") == text)
    }
}

enum Fixture {
    static func file(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)")
    }

    static func text(_ name: String) throws -> String {
        try String(contentsOf: file(name), encoding: .utf8)
    }
}

extension RelayDocuments {
    /// Every operation's text and nodes, then every fragment's node.
    fileprivate var text: String {
        let operations = operations.map { operation in
            """
            ===== \(operation.request.params.name)
            \(operation.text)
            --- read
            \(operation.request.fragment.text)
            --- normalized
            \(operation.request.operation.text)

            """
        }
        let fragments = fragments.map { fragment in
            """
            ===== \(fragment.node.name)
            \(fragment.node.text)

            """
        }
        return (operations + fragments).joined(separator: "\n")
    }
}
