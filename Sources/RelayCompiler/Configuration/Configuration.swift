import GraphQLLanguage

/// What a project says about its compilation: the contents of `relay.json`.
///
///     {"schema": "schema.graphql", "scalars": {"DateTime": "Date"}, "imports": ["Foundation"], "access": "public"}
package struct Configuration: Sendable, Hashable {
    /// Files with the server's schema; relative to the file.
    package var schema: [String] = []
    /// Files with what only clients know: extensions of the server's types, and types of their own.
    package var client: [String] = []
    /// Swift types for scalar types of the schema.
    package var scalars: [String: String] = [:]
    /// Modules in which those Swift types are.
    package var imports: [String] = []
    package var access: GenerateOptions.Access?
    /// Where scalar types are named; none of those that do not come from a file.
    var scalarPlaces = Places()

    /// By the names of scalar types. They make no difference to what is compiled.
    struct Places: Sendable, Hashable {
        var byName: [String: SourcePlace] = [:]

        static func == (left: Places, right: Places) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    package init() {}

    /// - Parameters:
    ///   - bytes: JSON text.
    ///   - file: its name, as errors will give it.
    /// - Throws: everything that is wrong with it, except for what only the schema tells (``check(_:client:)``).
    package init(parsing bytes: [UInt8], file: String) throws(Compilation.Failure) {
        self = try ConfigurationParser.parse(bytes, file: file)
    }

    var options: GenerateOptions {
        GenerateOptions(access: access ?? .internal, scalars: scalars, imports: imports)
    }

    // MARK: Against the schema

    /// Whether what it names is in the schema.
    /// - Parameters:
    ///   - schema: the server's.
    ///   - client: what extends it; may have scalar types, too.
    func check(_ schema: Schema, client: [Source]) -> [Diagnostic] {
        var known = schema.types.filter { $0.kind == .scalar }.map(\.name)
        // A schema without one of these has no use for it; the setting may be that of several.
        known += ["Boolean", "Float", "ID", "Int", "String"]
        if scalars.keys.allSatisfy(known.contains) { return [] }
        known += client.flatMap(\.scalarTypes)
        return scalars.keys.filter { !known.contains($0) }.sorted().map { name in
            let problem =
                schema.type(named: name).map { _ in
                    "\"\(name)\" in \"scalars\" is not a scalar type."
                } ?? "Unknown scalar type \"\(name)\" in \"scalars\"."
                + didYouMean(suggestions(for: name, among: known))
            return Diagnostic(problem, at: scalarPlaces.byName[name])
        }
    }
}

extension Source {
    /// The scalar types that a document defines; none if it cannot be parsed, which is said elsewhere.
    fileprivate var scalarTypes: [String] {
        guard let document = try? Document(parsing: self) else { return [] }
        return document.definitions.compactMap { definition in
            guard case .type(let type) = definition, case .scalar = type.body else { return nil }
            return type.name.value
        }
    }
}
