import GraphQLLanguage

/// An operation as sent to the server: without Relay's own directives, and without what only the client's schema has.
///
/// It has no descriptions either: servers that are older than GraphQL of September 2025 do not parse them, and the id of
/// a persisted operation must not depend on them.
struct ServerDocument {
    let definitions: [Definition]
    let text: String

    /// - Parameter fragments: by name, all that the operation spreads and those that they spread.
    init(_ operation: TypedOperation, _ fragments: [String: ServerFragment], schema: Schema) {
        let server = Stripping(schema: schema)
        let definition = operation.definition
        let selectionSet = server.selectionSet(
            operation.selections, on: operation.type, at: definition.location)
        let directives = server.directives(definition.directives)

        var uses = Uses(directives)
        uses.note(selectionSet)
        var reached: [String: ServerFragment] = [:]
        while let name = uses.spreads.popLast() {
            guard reached[name] == nil, let fragment = fragments[name] else { continue }
            reached[name] = fragment
            uses.variables.formUnion(fragment.uses.variables)
            uses.spreads += fragment.uses.spreads
        }
        let spread = reached.sorted { $0.key < $1.key }.map(\.value)
        let stripped = OperationDefinition(
            description: nil, operation: definition.operation, name: definition.name,
            // What only Relay's directives use, such as the `connections` of `@appendNode`, the server must not see.
            variables: definition.variables.filter { uses.variables.contains($0.name.value) }
                .map { server.variable($0, operation.unsentDefaults) },
            directives: directives, selectionSet: selectionSet, location: definition.location)
        definitions = [.operation(stripped)] + spread.map { .fragment($0.definition) }
        text =
            ([Definition.operation(stripped).printed()] + spread.map(\.text))
            .joined(separator: "\n\n") + "\n"
    }
}

/// A fragment as sent to the server, made once for all operations.
struct ServerFragment {
    let definition: FragmentDefinition
    let text: String
    fileprivate let uses: Uses

    /// nil for one on a type of the client.
    init?(_ fragment: TypedFragment, schema: Schema) {
        guard let definition = Stripping(schema: schema).fragment(fragment) else { return nil }
        self.definition = definition
        text = Definition.fragment(definition).printed()
        var uses = Uses(definition.directives)
        uses.note(definition.selectionSet)
        self.uses = uses
    }
}

/// The variables and fragments used in a part of a document.
private struct Uses {
    var variables: Set<String> = []
    var spreads: [String] = []

    init(_ directives: [Directive]) { note(directives.flatMap(\.arguments)) }

    private mutating func note(_ arguments: [Argument]) {
        for argument in arguments { variables.formUnion(argument.value.variables) }
    }

    mutating func note(_ selectionSet: SelectionSet) {
        for selection in selectionSet.selections {
            switch selection {
            case .field(let field):
                note(field.arguments + field.directives.flatMap(\.arguments))
                if let selectionSet = field.selectionSet { note(selectionSet) }
            case .inlineFragment(let fragment):
                note(fragment.directives.flatMap(\.arguments))
                note(fragment.selectionSet)
            case .fragmentSpread(let spread):
                note(spread.directives.flatMap(\.arguments))
                spreads.append(spread.name.value)
            }
        }
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

    func variable(
        _ variable: VariableDefinition, _ unsentDefaults: Set<String>
    ) -> VariableDefinition {
        let isOptional = unsentDefaults.contains(variable.name.value)
        var type = variable.type
        if isOptional, case .nonNull(let inner) = type { type = inner }
        return VariableDefinition(
            name: variable.name, type: type,
            defaultValue: isOptional ? nil : variable.defaultValue,
            directives: directives(variable.directives), location: variable.location)
    }

    /// nil for one on a type of the client.
    func fragment(_ fragment: TypedFragment) -> FragmentDefinition? {
        if schema.isClient(fragment.type) { return nil }
        let definition = fragment.definition
        return FragmentDefinition(
            description: nil, name: Name(fragment.name, location: definition.name.location),
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
    package func isClient(_ field: SelectedField) -> Bool {
        field.name == RelayDirectives.recordIDField || isAdded(field.definition.location)
    }

    /// Whether only the client knows a type.
    func isClient(_ type: NamedType) -> Bool { type.locations.first.map(isAdded) ?? false }
}
