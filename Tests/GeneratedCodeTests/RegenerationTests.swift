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
        try check(
            "Adversarial", try Self.adversarialSchema(),
            GenerateOptions(scalars: ["DateTime": "Instant"]))
    }

    /// What Swift reads in generated literals is what the compiler wrote there.
    @Test func compiledLiteralsAreTheirArtifacts() throws {
        let documents = try Self.documents("Adversarial", try Self.adversarialSchema())
        for (name, node) in [
            ("AdvTextMutation", AdvTextMutation.node), ("AdvQuery", AdvQuery.node),
            ("AdvMutation", AdvMutation.node), ("AdvCountQuery", AdvCountQuery.node),
        ] {
            #expect(node.artifact == documents.operation(name)?.request.artifact)
        }
        #expect(AdvTextMutation.node.params.text?.contains("\\\"\\\"\\\"##") == true)
        #expect(Adv_node.node.artifact == documents.fragment("Adv_node")?.node.artifact)
        #expect(Adv_count.node.artifact == documents.fragment("Adv_count")?.node.artifact)
    }

    private func check(_ name: String, _ schema: Schema, _ options: GenerateOptions) throws {
        let folder = Self.folder.appending(path: name)
        let documents = try Self.documents(name, schema)
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

    private static func adversarialSchema() throws -> Schema {
        try Schema.build([try source(folder.appending(path: "Adversarial/schema.graphql"))])
    }

    private static func documents(_ name: String, _ schema: Schema) throws -> RelayDocuments {
        try RelayDocuments(
            Document(parsing: try source(folder.appending(path: "\(name)/\(name).graphql"))),
            schema: schema)
    }

    private static var folder: URL { URL(filePath: #filePath).deletingLastPathComponent() }

    private static func source(_ file: URL) throws -> Source {
        Source(utf8: Array(try Data(contentsOf: file)), name: file.lastPathComponent)
    }
}
