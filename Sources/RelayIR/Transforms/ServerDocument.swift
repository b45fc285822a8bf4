import GraphQLLanguage

/// An operation as sent to the server: without Relay's own directives, and without what only the client's schema has.
struct ServerDocument {
    let definitions: [Definition]
    let text: String

    init(_ complete: CompleteOperation, schema: Schema) {
        let server = Stripping(schema: schema)
        let operation = complete.operation
        let selectionSet = server.selectionSet(
            operation.selections, on: operation.type, at: operation.definition.location)
        let directives = server.directives(operation.definition.directives)
        let fragments = complete.fragments.compactMap(server.fragment)

        // What only Relay's directives use, such as the `connections` of `@appendNode`, the server must not see.
        var used = Set(directives.flatMap(\.arguments).flatMap(\.value.variables))
        for set in [selectionSet] + fragments.map(\.selectionSet) {
            used.formUnion(set.variables)
        }
        definitions =
            [
                .operation(
                    OperationDefinition(
                        description: operation.definition.description,
                        operation: operation.definition.operation, name: operation.definition.name,
                        variables: operation.definition.variables.filter {
                            used.contains($0.name.value)
                        },
                        directives: directives, selectionSet: selectionSet,
                        location: operation.definition.location))
            ] + fragments.map { .fragment($0) }
        text = definitions.map { $0.printed() }.joined(separator: "\n\n") + "\n"
    }
}

/// Typed selections as syntax, without what the server does not know.
private struct Stripping {
    let schema: Schema

    func directives(_ directives: [Directive]) -> [Directive] {
        directives.filter {
            !RelayDirectives.names.contains($0.name.value)
                && !(schema.directive(named: $0.name.value).map { schema.isAdded($0.location) }
                    ?? false)
        }
    }

    /// nil for one on a type of the client.
    func fragment(_ fragment: TypedFragment) -> FragmentDefinition? {
        if schema.isClient(fragment.type) { return nil }
        let definition = fragment.definition
        return FragmentDefinition(
            description: definition.description,
            name: Name(fragment.name, location: definition.name.location),
            typeCondition: definition.typeCondition, directives: directives(definition.directives),
            selectionSet: selectionSet(
                fragment.selections, on: fragment.type, at: definition.location),
            location: definition.location)
    }

    func selectionSet(
        _ selections: [TypedSelection], on type: NamedType, at location: Int
    ) -> SelectionSet {
        var result = selections.compactMap(selection)
        // A selection set must not be empty; it contained only `__id` or fields of the client.
        if result.isEmpty {
            result = [
                .field(
                    Field(
                        alias: nil, name: Name("__typename", location: location), arguments: [],
                        directives: [], selectionSet: nil))
            ]
        }
        return SelectionSet(selections: result, location: location)
    }

    private func selection(_ selection: TypedSelection) -> Selection? {
        switch selection {
        case .field(let field):
            if schema.isClient(field) { return nil }
            return .field(
                Field(
                    alias: field.alias.map { Name($0, location: field.location) },
                    name: Name(field.name, location: field.location), arguments: field.arguments,
                    directives: directives(field.directives),
                    selectionSet: field.selections.map {
                        selectionSet($0, on: field.type, at: field.location)
                    }))
        case .inlineFragment(let fragment):
            if schema.isClient(fragment.type) { return nil }
            return .inlineFragment(
                InlineFragment(
                    typeCondition: fragment.condition.map {
                        Name($0.name, location: fragment.location)
                    },
                    directives: directives(fragment.directives),
                    selectionSet: selectionSet(
                        fragment.selections, on: fragment.type, at: fragment.location),
                    location: fragment.location))
        case .spread(let spread):
            if schema.isClient(spread.type) { return nil }
            return .fragmentSpread(
                FragmentSpread(
                    name: Name(spread.name, location: spread.location),
                    directives: directives(spread.directives), location: spread.location))
        }
    }
}

extension Schema {
    /// Whether only the client knows a field.
    func isClient(_ field: TypedField) -> Bool {
        field.name == RelayDirectives.recordIDField || isAdded(field.definition.location)
    }

    /// Whether only the client knows a field.
    func isClient(_ field: SelectedField) -> Bool {
        field.name == RelayDirectives.recordIDField || isAdded(field.definition.location)
    }

    /// Whether only the client knows a type.
    func isClient(_ type: NamedType) -> Bool { type.locations.first.map(isAdded) ?? false }
}

extension SelectionSet {
    /// All variables used in it, at any depth.
    fileprivate var variables: [String] {
        selections.flatMap { selection -> [String] in
            switch selection {
            case .field(let field):
                (field.arguments + field.directives.flatMap(\.arguments)).flatMap(\.value.variables)
                    + (field.selectionSet?.variables ?? [])
            case .inlineFragment(let fragment):
                fragment.directives.flatMap(\.arguments).flatMap(\.value.variables)
                    + fragment.selectionSet.variables
            case .fragmentSpread(let spread):
                spread.directives.flatMap(\.arguments).flatMap(\.value.variables)
            }
        }
    }
}
