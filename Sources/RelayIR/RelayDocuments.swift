package import GraphQLLanguage
package import RelayArtifacts

/// GraphQL documents with Relay's directives, compiled against a schema: at build time for generated
/// code, at run time for programs whose documents come from people.
///
/// What happens to documents, in this order:
///
/// 1. Everything is checked, once for each definition: GraphQL's rules, then Relay's (``RelayRules``).
/// 2. Definitions become trees with the schema's types (``TypedSelection``).
/// 3. `@refetchable` fragments get the query that fetches them again (``RefetchableTransform``).
/// 4. `@connection` fields get the fields that paging needs (``ConnectionTransform``).
/// 5. Readers are built: fragments stay masked, `@required` and `@catch` become marks (``ReaderBuilder``).
/// 6. For each operation: fragments are inlined with their `@arguments` (``FragmentArguments``), `id`,
///    `__typename` and `__isTYPE` are added (``GeneratedFields``), and the result is both the text for the server
///    (``ServerDocument``), validated as the server will do it, and, flattened, the way to normalize its responses
///    (``NormalizationBuilder``).
package struct RelayDocuments: Sendable {
    /// In the order of the documents, then those of `@refetchable`.
    package let operations: [CompiledOperation]
    /// In the order of the documents.
    package let fragments: [CompiledFragment]
    /// With Relay's directives and the client's extensions; trees refer to its types.
    package let schema: Schema

    private let operationIndices: [String: Int]
    private let fragmentIndices: [String: Int]

    /// Compiles documents that may spread each other's fragments.
    ///
    /// - Parameters:
    ///   - documents: their locations must not overlap, so that each identifies its document: see ``parse(_:)``.
    ///   - schema: the server's; or that of other ``RelayDocuments``, which saves extending it again.
    ///   - client: extensions of the schema that only the client knows: types, and fields of the server's types. They
    ///     are read from the store, and not sent to the server.
    ///   - persist: returns the id of an operation's text, if operations are persisted. Then the
    ///     request has an id and no text.
    /// - Throws: everything that is wrong with the documents.
    package init(
        _ documents: [Document], schema serverSchema: Schema, client: [Source] = [],
        persist: ((_ text: String) -> String)? = nil
    ) throws(RelayDocumentErrors) {
        let schema = try Schema.forClients(serverSchema, client)
        guard let sources = SourceMap(documents.map(\.source)) else {
            throw RelayDocumentErrors([
                RelayDocumentError(
                    "Documents that are compiled together need locations of their own. Parse them "
                        + "together, with RelayDocuments.parse.")
            ])
        }
        let set = DocumentSet(documents, schema: schema)
        let issues = set.issues(documents)
        guard issues.isEmpty else { throw RelayDocumentErrors(issues, in: sources) }

        let compiler = DocumentCompiler(set)
        let conflicts = compiler.issues(against: serverSchema)
        guard conflicts.isEmpty else { throw RelayDocumentErrors(conflicts, in: sources) }
        self.init(compiler.compiledOperations(persist), compiler.compiledFragments(), schema)
    }

    /// Compiles one document: operations and all fragments that they spread.
    package init(
        _ document: Document, schema: Schema, persist: ((_ text: String) -> String)? = nil
    ) throws(RelayDocumentErrors) {
        try self.init([document], schema: schema, persist: persist)
    }

    private init(
        _ operations: [CompiledOperation], _ fragments: [CompiledFragment], _ schema: Schema
    ) {
        self.operations = operations
        self.fragments = fragments
        self.schema = schema
        operationIndices = Dictionary(
            zip(operations.map(\.request.params.name), operations.indices),
            uniquingKeysWith: { first, _ in first })
        fragmentIndices = Dictionary(
            zip(fragments.map(\.node.name), fragments.indices),
            uniquingKeysWith: { first, _ in first })
    }

    /// Parses documents that are to be compiled together.
    ///
    /// - Returns: a document for each source, whose own `source` is the same text with other locations.
    /// - Throws: the first syntax error of each document.
    package static func parse(_ sources: [Source]) throws(RelayDocumentErrors) -> [Document] {
        var map = SourceMap()
        var documents: [Document] = []
        var errors: [RelayDocumentError] = []
        for source in sources {
            let source = map.add(source)
            do throws(DocumentError) {
                documents.append(try Document(parsing: source))
            } catch {
                errors.append(
                    RelayDocumentError(
                        error.message,
                        at: error.locations.map { SourcePlace(source: source, location: $0) }))
            }
        }
        guard errors.isEmpty else { throw RelayDocumentErrors(errors) }
        return documents
    }

    package func operation(_ name: String) -> CompiledOperation? {
        operationIndices[name].map { operations[$0] }
    }

    package func fragment(_ name: String) -> CompiledFragment? {
        fragmentIndices[name].map { fragments[$0] }
    }
}

/// One operation in the form the runtime uses.
package struct CompiledOperation: Sendable {
    /// As written, or as generated by `@refetchable`.
    package let definition: OperationDefinition
    package let request: ConcreteRequest
    /// What the server gets, even if the request itself has only an id.
    package let text: String
    /// In the order declared.
    package let variables: [OperationVariable]
    /// What its reader reads: fragments stay masked, unless they are spread with `@relay(mask: false)`.
    package let selections: SelectionTree
    /// What a response contains: fragments inlined with their arguments, `id` and `__typename` added.
    package let completeSelections: SelectionTree
}

/// A variable of an operation.
package struct OperationVariable: Sendable {
    package let definition: VariableDefinition
    package let type: WrappedType

    package var name: String { definition.name.value }
    /// As written.
    package var defaultValue: Value? { definition.defaultValue }

    /// nil if the schema lacks the type.
    init?(_ definition: VariableDefinition, _ schema: Schema) {
        guard let type = schema.resolve(definition.type) else { return nil }
        self.definition = definition
        self.type = type
    }
}

/// One fragment in the form the runtime uses.
package struct CompiledFragment: Sendable {
    package let definition: FragmentDefinition
    package let node: ReaderFragment
    /// What its reader reads: fragments stay masked, unless they are spread with `@relay(mask: false)`.
    package let selections: SelectionTree
}

extension OperationKind {
    package init(_ type: OperationType) {
        self =
            switch type {
            case .query: .query
            case .mutation: .mutation
            case .subscription: .subscription
            }
    }
}

extension NormalizationOperation {
    /// How to normalize the response to an operation that a client already sends in its final form, so
    /// that nothing needs to be added.
    ///
    /// - Parameter document: valid against the schema.
    /// - Throws: if the schema has no such operations.
    package static func normalizing(
        _ operation: OperationDefinition, in document: Document, schema: Schema
    ) throws(RelayDocumentErrors) -> NormalizationOperation {
        let documents = DocumentSet([document], schema: schema)
        guard let typed = documents.typed(operation) else {
            let place = SourcePlace(
                source: document.source, location: document.source.location(at: operation.location))
            throw RelayDocumentErrors([
                RelayDocumentError(
                    "The schema has no \(operation.operation.rawValue) type.", at: [place])
            ])
        }
        let fragments = Dictionary(
            document.fragments.compactMap(documents.typed).map { ($0.name, $0) },
            uniquingKeysWith: { $1 })
        return NormalizationBuilder(typed, fragments, in: documents).node()
    }
}
