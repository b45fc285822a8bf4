import GraphQLLanguage

/// What is selected on one record, each thing once: fields by response name, inline fragments by type,
/// conditions by variable. Both kinds of nodes are built from it.
final class SelectionTree {
    enum Key: Hashable {
        case field(String)
        case fragment(String)
        case condition(variable: String, passingValue: Bool)
        case spread(name: String, arguments: String)
        case discriminator(String)
    }

    enum Entry {
        case field(SelectedField)
        case fragment(type: NamedType, SelectionTree)
        case condition(variable: String, passingValue: Bool, SelectionTree)
        case spread(FragmentSpread)
        /// `__isTYPE: __typename`
        case discriminator(key: String)
    }

    /// The type of the record, as far as its place determines it.
    let type: NamedType
    private(set) var entries: [(key: Key, entry: Entry)] = []
    private var places: [Key: Int] = [:]

    init(_ type: NamedType) { self.type = type }

    subscript(key: Key) -> Entry? { places[key].map { entries[$0].entry } }

    func add(_ key: Key, _ entry: @autoclosure () -> Entry) -> Entry {
        if let place = places[key] { return entries[place].entry }
        let entry = entry()
        places[key] = entries.count
        entries.append((key, entry))
        return entry
    }
}

/// A field with everything selected through it, in all places where it occurs.
final class SelectedField {
    let field: Field
    let definition: SchemaField
    /// nil for a leaf.
    let tree: SelectionTree?
    /// Relay's directives, from all places.
    private(set) var directives: [Directive]

    init(_ field: Field, _ definition: SchemaField, _ tree: SelectionTree?) {
        self.field = field
        self.definition = definition
        self.tree = tree
        directives = []
    }

    func add(_ more: [Directive]) {
        for directive in more
        where RelayDirectives.names.contains(directive.name.value)
            && !directives.contains(where: { $0.name.value == directive.name.value })
        {
            directives.append(directive)
        }
    }
}

/// Builds selection trees.
struct SelectionCollector {
    let context: DocumentContext
    /// The fragments to inline in place of their spreads; nil: spreads stay, except those with
    /// `@relay(mask: false)`.
    let inlined: [String: FragmentDefinition]?

    func tree(
        _ selections: [Selection], on type: NamedType
    ) throws(RelayDocumentErrors) -> SelectionTree {
        let tree = SelectionTree(type)
        try collect(selections, into: tree)
        return tree
    }

    private func collect(
        _ selections: [Selection], into tree: SelectionTree
    ) throws(RelayDocumentErrors) {
        for selection in selections {
            switch selection {
            case .field(let field):
                guard let tree = conditional(field.directives, tree) else { continue }
                try collect(field, into: tree)
            case .inlineFragment(let fragment):
                guard let tree = conditional(fragment.directives, tree) else { continue }
                let type = try context.type(of: fragment, in: tree.type)
                try collect(fragment.selectionSet.selections, of: type, into: tree)
            case .fragmentSpread(let spread):
                guard let tree = conditional(spread.directives, tree) else { continue }
                try collect(spread, into: tree)
            }
        }
    }

    private func collect(
        _ field: Field, into tree: SelectionTree
    ) throws(RelayDocumentErrors) {
        if field.name.value == "__typename", let alias = field.alias?.value,
            alias.hasPrefix("__is")
        {
            _ = tree.add(.discriminator(alias), .discriminator(key: alias))
            return
        }
        if field.name.value == RelayDirectives.recordIDField {
            guard inlined == nil else { return }
            let selected = SelectedField(field, context.schema.typenameField, nil)
            _ = tree.add(.field(field.responseName), .field(selected))
            return
        }
        let definition = try context.field(field, on: tree.type)
        let inner = context.schema[definition.namedType]
        let entry = tree.add(
            .field(field.responseName),
            .field(
                SelectedField(
                    field, definition, field.selectionSet == nil ? nil : SelectionTree(inner))))
        guard case .field(let selected) = entry else { return }
        selected.add(field.directives)
        if let set = field.selectionSet, let innerTree = selected.tree {
            try collect(set.selections, into: innerTree)
        }
    }

    private func collect(
        _ spread: FragmentSpread, into tree: SelectionTree
    ) throws(RelayDocumentErrors) {
        let isUnmasked =
            spread.directives.named("relay")?.argument("mask")?.bool == false && inlined == nil
        guard inlined != nil || isUnmasked else {
            let arguments = spread.directives.named("arguments").map { [$0].map(\.arguments) } ?? []
            let text = arguments.joined().map { "\($0.name.value):\($0.value.printed())" }
            _ = tree.add(
                .spread(name: spread.name.value, arguments: text.joined(separator: ",")),
                .spread(spread))
            return
        }
        guard let fragment = inlined?[spread.name.value] ?? context.fragments[spread.name.value]
        else {
            throw context.error("Unknown fragment \"\(spread.name.value)\".", at: spread.location)
        }
        let type = try context.compositeType(fragment.typeCondition)
        try collect(fragment.selectionSet.selections, of: type, into: tree)
    }

    /// Selections that apply to records of `type`: to all records here, to none, or to some.
    private func collect(
        _ selections: [Selection], of type: NamedType, into tree: SelectionTree
    ) throws(RelayDocumentErrors) {
        let schema = context.schema
        if schema.isSubType(tree.type.id, of: type.id) {
            return try collect(selections, into: tree)
        }
        guard schema.overlap(tree.type.id, type.id) else { return }
        let entry = tree.add(.fragment(type.name), .fragment(type: type, SelectionTree(type)))
        if case .fragment(_, let inner) = entry { try collect(selections, into: inner) }
    }

    /// Where selections with these directives belong; nil: nowhere, ever (GraphQL §3.13.1, §3.13.2).
    private func conditional(
        _ directives: [Directive], _ tree: SelectionTree
    ) -> SelectionTree? {
        var tree = tree
        for directive in directives {
            let passingValue: Bool
            switch directive.name.value {
            case "include": passingValue = true
            case "skip": passingValue = false
            default: continue
            }
            guard let value = directive.argument("if") else { continue }
            if let constant = value.bool {
                if constant != passingValue { return nil }
            } else if let variable = value.variable {
                let entry = tree.add(
                    .condition(variable: variable, passingValue: passingValue),
                    .condition(
                        variable: variable, passingValue: passingValue, SelectionTree(tree.type)))
                if case .condition(_, _, let inner) = entry { tree = inner }
            }
        }
        return tree
    }
}
