import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Makes one list of fields from what a fragment selects, for records of one type.
struct ReaderFlattener {
    /// nil where no selection asks for it.
    private let type: NameIndex?
    private let variables: VariableData
    private let symbols: Symbols
    private let pins: NamePins
    private let has: (String) -> Bool
    /// What `has` said.
    private(set) var answers: [TypeVariants<FlatReading>.Answer] = []

    private enum Selected {
        case scalar(ReaderScalarField)
        case linked([ReaderLinkedField])
    }

    private var names: [String] = []
    private var selected: [String: (selected: Selected, isClient: Bool)] = [:]
    private var spreads: [String: VariableData] = [:]

    init(
        type: NameIndex?, _ variables: VariableData, _ symbols: Symbols, _ pins: NamePins,
        has: @escaping (String) -> Bool
    ) {
        self.type = type
        self.variables = variables
        self.symbols = symbols
        self.pins = pins
        self.has = has
    }

    mutating func add(_ selections: [ReaderSelection], isClient: Bool = false) {
        for selection in selections {
            switch selection {
            case .scalarField(let field): add(field.responseName, .scalar(field), isClient)
            case .linkedField(let field): add(field.responseName, .linked([field]), isClient)
            case .fragmentSpread(let spread): add(spread)
            case .inlineFragment(let fragment):
                if applies(fragment) { add(fragment.selections, isClient: isClient) }
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

    /// Two fields of one name are one: validation saw to it that they mean the same.
    private mutating func add(_ name: String, _ new: Selected, _ isClient: Bool) {
        switch (selected[name]?.selected, new) {
        case (nil, _):
            names.append(name)
            selected[name] = (new, isClient)
        case (.linked(let fields)?, .linked(let more)):
            selected[name]?.selected = .linked(fields + more)
        default: break
        }
    }

    private mutating func add(_ spread: ReaderFragmentSpread) {
        var values = VariableData()
        for argument in spread.args { values[argument.name] = argument.value(from: variables) }
        spreads[spread.name] = values
    }

    private mutating func applies(_ fragment: ReaderInlineFragment) -> Bool {
        guard let type else { return false }
        let name = symbols.nameString(type)
        if fragment.type == name || fragment.possibleTypes.contains(name) { return true }
        guard let abstractKey = fragment.abstractKey else { return false }
        let known = answers.first { $0.abstractKey == abstractKey }
        if let known { return known.isYes }
        let isYes = has(abstractKey)
        answers.append(.init(abstractKey: abstractKey, isYes: isYes))
        return isYes
    }

    func reading() -> FlatReading {
        var fields: ContiguousArray<FlatReading.Field> = []
        var children: [ReaderPlan] = []
        for name in names {
            guard let (selected, isClient) = selected[name] else { continue }
            let text = symbols.nameText(pins.name(name))
            switch selected {
            case .scalar(let field):
                let kind: FlatReading.Field.Kind =
                    switch field.name {
                    case "__typename": .typename
                    case "__id": .dataID
                    default: .scalar
                    }
                fields.append(
                    .init(
                        name: text, key: key(field.key), kind: kind, required: field.required,
                        catchTo: field.catchTo, isClient: isClient, child: nil, childPlace: 0))
            case .linked(let parts):
                guard let first = parts.first else { continue }
                let child = ReaderPlan(parts.map(\.selections), variables, symbols, pins)
                fields.append(
                    .init(
                        name: text, key: key(first.key), kind: first.plural ? .plural : .linked,
                        required: parts.lazy.compactMap(\.required).first,
                        catchTo: parts.lazy.compactMap(\.catchTo).first, isClient: isClient,
                        child: .passUnretained(child), childPlace: children.count))
                children.append(child)
            }
        }
        return FlatReading(fields, children: children, spreads: spreads, symbols: symbols, pins)
    }

    private func key(_ key: StorageKey) -> NameIndex {
        pins.name(key.resolved(with: variables))
    }
}
