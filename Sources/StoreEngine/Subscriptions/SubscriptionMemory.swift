import GraphQLExecution
import RelayJSON
import ResultPatches

/// Approximate memory kept by all groups: plans, which several groups may share, and the last results of live
/// groups with what they were read from.
struct SubscriptionMemory {
    private(set) var byteCount = 0
    private var groups: [SubscriptionGroup.ID: Int] = [:]
    private var plans: [ObjectIdentifier: (uses: Int, byteCount: Int)] = [:]

    /// Counts a group, or updates its count.
    /// - Returns: whether the total has grown.
    @discardableResult
    mutating func count(_ group: SubscriptionGroup) -> Bool {
        let before = byteCount
        let plan = ObjectIdentifier(group.plan)
        if groups[group.id] == nil { plans[plan, default: (0, 0)].uses += 1 }
        let planBytes = group.plan.approximateByteCount
        byteCount += planBytes - (plans[plan]?.byteCount ?? 0)
        plans[plan]?.byteCount = planBytes
        let groupBytes = group.approximateByteCount
        byteCount += groupBytes - (groups[group.id] ?? 0)
        groups[group.id] = groupBytes
        return byteCount > before
    }

    mutating func remove(_ group: SubscriptionGroup) {
        guard let groupBytes = groups.removeValue(forKey: group.id) else { return }
        byteCount -= groupBytes
        let id = ObjectIdentifier(group.plan)
        guard let plan = plans[id] else { return }
        plans[id] = plan.uses > 1 ? (plan.uses - 1, plan.byteCount) : nil
        if plan.uses == 1 { byteCount -= plan.byteCount }
        assert(byteCount >= 0, "what is taken out was counted")
    }
}

extension SubscriptionGroup {
    /// Excludes the plan. A record in the dependencies, together with its entry in the index of live groups,
    /// takes about 128 bytes; measured with lists of 1,850 records.
    fileprivate var approximateByteCount: Int {
        let base = 1_024 + 512 * normalizerSelectionCount
        guard case .live(let dependencies) = trigger else { return base }
        let missing = dependencies.missing.reduce(0) { $0 + 2 * $1.text.utf8.count }
        return base + (lastResult?.bytes.count ?? 0) + lastRecords.approximateByteCount
            + 128 * (dependencies.records.count + dependencies.missing.count) + missing
    }
}

extension Plan {
    /// A few hundred bytes per selection.
    fileprivate var approximateByteCount: Int { 512 * currentSelectionCount }
}

extension ResultRecords {
    fileprivate var approximateByteCount: Int {
        records.reduce(0) { total, record in
            record.value.reduce(total + 128 + record.key.text.utf8.count) {
                $0 + 64 + $1.key.text.utf8.count + $1.value.approximateByteCount
            }
        }
    }
}
