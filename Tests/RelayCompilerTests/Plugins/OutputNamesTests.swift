import Foundation
import RelayCompiler
import Testing

/// A plugin says in advance which files the compiler will write. If it is wrong, a build fails.
@Suite struct OutputNamesTests {
    @Test(arguments: [
        "List.swift", "A.b.swift", "A.graphql", "A.swift.graphql", "A.graphql.graphql",
        "Two words.swift",
        "A..swift", "Größe.swift", "A%20b.swift", "A#b?c.swift", "A+B~.swift", "Schema.swift",
        "Schema.graphql", ".Hidden.swift", "🙂.swift",
    ])
    func pluginsAndCompilerAgree(_ name: String) throws {
        let text = name.hasSuffix(".swift") ? "" : "query Q { a }"
        let path = "/a folder/App.v2/\(name)"
        let compilation = try Compilation(
            [.init(name: path, bytes: Array(text.utf8))],
            schema: [.init(name: "schema.graphql", bytes: Array("type Query { a: Int }".utf8))],
            layout: .byFile)
        #expect(compilation.files.map(\.name) == OutputNames.outputs(of: [URL(filePath: path)]))
    }

    @Test func pluginsKnowGeneratedFilesByTheirFirstLine() {
        #expect(OutputNames.header == GeneratedCode.header)
    }

    /// Names of operations begin with that of the file, so it is that of its generated file.
    @Test func aFileIsCalledByWhatItsDocumentsAreCalledBy() throws {
        let text = "graphql(\"query ListQuery { a }\")"
        let compilation = try Compilation(
            [.init(name: "App/List.swift", bytes: Array(text.utf8))],
            schema: [.init(name: "schema.graphql", bytes: Array("type Query { a: Int }".utf8))],
            layout: .byFile)
        #expect(compilation.files.first?.name == "List.graphql.swift")
        #expect(compilation.files.first?.text.contains("struct ListQuery") == true)
    }
}
