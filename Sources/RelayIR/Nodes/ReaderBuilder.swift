import GraphQLLanguage
import RelayArtifacts

/// Builds reader nodes: what one fragment or operation itself selects.
struct ReaderBuilder {
    private let context: DocumentContext
    private let arguments: ArgumentBuilder

    init(_ context: DocumentContext) {
        self.context = context
        arguments = ArgumentBuilder(schema: context.schema)
    }

    /// What an operation itself selects.
    func tree(_ operation: OperationDefinition) throws(RelayDocumentErrors) -> SelectionTree {
        try SelectionCollector(context: context, inlined: nil)
            .tree(operation.selectionSet.selections, on: try context.rootType(operation))
    }

    /// What a fragment itself selects.
    func tree(_ fragment: FragmentDefinition) throws(RelayDocumentErrors) -> SelectionTree {
        try SelectionCollector(context: context, inlined: nil).tree(
            fragment.selectionSet.selections, on: try context.compositeType(fragment.typeCondition))
    }

    /// - Parameter tree: what the operation selects.
    func operation(_ operation: OperationDefinition, _ tree: SelectionTree) -> ReaderFragment {
        var paths = ConnectionPaths()
        let selections = self.selections(tree, &paths)
        return ReaderFragment(
            name: operation.name?.value ?? "", type: tree.type.name,
            argumentDefinitions: context.variables(of: operation),
            metadata: metadata(operation.directives, paths), selections: selections)
    }

    /// - Parameter tree: what the fragment selects.
    func fragment(
        _ fragment: FragmentDefinition, _ tree: SelectionTree
    ) throws(RelayDocumentErrors) -> ReaderFragment {
        let type = tree.type
        var paths = ConnectionPaths()
        let selections = self.selections(tree, &paths)
        var metadata = metadata(fragment.directives, paths)
        metadata.refetch = try RefetchableTransform.description(of: fragment, in: context)
        return ReaderFragment(
            name: fragment.name.value, type: type.name,
            abstractKey: type.kind.isAbstract ? "__is\(type.name)" : nil,
            possibleTypes: context.possibleTypes(of: type),
            argumentDefinitions: try definitions(of: fragment), metadata: metadata,
            selections: selections)
    }

    private func definitions(
        of fragment: FragmentDefinition
    ) throws(RelayDocumentErrors) -> [ArgumentDefinition] {
        var result: [ArgumentDefinition] = []
        for argument in fragment.directives.named("argumentDefinitions")?.arguments ?? [] {
            guard let declaration = ArgumentDeclaration(argument),
                let reference = try? TypeReference(parsing: declaration.type)
            else {
                throw context.error(
                    "Expected argument \"\(argument.name.value)\" to say its type: "
                        + "{type: \"Int\"}.", at: argument.location)
            }
            result.append(
                .local(
                    name: declaration.name,
                    defaultValue: declaration.defaultValue.map {
                        arguments.constant($0, context.schema.resolve(reference))
                    }))
        }
        let own = Set(result.map(\.name))
        var usage = FragmentVariables(context: context, followsSpreads: false)
        try usage.collect(fragment)
        return result + usage.names.filter { !own.contains($0) }.map { .root(name: $0) }
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
                result.append(
                    .inlineFragment(
                        ReaderInlineFragment(
                            type: type.name,
                            abstractKey: type.kind.isAbstract ? "__is\(type.name)" : nil,
                            possibleTypes: context.possibleTypes(of: type),
                            selections: selections(inner, &paths))))
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

    /// The values of `@arguments`, converted to the types that the fragment declares: they must produce the same
    /// storage keys as where the fragment is inlined in the operation.
    private func arguments(of selected: SelectedSpread) -> [any RelayArtifacts.Argument] {
        let given = selected.spread.directives.named("arguments")?.arguments ?? []
        if given.isEmpty { return [] }
        let declared = selected.fragment.directives.named("argumentDefinitions")
        return arguments.arguments(given) { name in
            declared?.arguments.first { $0.name.value == name }
                .flatMap { ArgumentDeclaration($0) }
                .flatMap { try? TypeReference(parsing: $0.type) }
                .flatMap { context.schema.resolve($0) }
        }
    }

    private func field(_ selected: SelectedField, _ paths: inout ConnectionPaths) -> ReaderSelection
    {
        let field = selected.field
        let directives = selected.directives
        let required = directives.named("required").map {
            RequiredAction(rawValue: $0.argument("action")?.printed() ?? "") ?? .none
        }
        guard let tree = selected.tree else {
            let scalar = ReaderScalarField(
                name: field.name.value, alias: field.alias?.value,
                args: arguments.arguments(field.arguments, of: selected.definition),
                required: required, catchTo: directives.catchTarget)
            return field.name.value == RelayDirectives.recordIDField
                ? .clientExtension(ReaderClientExtension(selections: [.field(scalar)]))
                : .field(scalar)
        }
        paths.path.append(field.responseName)
        defer { paths.path.removeLast() }
        let connection = ConnectionDirective(field)
        if connection != nil {
            paths.found.append(
                ConnectionMetadata(
                    path: paths.path, backward: field.paging("last", "before"),
                    forward: field.paging("first", "after")))
        }
        // A connection is read from where its handler keeps it.
        let kept = field.arguments.filter { argument in
            guard let connection else { return true }
            return connection.filters?.contains(argument.name.value) ?? false
        }
        return .field(
            ReaderLinkedField(
                name: connection.map { "__\($0.key)_connection" } ?? field.name.value,
                alias: connection == nil ? field.alias?.value : field.responseName,
                args: arguments.arguments(kept, of: selected.definition),
                concreteType: tree.type.kind == .object ? tree.type.name : nil,
                plural: selected.definition.type.listItem != nil, required: required,
                catchTo: directives.catchTarget, selections: selections(tree, &paths)))
    }
}

extension [Directive] {
    fileprivate var catchTarget: CatchTarget? {
        named("catch").map { CatchTarget(rawValue: $0.argument("to")?.printed() ?? "") ?? .result }
    }
}

extension Field {
    /// The variables that page a connection in one direction.
    fileprivate func paging(_ count: String, _ cursor: String) -> ConnectionVariableConfig? {
        func variable(_ name: String) -> String? {
            arguments.first { $0.name.value == name }?.value.variable
        }
        guard let count = variable(count), let cursor = variable(cursor) else { return nil }
        return ConnectionVariableConfig(count: count, cursor: cursor)
    }
}
