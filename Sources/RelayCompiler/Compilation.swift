import GraphQLLanguage
import RelayIR

/// The whole way from a program's files to the Swift code for them. It reads and writes no file.
package struct Compilation: Sendable {
    /// A file by its name, as errors give it.
    package struct InputFile: Sendable {
        package let name: String
        package let bytes: [UInt8]

        package init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// Which files are generated.
    package enum Layout: Sendable {
        /// `<Name>.graphql.swift` for each operation and each fragment.
        case byDefinition
        /// `<File>.graphql.swift` for each file that was given, even if there is nothing to generate: what build systems
        /// need, which name outputs in advance. Files of one name share theirs: `List.graphql` may be beside `List.swift`.
        case byFile
    }

    package struct OutputFile: Sendable, Hashable {
        package let name: String
        package let text: String
    }

    /// Sorted by name.
    package let files: [OutputFile]
    /// The texts of operations that requests name by an id.
    package let persisted: [(id: String, text: String)]
    package let operationCount: Int
    package let fragmentCount: Int

    /// The name of the file with the types of the schema.
    package static let schemaFile = "Schema.graphql.swift"

    /// - Parameters:
    ///   - inputs: Swift sources and `.graphql` files.
    ///   - schema: the server's; it may use the directives of a server's schema files.
    ///   - client: what only clients know.
    ///   - configuration: the Swift types of scalars, and who can see generated types.
    ///   - persists: requests name their operation by an id, and have no text.
    /// - Throws: everything that is wrong.
    package init(
        _ inputs: [InputFile], schema: [InputFile], client: [InputFile] = [],
        layout: Layout = .byDefinition, configuration: Configuration = .init(),
        persists: Bool = false
    ) throws(Failure) {
        let schema = try Self.schema(schema)
        let client = client.map { Source(utf8: $0.bytes, name: $0.name) }
        let misconfigured = configuration.check(schema, client: client)
        var extraction = Extraction()
        for input in inputs { extraction.add(input.bytes, file: input.name) }
        let (parsed, mistakes) = extraction.parse()
        let unnamed = DocumentNames.check(parsed) + misconfigured
        guard mistakes.isEmpty else {
            let others = RelayDocuments.errors(
                inIncomplete: parsed.map(\.document), schema: schema, client: client)
            throw Failure(mistakes + unnamed + others.map { Diagnostic($0.message, at: $0.places) })
        }
        var persisted: [(id: String, text: String)] = []
        let documents: RelayDocuments
        do throws(RelayDocumentErrors) {
            documents = try RelayDocuments(
                parsed.map(\.document), schema: schema, client: client,
                persist: persists
                    ? { text in
                        let id = Self.id(of: text)
                        persisted.append((id, text))
                        return id
                    } : nil)
        } catch {
            throw Failure(unnamed + error.errors.map { Diagnostic($0.message, at: $0.places) })
        }
        guard unnamed.isEmpty else { throw Failure(unnamed) }

        let code = GeneratedCode(documents, options: configuration.options)
        var files: [OutputFile]
        switch layout {
        case .byDefinition:
            files = [OutputFile(name: Self.schemaFile, text: code.schemaFile())]
            for parsed in parsed {
                for name in parsed.document.definitionNames {
                    files.append(
                        OutputFile(name: "\(name).graphql.swift", text: code.file([name])))
                }
            }
        case .byFile:
            files = Self.filesBySource(inputs, parsed, code)
        }
        let repeated = Self.repeated(files, layout, empty: code.file([]))
        guard repeated.isEmpty else { throw Failure(repeated) }
        self.files = files.sorted { $0.name < $1.name }
        self.persisted = persisted
        operationCount = documents.operations.count
        fragmentCount = documents.fragments.count
    }

    private static func filesBySource(
        _ inputs: [InputFile], _ parsed: [ParsedDocument], _ code: GeneratedCode
    ) -> [OutputFile] {
        var names: [String: [String]] = [:]
        for input in inputs { names[output(of: input.name)] = [] }
        for parsed in parsed {
            names[output(of: parsed.extracted.file), default: []] += parsed.document.definitionNames
        }
        // A source may have the name of the schema's file, too. Imports may follow declarations.
        let ofSchema = names.removeValue(forKey: schemaFile) ?? []
        let schemaText = code.schemaFile() + (ofSchema.isEmpty ? "" : "\n" + code.file(ofSchema))
        return names.map { OutputFile(name: $0.key, text: code.file($0.value)) }
            + [OutputFile(name: schemaFile, text: schemaText)]
    }

    /// Not all disks tell capitals from small letters, and sources go from one to another.
    /// - Parameter empty: the text of files without code, which the plugin has for sources without documents. One such
    ///   file may be written over another.
    private static func repeated(
        _ files: [OutputFile], _ layout: Layout, empty: String
    ) -> [Diagnostic] {
        let groups = Dictionary(grouping: files) { $0.name.lowercased() }.values
            .filter { files in files.count > 1 && files.contains { $0.text != empty } }
            .map { $0.map(\.name).sorted() }
        return groups.sorted { $0[0] < $1[0] }.map { names in
            let problem =
                Set(names).count == 1
                ? "Two files would be called \(names[0])."
                : "Files would be called \(names.joined(separator: " and ")), which some disks take for "
                    + "one."
            let what = if case .byFile = layout { "sources" } else { "definitions" }
            let ofSchema =
                names.contains(schemaFile) ? " \(schemaFile) has the schema's types." : ""
            return Diagnostic("\(problem)\(ofSchema) Rename one of the \(what).", at: nil)
        }
    }

    /// The name of the file that is generated for a source: `List.graphql.swift` for `Sources/App/List.swift`.
    package static func output(of file: String) -> String {
        "\(ExtractedDocument.baseName(of: file)).graphql.swift"
    }

    /// Everything that is wrong, as compilers print it.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// In the order of files and places, each once.
        package let diagnostics: [Diagnostic]

        package init(_ diagnostics: [Diagnostic]) {
            self.diagnostics = Diagnostic.sorted(diagnostics)
        }

        package var description: String { Diagnostic.text(of: diagnostics) }
    }

    // MARK: The schema

    private static func schema(_ files: [InputFile]) throws(Failure) -> Schema {
        let sources = files.map { Source(utf8: $0.bytes, name: $0.name) }
        do throws(SchemaErrors) {
            return try Schema.build(sources, predefined: [PredefinedDirectives.source])
        } catch {
            // What a server prints defines the directives that it has.
            if let schema = try? Schema.build(sources) { return schema }
            throw Failure(error.errors.map { Diagnostic($0) })
        }
    }

    // MARK: Ids

    /// The id of an operation's text: its first name, and a hash (FNV-1a, 64 bits). The operator's file says which text an
    /// id stands for, so that it only has to differ from the others in there.
    private static func id(of text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        let name = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.dropFirst().first ?? ""
        return "\(name)-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }
}

extension Document {
    /// In the order of the document.
    fileprivate var definitionNames: [String] {
        definitions.compactMap { definition in
            switch definition {
            case .operation(let operation): operation.name?.value
            case .fragment(let fragment): fragment.name.value
            default: nil
            }
        }
    }
}
