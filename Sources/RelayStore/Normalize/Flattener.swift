import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Makes one list of fields from selections with fragments and conditions, for objects of one type.
struct Flattener {
    let type: NameIndex
    let context: NormalizationPlan.Context
    /// Whether the type has an abstract one that the compiler did not count it to.
    let has: (String) -> Bool
    /// What `has` said; where nothing, the list is for all objects of the type.
    private(set) var answers: [TypeVariants<FlatSelection>.Answer] = []

    private enum Selected {
        case scalar(NormalizationScalarField, NameIndex)
        case linked([NormalizationLinkedField], NameIndex)
    }

    private var names: [String] = []
    private var typename: Member?
    private var selected: [String: Selected] = [:]
    private var handles: [NormalizationHandle] = []
    private var discriminators: [String] = []
    private var clientSelections: [NormalizationSelection] = []

    init(type: NameIndex, context: NormalizationPlan.Context, has: @escaping (String) -> Bool) {
        self.type = type
        self.context = context
        self.has = has
    }

    mutating func add(_ selections: [NormalizationSelection]) {
        for selection in selections {
            switch selection {
            case .scalarField(let field) where field.name == "__typename":
                typename = Member(field.responseName, context)
            case .scalarField(let field):
                add(field.responseName, .scalar(field, key(field.key)))
            case .linkedField(let field):
                add(field.responseName, .linked([field], key(field.key)))
            case .handle(let handle):
                handles.append(handle)
            case .inlineFragment(let fragment):
                if applies(fragment) { add(fragment.selections) }
            case .typeDiscriminator(let discriminator):
                if ask(discriminator.abstractKey) {
                    discriminators.append(discriminator.abstractKey)
                }
            case .condition(let condition):
                if condition.holds(under: context.variables) { add(condition.selections) }
            case .clientExtension(let part):
                clientSelections += part.selections
            case .defer(let part):
                add(part.selections)
            case .stream(let part):
                add(part.selections)
            }
        }
    }

    private func key(_ key: StorageKey) -> NameIndex {
        context.pins.name(key.resolved(with: context.variables))
    }

    /// Two fields of one name are one: validation saw to it that they mean the same.
    private mutating func add(_ name: String, _ new: Selected) {
        switch (selected[name], new) {
        case (nil, _):
            names.append(name)
            selected[name] = new
        case (.linked(let fields, let key)?, .linked(let more, _)):
            selected[name] = .linked(fields + more, key)
        default: break
        }
    }

    private mutating func applies(_ fragment: NormalizationInlineFragment) -> Bool {
        let name = context.symbols.nameString(type)
        if fragment.type == name || fragment.possibleTypes.contains(name) { return true }
        guard let abstractKey = fragment.abstractKey else { return false }
        guard ask(abstractKey) else { return false }
        discriminators.append(abstractKey)
        return true
    }

    private mutating func ask(_ abstractKey: String) -> Bool {
        let known = answers.first { $0.abstractKey == abstractKey }
        if let known { return known.isYes }
        let isYes = has(abstractKey)
        answers.append(.init(abstractKey: abstractKey, isYes: isYes))
        return isYes
    }

    /// What was added, as one list.
    mutating func flat() -> FlatSelection {
        var client = Flattener(type: type, context: context, has: has)
        client.answers = answers
        client.add(clientSelections)
        answers = client.answers
        return FlatSelection(
            type: type, fields: fields(), typename: typename, handles: handles,
            discriminators: discriminators, handleFields: handleFields(),
            clientFields: clientSelections.isEmpty ? [] : client.fields(),
            handleKeys: ContiguousArray(
                handles.map {
                    context.pins.name($0.handleKey.resolved(with: context.variables))
                }),
            symbols: context.symbols)
    }

    private func handleFields() -> ContiguousArray<FlatSelection.Field> {
        var fields: ContiguousArray<FlatSelection.Field> = []
        for handle in handles where handle.handle == "connection" {
            guard case .linked(let parts, _)? = selected[handle.alias ?? handle.name] else {
                continue
            }
            let name = handle.handleKey.resolved(with: context.variables)
            let type = parts.first { $0.concreteType != nil }?.concreteType
            let child = NormalizationPlan(
                parts.map(\.selections), concreteType: type.map { context.symbols.name($0) },
                context)
            fields.append(
                .init(
                    member: Member(name, context), key: context.pins.name(name),
                    kind: .linked, child: child))
        }
        return fields
    }

    private func fields() -> ContiguousArray<FlatSelection.Field> {
        var fields: ContiguousArray<FlatSelection.Field> = []
        for name in names {
            let member = Member(name, context)
            switch selected[name] {
            case .scalar(_, let key)?:
                fields.append(.init(member: member, key: key, kind: .scalar, child: nil))
            case .linked(let parts, let key)?:
                let type = parts.first { $0.concreteType != nil }?.concreteType
                let child = NormalizationPlan(
                    parts.map(\.selections), concreteType: type.map { context.symbols.name($0) },
                    context)
                let isPlural = parts.contains(where: \.plural)
                fields.append(
                    .init(
                        member: member, key: key, kind: isPlural ? .plural : .linked, child: child))
            case nil: break
            }
        }
        return fields
    }
}
