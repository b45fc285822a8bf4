import GraphQLLanguage

// Copies of syntax nodes with one part changed, which is all that transforms do to them.

extension Field {
    /// A field that is not in the document, located at the one that requires it.
    static func generated(
        _ name: String, alias: String? = nil, selections: [Selection] = [], at location: Int
    ) -> Field {
        Field(
            alias: alias.map { Name($0, location: location) }, name: Name(name, location: location),
            arguments: [], directives: [],
            selectionSet: selections.isEmpty
                ? nil : SelectionSet(selections: selections, location: location))
    }

    func with(
        arguments: [Argument]? = nil, directives: [Directive]? = nil,
        selections: [Selection]? = nil
    ) -> Field {
        Field(
            alias: alias, name: name, arguments: arguments ?? self.arguments,
            directives: directives ?? self.directives,
            selectionSet: selections.map {
                SelectionSet(selections: $0, location: selectionSet?.location ?? location)
            } ?? selectionSet)
    }

    /// Selected under its own name, unconditionally.
    var isPlain: Bool { alias == nil && arguments.isEmpty && directives.isEmpty }
}

extension InlineFragment {
    func with(directives: [Directive]? = nil, selections: [Selection]) -> InlineFragment {
        InlineFragment(
            typeCondition: typeCondition, directives: directives ?? self.directives,
            selectionSet: SelectionSet(selections: selections, location: selectionSet.location),
            location: location)
    }
}

extension FragmentDefinition {
    func with(
        name: String? = nil, directives: [Directive]? = nil, selections: [Selection]
    ) -> FragmentDefinition {
        FragmentDefinition(
            description: description,
            name: name.map { Name($0, location: self.name.location) } ?? self.name,
            typeCondition: typeCondition, directives: directives ?? self.directives,
            selectionSet: SelectionSet(selections: selections, location: selectionSet.location),
            location: location)
    }
}

extension OperationDefinition {
    func with(directives: [Directive]? = nil, selections: [Selection]) -> OperationDefinition {
        OperationDefinition(
            description: description, operation: operation, name: name, variables: variables,
            directives: directives ?? self.directives,
            selectionSet: SelectionSet(selections: selections, location: selectionSet.location),
            location: location)
    }
}

extension [Selection] {
    /// Whether the field is selected plainly, so that it is in every result.
    func selectsPlainly(_ name: String) -> Bool {
        contains {
            if case .field(let field) = $0 {
                field.name.value == name && field.isPlain
            } else {
                false
            }
        }
    }

    /// Adds a plain field, or merges its selections into an existing one.
    mutating func merge(_ field: Field) {
        for (index, selection) in enumerated() {
            guard case .field(let present) = selection, present.name.value == field.name.value,
                present.alias == nil, present.directives.isEmpty
            else { continue }
            guard let added = field.selectionSet else { return }
            var selections = present.selectionSet?.selections ?? []
            for case .field(let inner) in added.selections { selections.merge(inner) }
            self[index] = .field(present.with(selections: selections))
            return
        }
        append(.field(field))
    }
}

extension Value {
    var string: String? {
        if case .string(let text, _) = kind { text } else { nil }
    }

    var bool: Bool? {
        if case .boolean(let value) = kind { value } else { nil }
    }

    var variable: String? {
        if case .variable(let name) = kind { name } else { nil }
    }

    /// The strings of a list of strings.
    var strings: [String]? {
        guard case .list(let items) = kind else { return nil }
        let strings = items.compactMap(\.string)
        return strings.count == items.count ? strings : nil
    }
}
