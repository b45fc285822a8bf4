@_spi(Rooms) import RelayRecords

/// Which subscriptions are notified of which data.
struct SubscriptionTable {
    private var groups: [ReaderSelector: SubscriptionGroup] = [:]
    private var nextNumber = 0
    private(set) var index = SubscriptionIndex()

    // MARK: Subscriptions

    /// - Parameter snapshot: what the subscriber has read, perhaps from an older state.
    /// - Returns: what the selector reads now; and whether to report it at once, because the subscriber has read
    ///   something else.
    mutating func add(
        _ listener: Listener, _ snapshot: SelectorSnapshot, _ plan: ReaderPlan, head: Snapshot
    ) -> (current: SelectorSnapshot, isNew: Bool) {
        let selector = snapshot.selector
        let group: SubscriptionGroup
        if let known = groups[selector] {
            group = known
        } else {
            // A record that is still unknown needs a number to be waited for.
            let record = head.symbols.record(selector.dataID.rawValue)
            let new = head.read(record, selector, plan, previous: snapshot.data)
            group = SubscriptionGroup(number: nextNumber, record: record, plan, new)
            nextNumber += 1
            groups[selector] = group
            index.add(group, new.seen)
        }
        group.listeners.append(listener)
        let new = group.current
        let isSame =
            new.data == snapshot.data && new.isMissingData == snapshot.isMissingData
            && new.errors == snapshot.errors
        return (new, !isSame)
    }

    mutating func remove(_ listener: Listener, _ selector: ReaderSelector) {
        guard let group = groups[selector] else { return }
        group.listeners.removeAll { $0 === listener }
        guard group.listeners.isEmpty else { return }
        index.remove(group, group.current.seen)
        groups[selector] = nil
    }

    // MARK: Telling

    /// The deliveries for a set of changes, older subscriptions first.
    mutating func deliveries(for changes: ChangeSet, to head: Snapshot) -> [Delivery] {
        if changes.isEmpty { return [] }
        var deliveries: [Delivery] = []
        for group in groups.isEmpty ? [] : index.groups(concernedBy: changes, head.symbols) {
            guard let new = refresh(group, head) else { continue }
            for listener in group.listeners { deliveries.append(.data(listener, new)) }
        }
        return deliveries
    }

    /// Reads a group again; nil if its data is unchanged.
    private mutating func refresh(
        _ group: SubscriptionGroup, _ head: Snapshot
    ) -> SelectorSnapshot? {
        let old = group.current
        let new = head.read(group.record, group.selector, group.plan, previous: old.data)
        if !new.seen.isSame(as: old.seen) {
            index.remove(group, old.seen)
            index.add(group, new.seen)
        }
        group.current = new
        return new.isSame(as: old) ? nil : new
    }
}

extension ContiguousArray<SeenRecord> {
    fileprivate func isSame(as other: Self) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { $0.record == $1.record && $0.reading === $1.reading }
    }
}
