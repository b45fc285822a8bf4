import GraphQLLanguage
import RelayArtifacts

/// Makes nodes and texts of documents that have been checked.
struct DocumentCompiler {
    private let documents: DocumentSet
    private let operations: [TypedOperation]
    /// In the order of the documents.
    private let fragments: [TypedFragment]
    private let fragmentsByName: [String: TypedFragment]
    private let readers: ReaderBuilder

    init(_ documents: DocumentSet) {
        self.documents = documents
        let connections = ConnectionTransform(schema: documents.schema)
        fragments = documents.fragments.compactMap(documents.typed).map {
            var fragment = $0
            fragment.selections = connections.applied(to: fragment.selections)
            return fragment
        }
        fragmentsByName = Dictionary(
            fragments.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let refetchable = RefetchableTransform(documents: documents, fragments: fragmentsByName)
        let definitions = documents.operations + fragments.compactMap(refetchable.query)
        operations = definitions.compactMap(documents.typed).map {
            var operation = $0
            operation.selections = connections.applied(to: operation.selections)
            return operation
        }
        readers = ReaderBuilder(documents, fragmentsByName)
    }

    func compiledFragments() -> [CompiledFragment] {
        fragments.map { fragment in
            let tree = readers.tree(fragment.selections, on: fragment.type)
            return CompiledFragment(
                definition: fragment.definition, node: readers.fragment(fragment, tree),
                selections: tree)
        }
    }

    /// Each with what the server gets.
    func operations(
        _ persist: ((_ text: String) -> String)?
    ) -> [(compiled: CompiledOperation, server: ServerDocument)] {
        let generated = GeneratedFields(documents.schema)
        return operations.map { operation in
            let complete = generated.added(
                to: FragmentArguments.applied(to: operation, fragmentsByName, in: documents))
            let server = ServerDocument(complete, schema: documents.schema)
            return (compiled(operation, complete, server.text, persist), server)
        }
    }

    private func compiled(
        _ operation: TypedOperation, _ complete: CompleteOperation, _ text: String,
        _ persist: ((_ text: String) -> String)?
    ) -> CompiledOperation {
        let definition = operation.definition
        let normalization = NormalizationBuilder(complete, in: documents)
        let tree = readers.tree(operation.selections, on: operation.type)
        return CompiledOperation(
            definition: definition,
            request: ConcreteRequest(
                fragment: readers.operation(definition, tree), operation: normalization.node(),
                params: RequestParameters(
                    name: definition.name?.value ?? "",
                    operationKind: OperationKind(definition.operation),
                    text: persist == nil ? text : nil, id: persist.map { $0(text) })),
            text: text,
            variables: definition.variables.compactMap {
                OperationVariable($0, documents.schema)
            },
            selections: tree, completeSelections: normalization.tree)
    }

    /// What a server would refuse, each thing once: fields that cannot be merged once fragments have their
    /// arguments' values, and variables that are in a place only then.
    static func issues(
        _ operations: [(compiled: CompiledOperation, server: ServerDocument)],
        against schema: Schema
    ) -> [DocumentIssue] {
        var known: Set<DocumentIssue> = []
        return operations.flatMap { operation in
            Document(source: Source(""), definitions: operation.server.definitions)
                .issues(against: schema, limits: ValidationLimits(maximumFieldComparisons: .max))
                .filter { known.insert($0).inserted }
        }
    }
}
