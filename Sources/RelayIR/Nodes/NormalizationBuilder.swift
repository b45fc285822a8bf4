import GraphQLLanguage
import RelayArtifacts

/// Builds normalization nodes: fragments inlined, and nothing normalized twice, so that selections
/// on a record are not repeated in its inline fragments and conditions.
struct NormalizationBuilder {
    private let operation: OperationDefinition
    private let documents: DocumentSet
    private let arguments: ArgumentBuilder
    private let isTest: Bool
    /// Everything that the operation selects, its fragments inlined.
    let tree: SelectionTree

    /// - Parameter fragments: by name, all that the operation spreads and those that they spread.
    init(
        _ operation: TypedOperation, _ fragments: [String: TypedFragment],
        in documents: DocumentSet
    ) {
        self.documents = documents
        self.operation = operation.definition
        isTest =
            operation.definition.directives.named(RelayDirectives.testOperation) != nil
        arguments = ArgumentBuilder(documents)
        tree = SelectionCollector(
            schema: documents.schema, fragments: fragments, isComplete: true
        ).tree(operation.selections, on: operation.type)
    }

    func node() -> NormalizationOperation {
        NormalizationOperation(
            name: operation.name?.value ?? "",
            argumentDefinitions: arguments.definitions(operation.variables),
            selections: selections(tree, covered: [], abstractKey: nil),
            nullArguments: documents.schema.nullArguments.sorted())
    }

    /// - Parameters:
    ///   - covered: trees whose selections apply wherever this tree's do.
    ///   - abstractKey: the discriminator that selects the enclosing inline fragment.
    private func selections(
        _ tree: SelectionTree, covered: [SelectionTree], abstractKey: String?
    ) -> [NormalizationSelection] {
        var result: [NormalizationSelection] = []
        for (key, entry) in zip(tree.keys, tree.entries) {
            switch entry {
            case .field(let selected):
                let above = covered.compactMap { tree -> SelectedField? in
                    if case .field(let field)? = tree[key] { field } else { nil }
                }
                let normalized = field(selected, above: above)
                if normalized.isEmpty { continue }
                result +=
                    documents.schema.isClient(selected)
                    ? [.clientExtension(NormalizationClientExtension(selections: normalized))]
                    : normalized
            case .fragment(let type, let inner):
                let abstractKey = type.kind.isAbstract ? "__is\(type.name)" : nil
                let selections = self.selections(
                    inner, covered: covered + [tree], abstractKey: abstractKey)
                if selections.isEmpty && abstractKey == nil { continue }
                result.append(
                    .inlineFragment(
                        NormalizationInlineFragment(
                            type: type.name, abstractKey: abstractKey,
                            possibleTypes: documents.possibleTypes(of: type), selections: selections
                        ))
                )
            case .condition(let variable, let passingValue, let inner):
                let selections = self.selections(
                    inner, covered: covered + [tree], abstractKey: abstractKey)
                if selections.isEmpty { continue }
                result.append(
                    .condition(
                        NormalizationCondition(
                            condition: variable, passingValue: passingValue, selections: selections)
                    ))
            case .discriminator(let discriminator):
                // For an object type it is known what it implements.
                guard tree.type.kind.isAbstract, discriminator != abstractKey,
                    !covered.contains(where: { $0[key] != nil })
                else { continue }
                result.append(
                    .typeDiscriminator(
                        NormalizationTypeDiscriminator(
                            type: String(discriminator.dropFirst(4)), abstractKey: discriminator)))
            case .spread, .alias:
                break
            }
        }
        return result
    }

    private func field(
        _ field: SelectedField, above: [SelectedField]
    ) -> [NormalizationSelection] {
        let args = arguments.arguments(field.arguments, of: field.definition)
        var result: [NormalizationSelection] = []
        if let tree = field.tree {
            let inner = selections(tree, covered: above.compactMap(\.tree), abstractKey: nil)
            if above.isEmpty || !inner.isEmpty {
                result.append(
                    .field(
                        NormalizationLinkedField(
                            name: field.name, alias: field.alias, args: args,
                            concreteType: tree.type.kind == .object ? tree.type.name : nil,
                            plural: field.definition.type.listItem != nil, selections: inner)))
            }
        } else if above.isEmpty {
            result.append(
                .field(
                    NormalizationScalarField(
                        name: field.name, alias: field.alias, args: args,
                        typeInfo: isTest ? typeInfo(of: field.definition) : nil)))
        }
        return result + handles(field, args)
    }

    private func handles(
        _ field: SelectedField, _ args: [any RelayArtifacts.Argument]
    ) -> [NormalizationSelection] {
        var result: [NormalizationSelection] = []
        for directive in field.directives {
            let kind: NormalizationHandle.Kind = field.tree == nil ? .scalar : .linked
            let name = directive.name.value
            if name == "connection",
                let connection = ConnectionDirective([directive], arguments: field.arguments)
            {
                result.append(
                    .handle(
                        NormalizationHandle(
                            kind: kind, name: field.name, alias: field.alias, args: args,
                            handle: "connection", key: connection.key,
                            filters: connection.filters)))
            } else if RelayDirectives.handles.contains(name) {
                result.append(
                    .handle(
                        NormalizationHandle(
                            kind: kind, name: field.name, alias: field.alias, args: args,
                            handle: name, handleArgs: arguments.untyped(directive.arguments))))
            }
        }
        return result
    }

    /// What a mock needs to know about a leaf.
    private func typeInfo(of field: SchemaField) -> SelectionTypeInfo {
        let type = documents.schema[field.namedType]
        return SelectionTypeInfo(
            type: type.name, plural: field.type.listItem != nil, nullable: !field.type.isNonNull,
            enumValues: type.values.map(\.name))
    }
}
