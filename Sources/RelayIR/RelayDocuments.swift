package import GraphQLLanguage
package import RelayArtifacts

/// GraphQL documents with Relay's directives, compiled against a schema: at build time for generated
/// code, at run time for programs that get their documents from people.
///
/// What happens to a document, in this order:
///
/// 1. `@refetchable` fragments get the query that fetches them again (``RefetchableTransform``).
/// 2. `@connection` fields get the fields that paging needs (``ConnectionTransform``).
/// 3. Readers are made: fragments stay closed, `@required` and `@catch` become marks (``ReaderBuilder``).
/// 4. For each operation: fragments are written out with their `@arguments` (``FragmentArguments``), `id`,
///    `__typename` and `__isTYPE` are added (``GeneratedFields``), and the result, validated, is both the
///    text for the server (``ServerDocument``) and, flattened, the way to normalize its responses
///    (``NormalizationBuilder``).
package struct RelayDocuments: Sendable {
    package let operations: [CompiledOperation]
    package let fragments: [CompiledFragment]

    /// - Parameters:
    ///   - document: operations and all fragments they spread.
    ///   - persist: gives the id of an operation's text, if operations are persisted. Then the request
    ///     has an id and no text.
    /// - Throws: everything that is wrong with the first operation or fragment that has an error.
    package init(
        _ document: Document, schema: Schema, persist: ((_ text: String) -> String)? = nil
    ) throws(RelayDocumentErrors) {
        var context = try DocumentContext(document, schema: schema)
        try RefetchableTransform.apply(to: &context)
        try ConnectionTransform.apply(to: &context)

        let readers = ReaderBuilder(context)
        var fragments: [CompiledFragment] = []
        for fragment in context.fragmentsInOrder {
            fragments.append(
                CompiledFragment(definition: fragment, node: try readers.fragment(fragment)))
        }
        var operations: [CompiledOperation] = []
        for operation in context.operations {
            let complete = try GeneratedFields.added(
                to: try FragmentArguments.applied(to: operation, in: context), schema: schema)
            let server = ServerDocument(complete)
            try server.validate(against: schema, source: document.source)
            let name = operation.name?.value ?? ""
            operations.append(
                CompiledOperation(
                    definition: operation,
                    request: ConcreteRequest(
                        fragment: try readers.operation(operation),
                        operation: try NormalizationBuilder(complete, context: context).operation(),
                        params: RequestParameters(
                            name: name, operationKind: OperationKind(operation.operation),
                            text: persist == nil ? server.text : nil,
                            id: persist.map { $0(server.text) })),
                    text: server.text))
        }
        self.operations = operations
        self.fragments = fragments
    }

    package func operation(_ name: String) -> CompiledOperation? {
        operations.first { $0.request.params.name == name }
    }

    package func fragment(_ name: String) -> CompiledFragment? {
        fragments.first { $0.node.name == name }
    }
}

/// One operation, as the runtime wants it.
package struct CompiledOperation: Sendable {
    /// As written, or as made by `@refetchable`; with the fields that paging needs.
    package let definition: OperationDefinition
    package let request: ConcreteRequest
    /// What the server gets, also where the request itself has only an id.
    package let text: String
}

/// One fragment, as the runtime wants it.
package struct CompiledFragment: Sendable {
    package let definition: FragmentDefinition
    package let node: ReaderFragment
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
    /// How the response to an operation is normalized that needs nothing added, because it came from a
    /// client as it is sent.
    ///
    /// - Parameter document: valid against the schema.
    /// - Throws: if the document has no such operation, or a field that the schema lacks.
    package static func normalizing(
        _ operation: OperationDefinition, in document: Document, schema: Schema
    ) throws(RelayDocumentErrors) -> NormalizationOperation {
        let context = try DocumentContext(document, schema: schema)
        let complete = CompleteOperation(operation: operation, fragments: document.fragments)
        return try NormalizationBuilder(complete, context: context).operation()
    }
}
