package import GraphQLLanguage

/// What is selected on one record, each thing once: fields by response name, inline fragments by type,
/// conditions by variable. Reader and normalization nodes are built from it, and so are generated types.
package final class SelectionTree: Sendable {
    package enum Entry: Sendable {
        case field(SelectedField)
        /// Selections for records of a type, which not all records here have.
        case fragment(type: NamedType, SelectionTree)
        /// A fragment with `@alias`: an object in the data, from the same record; null if the record is not of the type.
        /// For a spread, the tree has just that.
        case alias(name: String, type: NamedType, SelectionTree)
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
        case alias(String)
        case condition(variable: String, passingValue: Bool)
        case spread(String)
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
    package let alias: String?
    package let name: String
    /// The same in all places.
    package let arguments: [Argument]
    package let definition: SchemaField
    /// Relay's directives, from all places.
    package let directives: [Directive]
    /// nil for a leaf.
    package let tree: SelectionTree?
    /// Whether a document has it, in one of the places; false for what the compiler has added, such as the cursors of a
    /// connection.
    package let isWritten: Bool

    package var responseName: String { alias ?? name }

    fileprivate init(
        _ field: TypedField, _ directives: [Directive], _ tree: SelectionTree?, isWritten: Bool
    ) {
        self.isWritten = isWritten
        alias = field.alias
        name = field.name
        arguments = field.arguments
        definition = field.definition
        self.directives = directives
        self.tree = tree
    }
}

/// A fragment spread that stays masked.
package struct SelectedSpread: Sendable {
    package let fragment: FragmentDefinition
    /// The fragment's type.
    package let type: NamedType
    /// Those of `@arguments`.
    package let arguments: [Argument]
}

/// A tree while it is built.
private final class TreeBuilder {
    enum Entry {
        case field(FieldBuilder)
        case fragment(TreeBuilder)
        case alias(TreeBuilder)
        case condition(TreeBuilder)
        case spread(SelectedSpread)
        case discriminator
    }

    let type: NamedType
    private var keys: [SelectionTree.Key] = []
    private var entries: [Entry] = []
    private var places: [SelectionTree.Key: Int] = [:]
    /// The names of the fragments that are written out here: a second time adds nothing.
    private var fragments: Set<String> = []

    init(_ type: NamedType) { self.type = type }

    /// Whether a fragment has not been written out here before.
    func isFirst(ofFragment name: String) -> Bool { fragments.insert(name).inserted }

    /// The entry with a key, added if there is none.
    func entry(_ key: SelectionTree.Key, _ new: @autoclosure () -> Entry) -> Entry {
        if let place = places[key] { return entries[place] }
        let entry = new()
        places[key] = entries.count
        keys.append(key)
        entries.append(entry)
        return entry
    }

    func alias(_ name: String, _ type: NamedType) -> TreeBuilder {
        let builder = TreeBuilder(type)
        if case .alias(let known) = entry(.alias(name), .alias(builder)) { return known }
        return builder
    }

    func tree() -> SelectionTree {
        let entries = zip(keys, entries).map { key, entry -> SelectionTree.Entry in
            switch (key, entry) {
            case (_, .field(let field)): .field(field.selected())
            case (_, .fragment(let inner)): .fragment(type: inner.type, inner.tree())
            case (.alias(let name), .alias(let inner)):
                .alias(name: name, type: inner.type, inner.tree())
            case (.condition(let variable, let passingValue), .condition(let inner)):
                .condition(variable: variable, passingValue: passingValue, inner.tree())
            case (_, .spread(let spread)): .spread(spread)
            case (.discriminator(let key), .discriminator): .discriminator(key: key)
            case (_, .condition), (_, .discriminator), (_, .alias):
                preconditionFailure("An entry is added with a key of its own kind.")
            }
        }
        return SelectionTree(type, entries, keys: keys, places: places)
    }
}

private final class FieldBuilder {
    let field: TypedField
    let inner: TreeBuilder?
    private var directives: [Directive] = []
    var isWritten = false

    init(_ field: TypedField, _ inner: TreeBuilder?) {
        self.field = field
        self.inner = inner
    }

    func add(_ more: [Directive]) {
        for directive in more where RelayDirectives.names.contains(directive.name.value) {
            let key = directive.handledAs
            if !directives.contains(where: { $0.handledAs == key }) { directives.append(directive) }
        }
    }

    func selected() -> SelectedField {
        SelectedField(field, directives, inner?.tree(), isWritten: isWritten)
    }
}

extension Directive {
    /// The same for directives of which one is enough. A field may be in several connections, and what is at it may be
    /// done to several.
    fileprivate var handledAs: String {
        let name = name.value
        guard name == "connection" || RelayDirectives.handles.contains(name) else { return name }
        return "\(name)(\(arguments.key))"
    }
}

/// Builds selection trees.
struct SelectionCollector {
    let schema: Schema
    /// For readers: the fragments that `@relay(mask: false)` writes out; other spreads stay.
    /// For normalization: all fragments, to be written out in place of their spreads.
    let fragments: [String: TypedFragment]
    let isComplete: Bool

    func tree(_ selections: [TypedSelection], on type: NamedType) -> SelectionTree {
        let builder = TreeBuilder(type)
        collect(selections, into: builder)
        return builder.tree()
    }

    private func collect(_ selections: [TypedSelection], into tree: TreeBuilder) {
        for selection in selections {
            guard let tree = conditional(selection.directives, tree) else { continue }
            switch selection {
            case .field(let field): collect(field, into: tree)
            case .inlineFragment(let fragment):
                if !isComplete, let alias = fragment.alias {
                    collect(fragment.selections, into: tree.alias(alias, fragment.type))
                } else {
                    collect(fragment.selections, of: fragment.type, into: tree)
                }
            case .spread(let spread): collect(spread, into: tree)
            }
        }
    }

    private func collect(_ field: TypedField, into tree: TreeBuilder) {
        if field.name == "__typename", let alias = field.alias, alias.hasPrefix("__is") {
            _ = tree.entry(.discriminator(alias), .discriminator)
            return
        }
        if isComplete, field.name == RelayDirectives.recordIDField { return }
        let entry = tree.entry(
            .field(field.responseName),
            .field(
                FieldBuilder(field, field.selections == nil ? nil : TreeBuilder(field.type))))
        guard case .field(let builder) = entry else { return }
        builder.add(field.directives)
        builder.isWritten = builder.isWritten || field.isWritten
        if let selections = field.selections, let inner = builder.inner {
            collect(selections, into: inner)
        }
    }

    private func collect(_ spread: TypedSpread, into tree: TreeBuilder) {
        if isComplete || spread.isUnmasked {
            if let fragment = fragments[spread.name], tree.isFirst(ofFragment: spread.name) {
                collect(fragment.selections, of: fragment.type, into: tree)
            }
            return
        }
        let tree = spread.alias.map { tree.alias($0, spread.type) } ?? tree
        _ = tree.entry(
            .spread(spread.name),
            .spread(
                SelectedSpread(
                    fragment: spread.fragment, type: spread.type, arguments: spread.arguments)))
    }

    /// Selections that apply to records of `type`: to all records here, to none, or to some.
    private func collect(
        _ selections: [TypedSelection], of type: NamedType, into tree: TreeBuilder
    ) {
        if schema.isSubType(tree.type.id, of: type.id) { return collect(selections, into: tree) }
        guard schema.overlap(tree.type.id, type.id) else { return }
        let entry = tree.entry(.fragment(type.name), .fragment(TreeBuilder(type)))
        if case .fragment(let inner) = entry { collect(selections, into: inner) }
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

extension TypedSpread {
    /// Whether its reader reads what the fragment selects, instead of a pointer to it.
    var isUnmasked: Bool { directives.named("relay")?.argument("mask")?.bool == false }
}
