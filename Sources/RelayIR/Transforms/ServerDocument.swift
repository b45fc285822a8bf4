import GraphQLLanguage

/// An operation as sent to the server: without Relay's own directives and fields.
struct ServerDocument {
    let definitions: [Definition]
    let text: String

    init(_ complete: CompleteOperation) {
        let operation = complete.operation
        definitions =
            [
                .operation(
                    OperationDefinition(
                        description: operation.description, operation: operation.operation,
                        name: operation.name,
                        variables: operation.variables.filter {
                            !Self.isOurs($0.name.value, in: complete)
                        },
                        directives: Self.directives(operation.directives),
                        selectionSet: SelectionSet(
                            selections: Self.selections(operation.selectionSet.selections),
                            location: operation.selectionSet.location),
                        location: operation.location))
            ]
            + complete.fragments.map {
                .fragment(
                    $0.with(
                        directives: Self.directives($0.directives),
                        selections: Self.selections($0.selectionSet.selections)))
            }
        text = definitions.map { $0.printed() }.joined(separator: "\n\n") + "\n"
    }

    func validate(against schema: Schema, source: Source) throws(RelayDocumentErrors) {
        let errors = Document(source: source, definitions: definitions).validate(against: schema)
        if !errors.isEmpty { throw RelayDocumentErrors(errors) }
    }

    /// Whether only Relay's directives use a variable, such as the `connections` of `@appendNode`:
    /// the server must not see it.
    private static func isOurs(_ variable: String, in complete: CompleteOperation) -> Bool {
        var uses = VariableUses(variable)
        uses.count(complete.operation.directives)
        uses.count(complete.operation.selectionSet.selections)
        for fragment in complete.fragments { uses.count(fragment.selectionSet.selections) }
        return uses.ours > 0 && uses.servers == 0
    }

    private static func directives(_ directives: [Directive]) -> [Directive] {
        directives.filter { !RelayDirectives.names.contains($0.name.value) }
    }

    private static func selections(_ selections: [Selection]) -> [Selection] {
        var result: [Selection] = []
        for selection in selections {
            switch selection {
            case .field(let field):
                guard field.name.value != RelayDirectives.recordIDField else { continue }
                result.append(
                    .field(
                        field.with(
                            directives: directives(field.directives),
                            selections: field.selectionSet.map { self.selections($0.selections) })))
            case .inlineFragment(let fragment):
                result.append(
                    .inlineFragment(
                        fragment.with(
                            directives: directives(fragment.directives),
                            selections: self.selections(fragment.selectionSet.selections))))
            case .fragmentSpread(let spread):
                result.append(
                    .fragmentSpread(
                        FragmentSpread(
                            name: spread.name, directives: directives(spread.directives),
                            location: spread.location)))
            }
        }
        // A selection set must not be empty; it contained only `__id`.
        if result.isEmpty, let first = selections.first, case .field(let field) = first {
            result.append(.field(.generated("__typename", at: field.location)))
        }
        return result
    }
}

/// How often a variable is used, in what the server gets and in Relay's directives.
private struct VariableUses {
    let variable: String
    private(set) var ours = 0
    private(set) var servers = 0

    init(_ variable: String) { self.variable = variable }

    mutating func count(_ selections: [Selection]) {
        for selection in selections {
            switch selection {
            case .field(let field):
                count(field.directives)
                for argument in field.arguments where uses(argument.value) { servers += 1 }
                count(field.selectionSet?.selections ?? [])
            case .inlineFragment(let fragment):
                count(fragment.directives)
                count(fragment.selectionSet.selections)
            case .fragmentSpread(let spread):
                count(spread.directives)
            }
        }
    }

    mutating func count(_ directives: [Directive]) {
        for directive in directives {
            for argument in directive.arguments where uses(argument.value) {
                if RelayDirectives.names.contains(directive.name.value) {
                    ours += 1
                } else {
                    servers += 1
                }
            }
        }
    }

    private func uses(_ value: Value) -> Bool {
        switch value.kind {
        case .variable(let name): name == variable
        case .list(let items): items.contains(where: uses)
        case .object(let fields): fields.contains { uses($0.value) }
        default: false
        }
    }
}
