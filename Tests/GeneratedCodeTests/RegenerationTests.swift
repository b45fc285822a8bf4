import Foundation
import GraphQLLanguage
import RelayArtifacts
import RelayCompiler
import RelayIR
import Testing

/// The generated code beside this file is what the compiler makes of the documents beside it; that it compiles without
/// warnings is checked by the build.
///
/// `RELAY_WRITE_FIXTURES=1` writes it again.
@Suite struct RegenerationTests {
    @Test func theTodoClientIsWhatTheCompilerMakes() throws {
        let examples = Self.folder.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/examples")
        let schema = try Schema.build(
            [try Self.source(examples.appending(path: "todo.graphql"))],
            predefined: [try Self.source(examples.appending(path: "directives.graphql"))])
        try check("Todo", schema, GenerateOptions(access: .public))
    }

    /// Names that mean something in Swift, and shapes that are rare.
    @Test func theAdversarialDocumentsAreWhatTheCompilerMakes() throws {
        let schema = try Schema.build([
            try Self.source(Self.folder.appending(path: "Adversarial/schema.graphql"))
        ])
        try check("Adversarial", schema, GenerateOptions(scalars: ["DateTime": "Instant"]))
    }

    private func check(_ name: String, _ schema: Schema, _ options: GenerateOptions) throws {
        let folder = Self.folder.appending(path: name)
        let documents = try RelayDocuments(
            Document(parsing: try Self.source(folder.appending(path: "\(name).graphql"))),
            schema: schema)
        let code = GeneratedCode(documents, options: options)
        // The query that fetches a fragment again follows the fragment.
        let refetch = documents.fragments.compactMap(\.node.metadata.refetch?.operation)
        let names =
            documents.operations.map(\.request.params.name).filter { !refetch.contains($0) }
            + documents.fragments.map(\.node.name)
        for (file, text) in [
            ("\(name).graphql.swift", code.file(names)),
            ("\(name)Schema.graphql.swift", code.schemaFile()),
        ] {
            let place = folder.appending(path: file)
            if ProcessInfo.processInfo.environment["RELAY_WRITE_FIXTURES"] != nil {
                try text.write(to: place, atomically: true, encoding: .utf8)
            }
            let isSame = try String(contentsOf: place, encoding: .utf8) == text
            #expect(
                isSame, "\(file) is not what the compiler makes; RELAY_WRITE_FIXTURES=1 writes it.")
        }
    }

    private static var folder: URL { URL(filePath: #filePath).deletingLastPathComponent() }

    private static func source(_ file: URL) throws -> Source {
        Source(utf8: Array(try Data(contentsOf: file)), name: file.lastPathComponent)
    }
}
