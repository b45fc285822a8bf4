/// Fragment spreads must not form cycles (GraphQL §5.5.2.2).
enum NoFragmentCyclesRule {
    static func check(_ context: ValidationContext) {
        guard !context.fragments.isEmpty else { return }
        var search = FragmentCycleSearch(context: context)
        for fragment in context.fragments { search.visit(fragment.node) }
    }
}

/// Searches depth first from fragment to fragment; meeting one again on the way is a cycle. An
/// explicit stack makes room for documents with thousands of fragments.
private struct FragmentCycleSearch {
    private struct Step {
        let fragment: FragmentDefinition
        var remaining: ArraySlice<FragmentSpread>
    }

    let context: ValidationContext
    private var visited: Set<String> = []
    private var steps: [Step] = []
    /// The spreads that led from each step to the next.
    private var path: [FragmentSpread] = []
    private var depths: [String: Int] = [:]

    init(context: ValidationContext) {
        self.context = context
    }

    mutating func visit(_ fragment: FragmentDefinition) {
        enter(fragment)
        while var step = steps.popLast() {
            guard let spread = step.remaining.popFirst() else {
                depths[step.fragment.name.value] = nil
                _ = path.popLast()
                continue
            }
            steps.append(step)
            path.append(spread)
            if let depth = depths[spread.name.value] {
                report(spread, path[depth...])
                path.removeLast()
            } else if let next = context.fragment(named: spread.name.value),
                !visited.contains(spread.name.value)
            {
                enter(next)
            } else {
                path.removeLast()
            }
        }
    }

    private mutating func enter(_ fragment: FragmentDefinition) {
        guard visited.insert(fragment.name.value).inserted else { return }
        depths[fragment.name.value] = path.count
        steps.append(Step(fragment: fragment, remaining: spreads(in: fragment)[...]))
    }

    /// The spreads of a selection set before those of the sets inside it, last set first: the order
    /// in which graphql-js finds them, and so the cycle that it reports.
    private func spreads(in fragment: FragmentDefinition) -> [FragmentSpread] {
        var spreads: [FragmentSpread] = []
        var pending = [fragment.selectionSet]
        while let selectionSet = pending.popLast() {
            for selection in selectionSet.selections {
                switch selection {
                case .fragmentSpread(let spread): spreads.append(spread)
                case .inlineFragment(let inline): pending.append(inline.selectionSet)
                case .field(let field):
                    if let selectionSet = field.selectionSet { pending.append(selectionSet) }
                }
            }
        }
        return spreads
    }

    private func report(_ spread: FragmentSpread, _ cycle: ArraySlice<FragmentSpread>) {
        let via = cycle.dropLast().map { "\"\($0.name.value)\"" }.joined(separator: ", ")
        context.report(
            "Cannot spread fragment \"\(spread.name.value)\" within itself"
                + wrap(" via ", via) + ".", at: cycle.map(\.location))
    }
}
