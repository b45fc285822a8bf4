import GraphQLLanguage
import RelayArtifacts

/// Builds reader nodes: what one fragment or operation itself selects.
struct ReaderBuilder {
    private let documents: DocumentSet
    private let arguments: ArgumentBuilder
    private let refetchable: RefetchableTransform
    private let collector: SelectionCollector

    /// - Parameter fragments: all, with the fields that paging needs.
    init(_ documents: DocumentSet, _ fragments: [String: TypedFragment]) {
        self.documents = documents
        arguments = ArgumentBuilder(documents)
        refetchable = RefetchableTransform(documents: documents, fragments: fragments)
        collector = SelectionCollector(
            schema: documents.schema, fragments: fragments, isComplete: false)
    }

    /// What an operation or a fragment itself selects.
    func tree(_ selections: [TypedSelection], on type: NamedType) -> SelectionTree {
        collector.tree(selections, on: type)
    }

    /// - Parameter tree: what the operation selects.
    func operation(_ operation: OperationDefinition, _ tree: SelectionTree) -> ReaderFragment {
        var paths = ConnectionPaths()
        let selections = self.selections(tree, &paths)
        return ReaderFragment(
            name: operation.name?.value ?? "", type: tree.type.name,
            argumentDefinitions: arguments.definitions(operation.variables),
            metadata: metadata(operation.directives, paths), selections: selections)
    }

    /// - Parameter tree: what the fragment selects.
    func fragment(_ fragment: TypedFragment, _ tree: SelectionTree) -> ReaderFragment {
        let type = tree.type
        var paths = ConnectionPaths()
        let selections = self.selections(tree, &paths)
        var metadata = metadata(fragment.definition.directives, paths)
        metadata.refetch = refetchable.description(of: fragment)
        metadata.rootType = rootType(in: type)
        return ReaderFragment(
            name: fragment.name, type: type.name,
            abstractKey: type.kind.isAbstract ? "__is\(type.name)" : nil,
            possibleTypes: documents.possibleTypes(of: type),
            argumentDefinitions: definitions(of: fragment), metadata: metadata,
            selections: selections)
    }

    private func definitions(of fragment: TypedFragment) -> [ArgumentDefinition] {
        let declared = documents.variables(of: fragment.definition)
        var usage = FragmentVariables(
            documents, collector.fragments, following: .unmasked)
        usage.collect(fragment)
        return arguments.definitions(declared) + usage.names.map { .root(name: $0) }
    }

    /// The store keeps one root record whatever the operation; a fragment on an abstract type can't tell what it is.
    private func rootType(in type: NamedType) -> String? {
        let schema = documents.schema
        guard type.kind.isAbstract, let root = schema.queryType else { return nil }
        return schema.possibleTypes(of: type.id).contains(root) ? schema[root].name : nil
    }

    private func metadata(_ directives: [Directive], _ paths: ConnectionPaths) -> ReaderMetadata {
        ReaderMetadata(
            plural: directives.named("relay")?.argument("plural")?.bool ?? false,
            catchTo: directives.catchTarget,
            throwOnFieldError: directives.named("throwOnFieldError") != nil,
            connections: paths.found)
    }

    // MARK: Selections

    /// The connections found, and the path to the place being built.
    private struct ConnectionPaths {
        var found: [ConnectionMetadata] = []
        var path: [String] = []
    }

    private func selections(
        _ tree: SelectionTree, _ paths: inout ConnectionPaths
    ) -> [ReaderSelection] {
        var result: [ReaderSelection] = []
        for entry in tree.entries {
            switch entry {
            case .field(let selected):
                result.append(field(selected, &paths))
            case .fragment(let type, let inner):
                result.append(.inlineFragment(fragment(type, inner, &paths)))
            case .alias(let name, let type, let inner):
                paths.path.append(name)
                result.append(
                    .alias(
                        ReaderAlias(
                            name: name, fragment: fragment(type, inner, &paths),
                            isAlways: documents.schema.isSubType(tree.type.id, of: type.id))))
                paths.path.removeLast()
            case .condition(let variable, let passingValue, let inner):
                result.append(
                    .condition(
                        ReaderCondition(
                            condition: variable, passingValue: passingValue,
                            selections: selections(inner, &paths))))
            case .spread(let spread):
                result.append(
                    .fragmentSpread(
                        ReaderFragmentSpread(
                            name: spread.fragment.name.value, args: arguments(of: spread))))
            case .discriminator:
                break
            }
        }
        return result
    }

    private func fragment(
        _ type: NamedType, _ tree: SelectionTree, _ paths: inout ConnectionPaths
    ) -> ReaderInlineFragment {
        ReaderInlineFragment(
            type: type.name, abstractKey: type.kind.isAbstract ? "__is\(type.name)" : nil,
            possibleTypes: documents.possibleTypes(of: type),
            selections: selections(tree, &paths))
    }

    /// The values of `@arguments`, converted to the types that the fragment declares: they must produce the same
    /// storage keys as where the fragment is inlined in the operation.
    private func arguments(of spread: SelectedSpread) -> [any RelayArtifacts.Argument] {
        if spread.arguments.isEmpty { return [] }
        let declared = documents.variables(of: spread.fragment)
        return arguments.arguments(spread.arguments) { name in
            declared.first { $0.name.value == name }.flatMap {
                documents.schema.resolve($0.type)
            }
        }
    }

    private func field(
        _ field: SelectedField, _ paths: inout ConnectionPaths
    ) -> ReaderSelection {
        let read = reading(field, &paths)
        return documents.schema.isClient(field)
            ? .clientExtension(ReaderClientExtension(selections: [read])) : read
    }

    private func reading(
        _ field: SelectedField, _ paths: inout ConnectionPaths
    ) -> ReaderSelection {
        let directives = field.directives
        let required = directives.requiredAction
        guard let tree = field.tree else {
            return .field(
                ReaderScalarField(
                    name: field.name, alias: field.alias,
                    args: arguments.arguments(field.arguments, of: field.definition),
                    required: required, catchTo: directives.catchTarget))
        }
        paths.path.append(field.responseName)
        defer { paths.path.removeLast() }
        let connection = ConnectionDirective(directives, arguments: field.arguments)
        if connection != nil {
            let connection = ConnectionMetadata(
                path: paths.path, backward: field.paging("last", "before"),
                forward: field.paging("first", "after"))
            // One field may be selected under several conditions.
            if !paths.found.contains(connection) { paths.found.append(connection) }
        }
        // A connection is read from where its handler keeps it.
        let kept = field.arguments.filter { argument in
            guard let connection else { return true }
            return connection.filters?.contains(argument.name.value) ?? false
        }
        return .field(
            ReaderLinkedField(
                name: connection.map { "__\($0.key)_connection" } ?? field.name,
                alias: connection == nil ? field.alias : field.responseName,
                args: arguments.arguments(kept, of: field.definition),
                concreteType: tree.type.kind == .object ? tree.type.name : nil,
                plural: field.definition.type.listItem != nil, required: required,
                catchTo: directives.catchTarget, selections: selections(tree, &paths)))
    }
}

extension SelectedField {
    /// The variables that page a connection in one direction.
    fileprivate func paging(_ count: String, _ cursor: String) -> ConnectionVariableConfig? {
        func variable(_ name: String) -> String? {
            arguments.first { $0.name.value == name }?.value.variable
        }
        guard let count = variable(count), let cursor = variable(cursor) else { return nil }
        return ConnectionVariableConfig(count: count, cursor: cursor)
    }
}
