import GraphQLLanguage
import RelayArtifacts

/// Builds normalization nodes: fragments inlined, and nothing normalized twice, so that selections
/// on a record are not repeated in its inline fragments and conditions.
struct NormalizationBuilder {
    private let complete: CompleteOperation
    private let context: DocumentContext
    private let arguments: ArgumentBuilder
    private let isTest: Bool

    init(_ complete: CompleteOperation, context: DocumentContext) {
        isTest = complete.operation.directives.contains {
            $0.name.value == RelayDirectives.testOperation
        }
        self.complete = complete
        self.context = context
        arguments = ArgumentBuilder(schema: context.schema)
    }

    /// Everything that the operation selects, its fragments inlined.
    func tree() throws(RelayDocumentErrors) -> SelectionTree {
        let collector = SelectionCollector(
            context: context,
            inlined: Dictionary(
                complete.fragments.map { ($0.name.value, $0) }, uniquingKeysWith: { $1 }))
        let operation = complete.operation
        return try collector.tree(
            operation.selectionSet.selections, on: try context.rootType(operation))
    }

    /// - Parameter tree: everything that the operation selects.
    func operation(_ tree: SelectionTree) -> NormalizationOperation {
        NormalizationOperation(
            name: complete.operation.name?.value ?? "",
            argumentDefinitions: context.variables(of: complete.operation),
            selections: selections(tree, covered: [], abstractKey: nil))
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
                result += field(selected, above: above)
            case .fragment(let type, let inner):
                let abstractKey = type.kind.isAbstract ? "__is\(type.name)" : nil
                let selections = self.selections(
                    inner, covered: covered + [tree], abstractKey: abstractKey)
                if selections.isEmpty && abstractKey == nil { continue }
                result.append(
                    .inlineFragment(
                        NormalizationInlineFragment(
                            type: type.name, abstractKey: abstractKey,
                            possibleTypes: context.possibleTypes(of: type), selections: selections))
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
            case .spread:
                break
            }
        }
        return result
    }

    private func field(
        _ selected: SelectedField, above: [SelectedField]
    ) -> [NormalizationSelection] {
        let field = selected.field
        let args = arguments.arguments(field.arguments, of: selected.definition)
        var result: [NormalizationSelection] = []
        if let tree = selected.tree {
            let inner = selections(tree, covered: above.compactMap(\.tree), abstractKey: nil)
            if above.isEmpty || !inner.isEmpty {
                result.append(
                    .field(
                        NormalizationLinkedField(
                            name: field.name.value, alias: field.alias?.value, args: args,
                            concreteType: tree.type.kind == .object ? tree.type.name : nil,
                            plural: selected.definition.type.listItem != nil, selections: inner)))
            }
        } else if above.isEmpty {
            result.append(
                .field(
                    NormalizationScalarField(
                        name: field.name.value, alias: field.alias?.value, args: args,
                        typeInfo: isTest ? context.typeInfo(of: selected.definition) : nil)))
        }
        return result + handles(selected, args)
    }

    private func handles(
        _ selected: SelectedField, _ args: [any RelayArtifacts.Argument]
    ) -> [NormalizationSelection] {
        let field = selected.field
        var result: [NormalizationSelection] = []
        for directive in selected.directives {
            let kind: NormalizationHandle.Kind = selected.tree == nil ? .scalar : .linked
            let name = directive.name.value
            if name == "connection", let connection = ConnectionDirective(field) {
                result.append(
                    .handle(
                        NormalizationHandle(
                            kind: kind, name: field.name.value, alias: field.alias?.value,
                            args: args, handle: "connection", key: connection.key,
                            filters: connection.filters)))
            } else if RelayDirectives.handles.contains(name) {
                result.append(
                    .handle(
                        NormalizationHandle(
                            kind: kind, name: field.name.value, alias: field.alias?.value,
                            args: args, handle: name,
                            handleArgs: arguments.untyped(directive.arguments))))
            }
        }
        return result
    }
}

extension DocumentContext {
    /// The names of the object types of an abstract type; none for an object type.
    func possibleTypes(of type: NamedType) -> [String] {
        type.kind.isAbstract ? schema.possibleTypes(of: type.id).map { schema[$0].name } : []
    }

    /// What a mock needs to know about a leaf.
    func typeInfo(of field: SchemaField) -> SelectionTypeInfo {
        let type = schema[field.namedType]
        return SelectionTypeInfo(
            type: type.name, plural: field.type.listItem != nil, nullable: !field.type.isNonNull,
            enumValues: type.values.map(\.name))
    }

    /// The variables that an operation declares, with their defaults.
    func variables(of operation: OperationDefinition) -> [ArgumentDefinition] {
        operation.variables.map { variable in
            .local(
                name: variable.name.value,
                defaultValue: variable.defaultValue.map {
                    ArgumentBuilder(schema: schema).constant($0, schema.resolve(variable.type))
                })
        }
    }
}
