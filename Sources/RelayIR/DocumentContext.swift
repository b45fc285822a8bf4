import GraphQLLanguage

/// The definitions being compiled, by name, and the schema they are compiled against.
struct DocumentContext {
    let schema: Schema
    let source: Source
    var operations: [OperationDefinition]
    private(set) var fragments: [String: FragmentDefinition]
    private var fragmentNames: [String]

    init(_ document: Document, schema: Schema) throws(RelayDocumentErrors) {
        self.schema = schema
        source = document.source
        operations = document.operations
        fragments = [:]
        fragmentNames = []
        for fragment in document.fragments {
            guard fragments.updateValue(fragment, forKey: fragment.name.value) == nil else {
                throw error(
                    "There can be only one fragment named \"\(fragment.name.value)\".",
                    at: fragment.name.location)
            }
            fragmentNames.append(fragment.name.value)
        }
    }

    var fragmentsInOrder: [FragmentDefinition] { fragmentNames.compactMap { fragments[$0] } }

    mutating func replace(_ fragment: FragmentDefinition) {
        fragments[fragment.name.value] = fragment
    }

    func error(_ message: String, at location: Int) -> RelayDocumentErrors {
        RelayDocumentErrors([DocumentError(message, locations: [source.location(at: location)])])
    }

    // MARK: Looking things up, or reporting what is missing

    func fragment(_ spread: FragmentSpread) throws(RelayDocumentErrors) -> FragmentDefinition {
        guard let fragment = fragments[spread.name.value] else {
            throw error("Unknown fragment \"\(spread.name.value)\".", at: spread.name.location)
        }
        return fragment
    }

    func compositeType(_ name: Name) throws(RelayDocumentErrors) -> NamedType {
        guard let type = schema.type(named: name.value), type.kind.isComposite else {
            throw error("Unknown type \"\(name.value)\".", at: name.location)
        }
        return type
    }

    func rootType(_ operation: OperationDefinition) throws(RelayDocumentErrors) -> NamedType {
        guard let type = schema.rootType(of: operation.operation) else {
            throw error(
                "The schema has no \(operation.operation.rawValue) type.", at: operation.location)
        }
        return type
    }

    func field(_ field: Field, on parent: NamedType) throws(RelayDocumentErrors) -> SchemaField {
        guard let definition = schema.field(field.name.value, on: parent) else {
            throw error(
                "Cannot query field \"\(field.name.value)\" on type \"\(parent.name)\".",
                at: field.location)
        }
        return definition
    }

    /// The type inside an inline fragment.
    func type(
        of fragment: InlineFragment, in parent: NamedType
    ) throws(RelayDocumentErrors) -> NamedType {
        guard let condition = fragment.typeCondition else { return parent }
        return try compositeType(condition)
    }
}
