import RelayArtifacts
import RelayNormalization
@_spi(Rooms) import RelayRecords

/// Plans of operations, prepared once per operation and variables.
struct PlanCache {
    private struct Key: Hashable {
        let operation: ObjectIdentifier
        let variables: VariableData
    }

    private struct Entry {
        /// Keeps its identity from being reused by another operation.
        let operation: NormalizationOperation
        let plan: NormalizationPlan
    }

    private var entries: [Key: Entry] = [:]
    private static let limit = 512

    mutating func plan(_ operation: OperationDescriptor, _ symbols: Symbols) -> NormalizationPlan {
        let node = operation.request.node.operation
        let key = Key(operation: ObjectIdentifier(node), variables: operation.request.variables)
        if let entry = entries[key] { return entry.plan }
        // Rare, and cheap to rebuild.
        if entries.count >= Self.limit { entries = [:] }
        let plan = NormalizationPlan(node, variables: operation.request.variables, symbols: symbols)
        entries[key] = Entry(operation: node, plan: plan)
        return plan
    }
}

/// Plans of fragments, prepared once per fragment and the variables it uses.
struct ReaderPlans {
    private struct Key: Hashable {
        let fragment: ObjectIdentifier
        let variables: VariableData

        func hash(into hasher: inout Hasher) {
            hasher.combine(fragment)
            if !variables.isEmpty { hasher.combine(variables) }
        }
    }

    private struct Entry {
        let fragment: ReaderFragment
        let variables: VariableData
        let plan: ReaderPlan
    }

    private var entries: [Key: Entry] = [:]
    /// Rows of a list are read one after another, by one fragment.
    private var last: Entry?
    private static let limit = 1_024

    mutating func plan(_ selector: ReaderSelector, _ make: () -> ReaderPlan) -> ReaderPlan {
        let fragment = selector.fragment
        if let last, last.fragment === fragment, last.variables == selector.variables {
            return last.plan
        }
        let key = Key(fragment: ObjectIdentifier(fragment), variables: selector.variables)
        if let entry = entries[key] {
            last = entry
            return entry.plan
        }
        if entries.count >= Self.limit { entries = [:] }
        let plan = make()
        let entry = Entry(fragment: fragment, variables: selector.variables, plan: plan)
        entries[key] = entry
        last = entry
        return plan
    }
}
