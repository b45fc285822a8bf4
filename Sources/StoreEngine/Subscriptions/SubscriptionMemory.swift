import GraphQLExecution
import RelayJSON
import ResultPatches

/// Approximate memory kept by all groups: documents, plans and normalizations, which several groups may share, and the
/// last results of live groups with what they were read from.
struct SubscriptionMemory {
    private var memory = SharedMemory()
    /// Likewise of the groups that clients without a token have made.
    private var nobodys = SharedMemory()
    private var shares: [SubscriptionGroup.ID: SharedMemory.Share] = [:]

    var byteCount: Int { memory.byteCount }

    /// Whether a group that somebody asks for may be added. Clients without a token get a quarter altogether, so that they
    /// leave room for others.
    func hasRoom(for identity: Identity, limit: Int) -> Bool {
        // Reserves a quarter for the growth of the results of open subscriptions.
        byteCount < limit / 4 * 3 && (identity != .nobody || nobodys.byteCount < limit / 4)
    }

    /// Counts a group, or updates its count.
    /// - Returns: whether the total has grown.
    @discardableResult
    mutating func count(_ group: SubscriptionGroup) -> Bool {
        let before = byteCount
        let share = group.memoryShare
        let last = shares.updateValue(share, forKey: group.id)
        memory.replace(last, by: share)
        if group.identity == .nobody { nobodys.replace(last, by: share) }
        return byteCount > before
    }

    mutating func remove(_ group: SubscriptionGroup) {
        guard let share = shares.removeValue(forKey: group.id) else { return }
        memory.remove(share)
        if group.identity == .nobody { nobodys.remove(share) }
    }
}

extension SubscriptionGroup {
    fileprivate var memoryShare: SharedMemory.Share {
        SharedMemory.Share(
            parts: [operation.documentPart, plan.part] + (normalization.map { [$0.part] } ?? []),
            ownByteCount: approximateByteCount)
    }

    /// Excludes what may be shared. A record in the dependencies, together with its entry in the index of live groups,
    /// takes about 128 bytes; measured with lists of 1,850 records.
    private var approximateByteCount: Int {
        let base = key.variables.subscriptionByteCount
        guard case .live(let dependencies) = trigger else { return base }
        let missing = dependencies.missing.reduce(0) { $0 + 2 * $1.text.utf8.count }
        return base + (lastResult?.bytes.count ?? 0) + (lastRecords?.approximateByteCount ?? 0)
            + (lastResult?.unconfirmed?.approximateByteCount ?? 0)
            + 128 * (dependencies.records.count + dependencies.missing.count) + missing
    }
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
