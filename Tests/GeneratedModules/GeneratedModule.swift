import Foundation
import GraphQLLanguage
package import RelayCompiler
package import RelayIR

/// A folder of tests with GraphQL documents, in Swift sources or in `.graphql` files, and with the Swift code that the
/// compiler makes of them, in a folder `__generated__` beside them.
package struct GeneratedModule: Sendable {
    /// Below `Tests`.
    package let folder: String
    /// Files of the schema, below the package's folder.
    private let schema: [String]
    private let predefined: [String]
    private let options: GenerateOptions

    package init(
        _ folder: String, schema: [String], predefined: [String] = [],
        options: GenerateOptions = GenerateOptions()
    ) {
        self.folder = folder
        self.schema = schema
        self.predefined = predefined
        self.options = options
    }

    /// A module whose schema is that of the todo example.
    /// - Parameter schema: more files of it.
    package static func todo(
        _ folder: String, adding schema: [String] = [], access: GenerateOptions.Access = .internal
    ) -> GeneratedModule {
        GeneratedModule(
            folder, schema: ["docs/examples/todo.graphql"] + schema,
            predefined: ["docs/examples/directives.graphql"],
            options: GenerateOptions(access: access))
    }

    /// The client that most tests use.
    package static let todoFixtures = todo(
        "TodoFixtures", adding: ["Tests/TodoFixtures/Schema/defer.graphql"], access: .package)

    /// A todo client, as a library has it.
    package static let todoApp = todo(
        "GeneratedCodeTests/Todo", adding: ["Tests/GeneratedCodeTests/Todo/Schema/many.graphql"],
        access: .public)

    /// A client of a catalogue of films: connections of the query type and of nodes.
    package static let films = GeneratedModule(
        "GeneratedCodeTests/Films",
        schema: ["Tests/GeneratedCodeTests/Films/Schema/films.graphql"])

    /// A client of a Pokédex: plain lists, and objects without ids.
    package static let pokedex = GeneratedModule(
        "GeneratedCodeTests/Pokedex",
        schema: ["Tests/GeneratedCodeTests/Pokedex/Schema/pokedex.graphql"])

    // MARK: Compiling

    package func documents() throws -> RelayDocuments { try compile(parse()) }

    /// - Returns: the texts of the generated files, by their names.
    package func code() throws -> [String: String] {
        let parsed = try parse()
        let code = GeneratedCode(try compile(parsed), options: options)
        var names: [String: [String]] = [:]
        for file in parsed {
            names[file.extracted.fileBaseName, default: []] += file.document.names
        }
        var files = names.mapValues { code.file($0) }
        files["\(folder.split(separator: "/").last ?? "")Schema"] = code.schemaFile()
        return Dictionary(
            uniqueKeysWithValues: files.map { ("\($0.key).graphql.swift", $0.value) })
    }

    private func parse() throws -> [ParsedDocument] {
        var extraction = Extraction()
        for file in try Self.files(in: place, ["graphql", "swift"]) {
            extraction.add(Array(try Data(contentsOf: file)), file: file.lastPathComponent)
        }
        let (documents, errors) = extraction.parse()
        let wrong = errors + DocumentNames.check(documents)
        guard wrong.isEmpty else { throw DocumentsAreWrong(text: Diagnostic.text(of: wrong)) }
        return documents
    }

    private func compile(_ parsed: [ParsedDocument]) throws -> RelayDocuments {
        try RelayDocuments(
            parsed.map(\.document),
            schema: try Schema.build(
                try schema.map(Self.source), predefined: try predefined.map(Self.source)))
    }

    // MARK: Files

    private static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private var place: URL { Self.package.appending(path: "Tests/\(folder)") }
    private var generated: URL { place.appending(path: "__generated__") }

    /// - Returns: the texts of the files that are in `__generated__`, by their names.
    package func committedCode() throws -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: try Self.files(in: generated, ["swift"]).map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            })
    }

    /// Makes `__generated__` what the compiler makes.
    package func write() throws {
        let files = try code()
        try FileManager.default.createDirectory(at: generated, withIntermediateDirectories: true)
        for file in try Self.files(in: generated, ["swift"])
        where files[file.lastPathComponent] == nil {
            try FileManager.default.removeItem(at: file)
        }
        for (name, text) in files {
            let file = generated.appending(path: name)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
    }

    private static func files(in folder: URL, _ kinds: Set<String>) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { kinds.contains($0.pathExtension) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
    }

    private static func source(_ file: String) throws -> Source {
        Source(utf8: Array(try Data(contentsOf: package.appending(path: file))), name: file)
    }
}

/// Documents that cannot be compiled, as the compiler says it.
private struct DocumentsAreWrong: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}

extension Document {
    /// Those of operations and fragments, in their order.
    fileprivate var names: [String] {
        definitions.compactMap { definition in
            switch definition {
            case .operation(let operation): operation.name?.value
            case .fragment(let fragment): fragment.name.value
            default: nil
            }
        }
    }
}
