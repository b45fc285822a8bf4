package import GraphQLLanguage

/// What is selected on one record, each thing once: fields by response name, inline fragments by type,
/// conditions by variable. Reader and normalization nodes are built from it, and so are generated types.
package final class SelectionTree: Sendable {
    package enum Entry: Sendable {
        case field(SelectedField)
        /// Selections for records of a type, which not all records here have.
        case fragment(type: NamedType, SelectionTree)
        /// `@include` or `@skip` with a variable.
        case condition(variable: String, passingValue: Bool, SelectionTree)
        /// A fragment that stays masked.
        case spread(SelectedSpread)
        /// `__isTYPE: __typename`
        case discriminator(key: String)
    }

    enum Key: Hashable, Sendable {
        case field(String)
        case fragment(String)
        case condition(variable: String, passingValue: Bool)
        case spread(name: String, arguments: String)
        case discriminator(String)
    }

    /// The type of the record, as far as its place determines it.
    package let type: NamedType
    /// In the order of their first occurrences.
    package let entries: [Entry]
    let keys: [Key]
    private let places: [Key: Int]

    fileprivate init(_ type: NamedType, _ entries: [Entry], keys: [Key], places: [Key: Int]) {
        self.type = type
        self.entries = entries
        self.keys = keys
        self.places = places
    }

    subscript(key: Key) -> Entry? { places[key].map { entries[$0] } }
}

/// A field with everything selected through it, in all places where it occurs.
package final class SelectedField: Sendable {
    /// Where it occurs first: its name, alias and arguments are the same everywhere.
    package let field: Field
    package let definition: SchemaField
    /// Relay's directives, from all places.
    package let directives: [Directive]
    /// nil for a leaf.
    package let tree: SelectionTree?

    package var responseName: String { field.responseName }

    fileprivate init(
        _ field: Field, _ definition: SchemaField, _ directives: [Directive], _ tree: SelectionTree?
    ) {
        self.field = field
        self.definition = definition
        self.directives = directives
        self.tree = tree
    }
}

/// A fragment spread that stays masked.
package struct SelectedSpread: Sendable {
    package let spread: FragmentSpread
    package let fragment: FragmentDefinition
    /// The fragment's type.
    package let type: NamedType
}

/// A tree while it is built.
private final class TreeBuilder {
    enum Entry {
        case field(FieldBuilder)
        case fragment(TreeBuilder)
        case condition(TreeBuilder)
        case spread(SelectedSpread)
        case discriminator
    }

    let type: NamedType
    private var keys: [SelectionTree.Key] = []
    private var entries: [Entry] = []
    private var places: [SelectionTree.Key: Int] = [:]

    init(_ type: NamedType) { self.type = type }

    /// The entry with a key, added if there is none.
    func entry(_ key: SelectionTree.Key, _ new: @autoclosure () -> Entry) -> Entry {
        if let place = places[key] { return entries[place] }
        let entry = new()
        places[key] = entries.count
        keys.append(key)
        entries.append(entry)
        return entry
    }

    func tree() -> SelectionTree {
        let entries = zip(keys, entries).map { key, entry -> SelectionTree.Entry in
            switch (key, entry) {
            case (_, .field(let field)): .field(field.selected())
            case (_, .fragment(let inner)): .fragment(type: inner.type, inner.tree())
            case (.condition(let variable, let passingValue), .condition(let inner)):
                .condition(variable: variable, passingValue: passingValue, inner.tree())
            case (_, .spread(let spread)): .spread(spread)
            case (.discriminator(let key), .discriminator): .discriminator(key: key)
            case (_, .condition), (_, .discriminator):
                preconditionFailure("An entry is added with a key of its own kind.")
            }
        }
        return SelectionTree(type, entries, keys: keys, places: places)
    }
}

private final class FieldBuilder {
    let field: Field
    let definition: SchemaField
    let inner: TreeBuilder?
    private var directives: [Directive] = []

    init(_ field: Field, _ definition: SchemaField, _ inner: TreeBuilder?) {
        self.field = field
        self.definition = definition
        self.inner = inner
    }

    func add(_ more: [Directive]) {
        for directive in more
        where RelayDirectives.names.contains(directive.name.value)
            && !directives.contains(where: { $0.name.value == directive.name.value })
        {
            directives.append(directive)
        }
    }

    func selected() -> SelectedField {
        SelectedField(field, definition, directives, inner?.tree())
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
        let builder = TreeBuilder(type)
        try collect(selections, into: builder)
        return builder.tree()
    }

    private func collect(
        _ selections: [Selection], into tree: TreeBuilder
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

    private func collect(_ field: Field, into tree: TreeBuilder) throws(RelayDocumentErrors) {
        if field.name.value == "__typename", let alias = field.alias?.value,
            alias.hasPrefix("__is")
        {
            _ = tree.entry(.discriminator(alias), .discriminator)
            return
        }
        if field.name.value == RelayDirectives.recordIDField {
            guard inlined == nil else { return }
            _ = tree.entry(
                .field(field.responseName),
                .field(FieldBuilder(field, context.schema.typenameField, nil)))
            return
        }
        let definition = try context.field(field, on: tree.type)
        let inner = context.schema[definition.namedType]
        let entry = tree.entry(
            .field(field.responseName),
            .field(
                FieldBuilder(
                    field, definition, field.selectionSet == nil ? nil : TreeBuilder(inner))))
        guard case .field(let builder) = entry else { return }
        builder.add(field.directives)
        if let set = field.selectionSet, let innerTree = builder.inner {
            try collect(set.selections, into: innerTree)
        }
    }

    private func collect(
        _ spread: FragmentSpread, into tree: TreeBuilder
    ) throws(RelayDocumentErrors) {
        guard let fragment = inlined?[spread.name.value] ?? context.fragments[spread.name.value]
        else {
            throw context.error("Unknown fragment \"\(spread.name.value)\".", at: spread.location)
        }
        let type = try context.compositeType(fragment.typeCondition)
        let isUnmasked = spread.directives.named("relay")?.argument("mask")?.bool == false
        if inlined != nil || isUnmasked {
            return try collect(fragment.selectionSet.selections, of: type, into: tree)
        }
        let arguments = spread.directives.named("arguments").map { [$0].map(\.arguments) } ?? []
        let text = arguments.joined().map { "\($0.name.value):\($0.value.printed())" }
        _ = tree.entry(
            .spread(name: spread.name.value, arguments: text.joined(separator: ",")),
            .spread(SelectedSpread(spread: spread, fragment: fragment, type: type)))
    }

    /// Selections that apply to records of `type`: to all records here, to none, or to some.
    private func collect(
        _ selections: [Selection], of type: NamedType, into tree: TreeBuilder
    ) throws(RelayDocumentErrors) {
        let schema = context.schema
        if schema.isSubType(tree.type.id, of: type.id) {
            return try collect(selections, into: tree)
        }
        guard schema.overlap(tree.type.id, type.id) else { return }
        let entry = tree.entry(.fragment(type.name), .fragment(TreeBuilder(type)))
        if case .fragment(let inner) = entry { try collect(selections, into: inner) }
    }

    /// Where selections with these directives belong; nil: nowhere, ever (GraphQL §3.13.1, §3.13.2).
    private func conditional(_ directives: [Directive], _ tree: TreeBuilder) -> TreeBuilder? {
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
                let entry = tree.entry(
                    .condition(variable: variable, passingValue: passingValue),
                    .condition(TreeBuilder(tree.type)))
                if case .condition(let inner) = entry { tree = inner }
            }
        }
        return tree
    }
}
