import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Makes one list of fields from what a fragment selects, for records of one type.
struct ReaderFlattener {
    /// nil if no selection asks for it.
    private let type: NameIndex?
    private let rootTypename: String?
    private let variables: VariableData
    private let symbols: Symbols
    private let pins: NamePins
    private(set) var questions: TypeQuestions

    private var selected = MergedFields<Leaf, (field: ReaderLinkedField, isClient: Bool)>()
    private var spreads: [String: SpreadArguments] = [:]
    /// By name, in order, what is read under it; nothing if the record is of another type.
    private var aliases: [(name: String, selections: [[ReaderSelection]])] = []

    private struct Leaf {
        let field: ReaderScalarField
        let isClient: Bool
        /// Of all places where the field is selected: the compiler adds some, without directives.
        var required: RequiredAction?
        var catchTo: CatchTarget?

        init(_ field: ReaderScalarField, isClient: Bool) {
            self.field = field
            self.isClient = isClient
            required = field.required
            catchTo = field.catchTo
        }

        mutating func join(_ other: Leaf) {
            required = required ?? other.required
            catchTo = catchTo ?? other.catchTo
        }
    }

    init(
        type: NameIndex?, rootTypename: String?, _ variables: VariableData, _ symbols: Symbols,
        _ pins: NamePins, has: @escaping (String) -> Bool
    ) {
        self.type = type
        self.rootTypename = rootTypename
        self.variables = variables
        self.symbols = symbols
        self.pins = pins
        questions = TypeQuestions(has)
    }

    mutating func add(_ selections: [ReaderSelection], isClient: Bool = false) {
        for selection in selections {
            switch selection {
            case .scalarField(let field):
                selected.add(field.responseName, leaf: Leaf(field, isClient: isClient)) {
                    $0.join($1)
                }
            case .linkedField(let field):
                selected.add(field.responseName, link: (field, isClient))
            case .fragmentSpread(let spread):
                spreads[spread.name] = SpreadArguments(spread.args, in: variables)
            case .inlineFragment(let fragment):
                if applies(fragment) { add(fragment.selections, isClient: isClient) }
            case .alias(let alias): add(alias)
            case .condition(let condition):
                if condition.holds(under: variables) {
                    add(condition.selections, isClient: isClient)
                }
            case .clientExtension(let part): add(part.selections, isClient: true)
            case .defer(let part): add(part.selections, isClient: isClient)
            case .stream(let part): add(part.selections, isClient: isClient)
            }
        }
    }

    private mutating func add(_ alias: ReaderAlias) {
        let applies = alias.isAlways || applies(alias.fragment)
        let selections = applies ? [alias.fragment.selections] : []
        if let place = aliases.firstIndex(where: { $0.name == alias.name }) {
            aliases[place].selections += selections
        } else {
            aliases.append((alias.name, selections))
        }
    }

    private mutating func applies(_ fragment: ReaderInlineFragment) -> Bool {
        guard let type else { return false }
        if fragment.counts(for: symbols.typename(type, root: rootTypename)) { return true }
        return fragment.abstractKey.map { questions.ask($0) } ?? false
    }

    func reading() -> FlatReading {
        var fields: ContiguousArray<FlatReading.Field> = []
        var children: [ReaderPlan] = []
        for (name, selected) in selected.all {
            let text = symbols.nameText(pins.name(name))
            switch selected {
            case .leaf(let leaf):
                let kind: FlatReading.Field.Kind =
                    switch leaf.field.name {
                    case "__typename": .typename
                    case "__id": .dataID
                    default: .scalar
                    }
                fields.append(
                    .init(
                        name: text, key: key(leaf.field.key), kind: kind, required: leaf.required,
                        catchTo: leaf.catchTo, isClient: leaf.isClient, child: nil, childPlace: 0))
            case .links(let links):
                let parts = links.map(\.field)
                // A connection has what the field has, and further pages.
                let kept = parts.first(where: \.isHandled) ?? parts[0]
                let child = ReaderPlan(parts.map(\.selections), variables, symbols, pins)
                fields.append(
                    .init(
                        name: text, key: key(kept.key), kind: kept.plural ? .plural : .linked,
                        required: parts.lazy.compactMap(\.required).first,
                        catchTo: parts.lazy.compactMap(\.catchTo).first,
                        isClient: links[0].isClient,
                        child: .passUnretained(child), childPlace: children.count))
                children.append(child)
            }
        }
        for alias in aliases {
            let child =
                alias.selections.isEmpty
                ? nil
                : ReaderPlan(
                    alias.selections, variables, symbols, pins, rootTypename: rootTypename)
            let name = pins.name(alias.name)
            fields.append(
                .init(
                    name: symbols.nameText(name), key: name, kind: .alias, required: nil,
                    catchTo: nil, isClient: true, child: child.map { .passUnretained($0) },
                    childPlace: children.count))
            if let child { children.append(child) }
        }
        return FlatReading(
            fields, children: children, spreads: spreads, rootTypename: rootTypename,
            symbols: symbols, pins)
    }

    private func key(_ key: StorageKey) -> NameIndex {
        pins.name(key.resolved(with: variables))
    }
}
