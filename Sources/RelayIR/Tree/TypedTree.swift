import GraphQLLanguage

// Documents with what the schema says about each part. Transforms change these values; readers, normalization and the
// server's text are made of what results.

/// One entry of a selection set, in the order written.
enum TypedSelection: Sendable {
    case field(TypedField)
    case inlineFragment(TypedInlineFragment)
    case spread(TypedSpread)
}

struct TypedField: Sendable {
    let alias: String?
    let name: String
    let definition: SchemaField
    /// The type of its value, inside lists and non-nulls.
    let type: NamedType
    var arguments: [Argument] = []
    var directives: [Directive] = []
    /// nil for a leaf.
    var selections: [TypedSelection]?
    let location: Int
    /// Whether the document has it; false for what a transform has added.
    var isWritten = true

    var responseName: String { alias ?? name }

    /// Selected under its own name, unconditionally.
    var isPlain: Bool { alias == nil && arguments.isEmpty && directives.isEmpty }
}

struct TypedInlineFragment: Sendable {
    /// nil without a type condition.
    let condition: NamedType?
    /// The type inside.
    let type: NamedType
    var directives: [Directive] = []
    var selections: [TypedSelection]
    let location: Int
}

struct TypedSpread: Sendable {
    /// The name of the fragment, or of one that was specialized.
    var name: String
    let fragment: FragmentDefinition
    /// The fragment's type.
    let type: NamedType
    var directives: [Directive] = []
    let location: Int
}

struct TypedFragment: Sendable {
    let definition: FragmentDefinition
    var name: String
    let type: NamedType
    var selections: [TypedSelection]
}

struct TypedOperation: Sendable {
    let definition: OperationDefinition
    /// The root type.
    let type: NamedType
    var selections: [TypedSelection]
    /// The variables whose defaults the client gives and the server is not told: so they can be left out.
    var unsentDefaults: Set<String> = []
}

extension TypedSpread {
    /// Those of `@arguments`.
    var arguments: [Argument] {
        directives.named(RelayDirectives.arguments)?.arguments ?? []
    }
}

extension [Argument] {
    /// The same for the same arguments, in whatever order they are written.
    var key: String {
        map { "\($0.name.value):\($0.value.printed())" }.sorted().joined(separator: ",")
    }
}

extension TypedSelection {
    var directives: [Directive] {
        get {
            switch self {
            case .field(let field): field.directives
            case .inlineFragment(let fragment): fragment.directives
            case .spread(let spread): spread.directives
            }
        }
        set {
            switch self {
            case .field(var field):
                field.directives = newValue
                self = .field(field)
            case .inlineFragment(var fragment):
                fragment.directives = newValue
                self = .inlineFragment(fragment)
            case .spread(var spread):
                spread.directives = newValue
                self = .spread(spread)
            }
        }
    }

    /// With each field and inline fragment below it changed, the innermost first.
    func mapped(
        field change: (inout TypedField) -> Void,
        fragment changeFragment: (inout TypedInlineFragment) -> Void = { _ in }
    ) -> TypedSelection {
        switch self {
        case .field(var field):
            field.selections = field.selections?.mapped(field: change, fragment: changeFragment)
            change(&field)
            return .field(field)
        case .inlineFragment(var fragment):
            fragment.selections = fragment.selections.mapped(
                field: change, fragment: changeFragment)
            changeFragment(&fragment)
            return .inlineFragment(fragment)
        case .spread: return self
        }
    }
}

extension [TypedSelection] {
    func mapped(
        field change: (inout TypedField) -> Void,
        fragment changeFragment: (inout TypedInlineFragment) -> Void = { _ in }
    ) -> [TypedSelection] {
        map { $0.mapped(field: change, fragment: changeFragment) }
    }

    /// The fields selected here, not those of fragments.
    var fields: [TypedField] {
        compactMap { if case .field(let field) = $0 { field } else { nil } }
    }

    /// Whether the field is selected plainly, so that it is in every result.
    func selectsPlainly(_ name: String) -> Bool {
        contains {
            if case .field(let field) = $0 { field.name == name && field.isPlain } else { false }
        }
    }
}

// MARK: From documents

extension DocumentSet {
    /// nil if the schema lacks the root type.
    func typed(_ operation: OperationDefinition) -> TypedOperation? {
        guard let type = schema.rootType(of: operation.operation) else { return nil }
        return TypedOperation(
            definition: operation, type: type,
            selections: typed(operation.selectionSet.selections, on: type))
    }

    /// nil if the schema lacks the type.
    func typed(_ fragment: FragmentDefinition) -> TypedFragment? {
        guard let type = compositeType(fragment.typeCondition) else { return nil }
        return TypedFragment(
            definition: fragment, name: fragment.name.value, type: type,
            selections: typed(fragment.selectionSet.selections, on: type))
    }

    /// What the schema lacks is left out; validation has reported it.
    private func typed(_ selections: [Selection], on parent: NamedType) -> [TypedSelection] {
        selections.compactMap { selection in
            switch selection {
            case .field(let field): typed(field, on: parent).map { .field($0) }
            case .inlineFragment(let fragment):
                typed(fragment, in: parent).map { .inlineFragment($0) }
            case .fragmentSpread(let spread): typed(spread).map { .spread($0) }
            }
        }
    }

    private func typed(_ field: Field, on parent: NamedType) -> TypedField? {
        guard let definition = self.field(field.name.value, on: parent) else { return nil }
        let type = schema[definition.namedType]
        return TypedField(
            alias: field.alias?.value, name: field.name.value, definition: definition, type: type,
            arguments: field.arguments, directives: field.directives,
            selections: field.selectionSet.map { typed($0.selections, on: type) },
            location: field.location)
    }

    private func typed(
        _ fragment: InlineFragment, in parent: NamedType
    ) -> TypedInlineFragment? {
        let condition = fragment.typeCondition.map(compositeType)
        if let condition, condition == nil { return nil }
        let type = condition.flatMap(\.self) ?? parent
        return TypedInlineFragment(
            condition: condition.flatMap(\.self), type: type, directives: fragment.directives,
            selections: typed(fragment.selectionSet.selections, on: type),
            location: fragment.location)
    }

    private func typed(_ spread: FragmentSpread) -> TypedSpread? {
        guard let fragment = fragment(named: spread.name.value),
            let type = compositeType(fragment.typeCondition)
        else { return nil }
        return TypedSpread(
            name: spread.name.value, fragment: fragment, type: type, directives: spread.directives,
            location: spread.location)
    }
}
