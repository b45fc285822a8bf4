/// Single root field (GraphQL §5.2.4.1): a subscription is one stream of events, chosen without
/// looking at variables.
enum SingleFieldSubscriptionsRule {
    static func check(_ operation: OperationDefinition, _ context: ValidationContext) {
        guard operation.operation == .subscription,
            let rootType = context.schema.rootType(of: .subscription)
        else { return }
        var root = RootFields(rootType: rootType, context: context)
        root.collect(operation.selectionSet)

        let subject =
            operation.name.map { "Subscription \"\($0.value)\"" }
            ?? "Anonymous Subscription"
        guard root.conditions.isEmpty else {
            context.report(
                "\(subject) must not use `@skip` or `@include` directives "
                    + "in the top level selection.", at: root.conditions)
            return
        }
        if root.groups.count > 1 {
            context.report(
                "\(subject) must select only one top level field.",
                at: root.groups.dropFirst().flatMap { $0.map(\.location) })
        }
        for group in root.groups where group[0].name.value.hasPrefix("__") {
            context.report(
                "\(subject) must not select an introspection top level field.",
                at: group.map(\.location))
        }
    }
}

/// CollectSubscriptionFields of GraphQL §5.2.4.1.
private struct RootFields {
    let rootType: NamedType
    let context: ValidationContext
    /// By response name, in order of first occurrence.
    private(set) var groups: [[Field]] = []
    /// Locations of `@skip` and `@include`.
    private(set) var conditions: [Int] = []
    private var groupIndices: [String: Int] = [:]
    private var visitedFragments: Set<String> = []

    init(rootType: NamedType, context: ValidationContext) {
        self.rootType = rootType
        self.context = context
    }

    /// Fragments may be deeply nested, so pending ones are kept in a list.
    mutating func collect(_ selectionSet: SelectionSet) {
        var open = [selectionSet.selections[...]]
        while var rest = open.popLast() {
            guard let selection = rest.popFirst() else { continue }
            open.append(rest)
            switch selection {
            case .field(let field):
                noteConditions(field.directives)
                append(field)
            case .inlineFragment(let fragment):
                noteConditions(fragment.directives)
                if applies(fragment.typeCondition) {
                    open.append(fragment.selectionSet.selections[...])
                }
            case .fragmentSpread(let spread):
                noteConditions(spread.directives)
                guard visitedFragments.insert(spread.name.value).inserted,
                    let fragment = context.fragment(named: spread.name.value),
                    applies(fragment.typeCondition)
                else { continue }
                open.append(fragment.selectionSet.selections[...])
            }
        }
    }

    private mutating func append(_ field: Field) {
        if let index = groupIndices[field.responseName] {
            groups[index].append(field)
        } else {
            groupIndices[field.responseName] = groups.count
            groups.append([field])
        }
    }

    private mutating func noteConditions(_ directives: [Directive]) {
        for directive in directives
        where directive.name.value == "skip" || directive.name.value == "include" {
            conditions.append(directive.location)
        }
    }

    private func applies(_ condition: Name?) -> Bool {
        guard let condition else { return true }
        guard let type = context.schema.type(named: condition.value) else { return false }
        return context.schema.isSubType(rootType.id, of: type.id)
    }
}
