import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import ResultPatches

/// Approximate memory kept by all groups: documents, plans and normalizations, which several groups may share, and the
/// last results of live groups with what they were read from.
struct SubscriptionMemory {
    private(set) var byteCount = 0
    private var groups: [SubscriptionGroup.ID: Int] = [:]
    private var shared: [ObjectIdentifier: (uses: Int, byteCount: Int)] = [:]

    /// Counts a group, or updates its count.
    /// - Returns: whether the total has grown.
    @discardableResult
    mutating func count(_ group: SubscriptionGroup) -> Bool {
        let before = byteCount
        for (id, bytes) in group.sharedParts {
            if groups[group.id] == nil { shared[id, default: (0, 0)].uses += 1 }
            byteCount += bytes - (shared[id]?.byteCount ?? 0)
            shared[id]?.byteCount = bytes
        }
        let groupBytes = group.approximateByteCount
        byteCount += groupBytes - (groups[group.id] ?? 0)
        groups[group.id] = groupBytes
        return byteCount > before
    }

    mutating func remove(_ group: SubscriptionGroup) {
        guard let groupBytes = groups.removeValue(forKey: group.id) else { return }
        byteCount -= groupBytes
        for (id, _) in group.sharedParts {
            guard let part = shared[id] else { continue }
            shared[id] = part.uses > 1 ? (part.uses - 1, part.byteCount) : nil
            if part.uses == 1 { byteCount -= part.byteCount }
        }
        assert(byteCount >= 0, "what is taken out was counted")
    }
}

extension SubscriptionGroup {
    /// What other groups may have as well.
    fileprivate var sharedParts: [(id: ObjectIdentifier, byteCount: Int)] {
        let document = operation.document.approximateByteCount
        return [
            (ObjectIdentifier(operation), document),
            (ObjectIdentifier(plan), plan.approximateByteCount),
        ] + (normalization.map { [($0.id, $0.byteCount)] } ?? [])
    }

    /// That of a group without a result, excluding what may be shared.
    static func byteCount(_ variables: CoercedVariables) -> Int {
        1_024 + JSONValue.object(variables.values).approximateByteCount
    }

    /// Excludes what may be shared. A record in the dependencies, together with its entry in the index of live groups,
    /// takes about 128 bytes; measured with lists of 1,850 records.
    fileprivate var approximateByteCount: Int {
        let base = Self.byteCount(key.variables)
        guard case .live(let dependencies) = trigger else { return base }
        let missing = dependencies.missing.reduce(0) { $0 + 2 * $1.text.utf8.count }
        return base + (lastResult?.bytes.count ?? 0) + (lastRecords?.approximateByteCount ?? 0)
            + 128 * (dependencies.records.count + dependencies.missing.count) + missing
    }
}

extension Plan {
    /// A few hundred bytes per selection.
    var approximateByteCount: Int { 512 * currentSelectionCount }
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
