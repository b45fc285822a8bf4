import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Flattens selections with fragments and conditions into one list of fields, for objects of one type.
struct Flattener {
    let type: NameIndex
    let context: NormalizationPlan.Context
    private(set) var questions: TypeQuestions

    private var typename: Member?
    private var selected = MergedFields<NormalizationScalarField, NormalizationLinkedField>()
    private var handles: [NormalizationHandle] = []
    private var discriminators: [String] = []
    private var clientSelections: [NormalizationSelection] = []

    init(type: NameIndex, context: NormalizationPlan.Context, _ questions: TypeQuestions) {
        self.type = type
        self.context = context
        self.questions = questions
    }

    mutating func add(_ selections: [NormalizationSelection]) {
        for selection in selections {
            switch selection {
            case .scalarField(let field) where field.name == "__typename":
                typename = Member(field.responseName, context)
            case .scalarField(let field): selected.add(field.responseName, leaf: field)
            case .linkedField(let field): selected.add(field.responseName, link: field)
            case .handle(let handle):
                handles.append(handle)
            case .inlineFragment(let fragment):
                if applies(fragment) { add(fragment.selections) }
            case .typeDiscriminator(let discriminator):
                if questions.ask(discriminator.abstractKey) {
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

    private mutating func applies(_ fragment: NormalizationInlineFragment) -> Bool {
        if fragment.counts(for: context.symbols.nameString(type)) { return true }
        guard let abstractKey = fragment.abstractKey, questions.ask(abstractKey) else {
            return false
        }
        discriminators.append(abstractKey)
        return true
    }

    /// Everything added so far, as one list.
    mutating func flat() -> FlatSelection {
        var client = Flattener(type: type, context: context, questions)
        client.add(clientSelections)
        questions = client.questions
        return FlatSelection(
            type: type, fields: fields(), typename: typename, handles: handles,
            discriminators: discriminators, handleFields: handleFields(),
            clientFields: clientSelections.isEmpty ? [] : client.fields(),
            handleKeys: ContiguousArray(handles.map { key($0.handleKey) }),
            symbols: context.symbols)
    }

    private func handleFields() -> ContiguousArray<FlatSelection.Field> {
        var fields: ContiguousArray<FlatSelection.Field> = []
        for handle in handles where handle.handle == "connection" {
            guard case .links(let parts)? = selected[handle.alias ?? handle.name] else {
                continue
            }
            let name = handle.handleKey.resolved(with: context.variables)
            fields.append(
                .init(
                    member: Member(name, context), key: context.pins.name(name),
                    kind: .linked, child: plan(parts)))
        }
        return fields
    }

    private func fields() -> ContiguousArray<FlatSelection.Field> {
        var fields: ContiguousArray<FlatSelection.Field> = []
        for (name, field) in selected.all {
            let member = Member(name, context)
            switch field {
            case .leaf(let field):
                fields.append(
                    .init(member: member, key: key(field.key), kind: .scalar, child: nil))
            case .links(let parts):
                let isPlural = parts.contains(where: \.plural)
                fields.append(
                    .init(
                        member: member, key: key(parts[0].key),
                        kind: isPlural ? .plural : .linked, child: plan(parts)))
            }
        }
        return fields
    }

    /// What fields of one name select on the objects that they link to.
    private func plan(_ parts: [NormalizationLinkedField]) -> NormalizationPlan {
        let type = parts.lazy.compactMap(\.concreteType).first
        return NormalizationPlan(
            parts.map(\.selections), concreteType: type.map { context.symbols.name($0) }, context)
    }
}
