import GraphQLLanguage
import RelayArtifacts

/// Makes nodes and texts of documents that have been checked.
struct DocumentCompiler {
    /// An operation at its stages.
    private struct Operation {
        /// With the fields that paging needs: what its reader reads.
        let written: TypedOperation
        /// With fragments specialized and fields generated: what a response contains.
        let complete: TypedOperation
        let server: ServerDocument
    }

    private let documents: DocumentSet
    private let operations: [Operation]
    /// In the order of the documents, with the fields that paging needs.
    private let fragments: [TypedFragment]
    /// Those of complete operations, by name.
    private let completeFragments: [String: TypedFragment]
    private let readers: ReaderBuilder

    init(_ documents: DocumentSet) {
        let schema = documents.schema
        let connections = ConnectionTransform(schema: schema)
        let fragments = documents.fragments.compactMap(documents.typed)
            .map { with($0) { $0.selections = connections.applied(to: $0.selections) } }
        let byName = Dictionary(
            fragments.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let refetchable = RefetchableTransform(documents: documents, fragments: byName)
        let queries = fragments.compactMap { fragment in
            refetchable.query(of: fragment).flatMap(documents.typed).map {
                with($0) { $0.unsentDefaults = refetchable.optionalVariables(of: fragment) }
            }
        }
        let operations = (documents.operations.compactMap(documents.typed) + queries)
            .map { with($0) { $0.selections = connections.applied(to: $0.selections) } }

        var arguments = FragmentArguments(byName, in: documents)
        let generated = GeneratedFields(schema)
        let complete = operations.map {
            with($0) {
                arguments.apply(to: &$0)
                generated.add(to: &$0)
            }
        }
        completeFragments = arguments.specialized.mapValues { with($0) { generated.add(to: &$0) } }
        let server = completeFragments.compactMapValues { ServerFragment($0, schema: schema) }
        self.operations = zip(operations, complete).map { written, complete in
            Operation(
                written: written, complete: complete,
                server: ServerDocument(complete, server, schema: schema))
        }
        self.documents = documents
        self.fragments = fragments
        readers = ReaderBuilder(documents, byName)
    }

    /// What is wrong only once fragments have their arguments' values, each thing once: fields that cannot be merged,
    /// and whatever else a server would refuse, such as a variable in a place that it had not before.
    ///
    /// - Parameter schema: the server's.
    func issues(against schema: Schema) -> [DocumentIssue] {
        let limits = ValidationLimits(maximumFieldComparisons: .max)
        let complete = completeFragments.sorted { $0.key < $1.key }.map(\.value)
        let conflicts = MergeRule.issues(
            operations.map(\.complete), complete, documents.schema, limits: limits)
        let spread = Set(complete.map(\.definition.name.value))
        let unspread = UnspreadFragments(fragments, spread, in: documents).issues(limits: limits)
        let refused = operations.flatMap { operation in
            Document(source: Source(""), definitions: operation.server.definitions)
                .issues(against: schema, limits: limits)
        }
        var known: Set<DocumentIssue> = []
        return (conflicts + unspread + refused).filter { known.insert($0).inserted }
    }

    func compiledFragments() -> [CompiledFragment] {
        fragments.map { fragment in
            let tree = readers.tree(fragment.selections, on: fragment.type)
            return CompiledFragment(
                definition: fragment.definition, node: readers.fragment(fragment, tree),
                selections: tree)
        }
    }

    func compiledOperations(_ persist: ((_ text: String) -> String)?) -> [CompiledOperation] {
        operations.map { operation in
            let definition = operation.written.definition
            let text = operation.server.text
            let normalization = NormalizationBuilder(
                operation.complete, completeFragments, in: documents)
            let tree = readers.tree(operation.written.selections, on: operation.written.type)
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
    }
}

/// A changed copy of a value.
private func with<T>(_ value: T, _ change: (inout T) -> Void) -> T {
    var value = value
    change(&value)
    return value
}
