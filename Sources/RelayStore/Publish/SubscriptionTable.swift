/// Who is to be told of which data. Equal subscriptions are one group, which is read once.
struct SubscriptionTable {
    private struct Group {
        let plan: ReaderPlan
        /// What the group was told last.
        var current: SelectorSnapshot
        var subscriptions: [Weak] = []
    }

    /// A subscription lives as long as its subscriber holds it.
    private struct Weak {
        let id: ObjectIdentifier
        weak var subscription: StoreSubscription?
    }

    private var groups: [SubscriptionIndex.Group: Group] = [:]
    private var numbers: [ReaderSelector: SubscriptionIndex.Group] = [:]
    private var nextNumber = 0
    private(set) var index = SubscriptionIndex()
    private var watchers: [RecordIndex: [Watcher]] = [:]

    /// Somebody who wants to know when a record becomes stale.
    private struct Watcher {
        let id: UInt64
        let tell: @Sendable () -> Void
    }

    var count: Int { groups.values.reduce(0) { $0 + $1.subscriptions.count } }

    // MARK: Subscriptions

    /// - Parameter snapshot: what the subscriber has read, perhaps from an older state.
    /// - Returns: what is to be told at once, if that is outdated.
    mutating func add(
        _ subscription: StoreSubscription, _ id: ObjectIdentifier, _ snapshot: SelectorSnapshot,
        _ plan: ReaderPlan, head: Snapshot
    ) -> SelectorSnapshot? {
        let selector = snapshot.selector
        let new: SelectorSnapshot
        let weak = Weak(id: id, subscription: subscription)
        if let number = numbers[selector], let group = groups[number] {
            new = group.current
            groups[number]?.subscriptions.append(weak)
        } else {
            new = head.read(selector, plan, previous: snapshot.data)
            let number = nextNumber
            nextNumber += 1
            numbers[selector] = number
            groups[number] = Group(plan: plan, current: new, subscriptions: [weak])
            index.add(number, new.seen)
        }
        let isSame =
            new.data == snapshot.data && new.isMissingData == snapshot.isMissingData
            && new.errors == snapshot.errors
        return isSame ? nil : new
    }

    mutating func remove(_ id: ObjectIdentifier, _ selector: ReaderSelector) {
        guard let number = numbers[selector] else { return }
        groups[number]?.subscriptions.removeAll { $0.id == id }
        guard let group = groups[number], group.subscriptions.isEmpty else { return }
        index.remove(number, group.current.seen)
        groups[number] = nil
        numbers[selector] = nil
    }

    // MARK: Telling

    /// The calls that tell of changes, those of older subscriptions first.
    mutating func calls(
        for changes: ChangeSet, to head: Snapshot
    ) -> [@Sendable () -> Void] {
        if changes.isEmpty { return [] }
        var calls: [@Sendable () -> Void] = []
        for number in index.groups(touchedBy: changes) {
            guard let new = refresh(number, head) else { continue }
            for weak in groups[number]?.subscriptions ?? [] {
                guard let subscription = weak.subscription else { continue }
                calls.append { if subscription.isLive { subscription.tell(new) } }
            }
        }
        if !watchers.isEmpty, let key = head.symbols.findName(Snapshot.invalidatedKey) {
            for field in changes.fields where field.key == key {
                calls += watchers[field.record]?.map(\.tell) ?? []
            }
        }
        return calls
    }

    /// Reads a group again; nil when its data is what it was.
    private mutating func refresh(_ number: Int, _ head: Snapshot) -> SelectorSnapshot? {
        guard let group = groups[number] else { return nil }
        let old = group.current
        let new = head.read(old.selector, group.plan, previous: old.data)
        if !new.seen.isSame(as: old.seen) {
            index.remove(number, old.seen)
            index.add(number, new.seen)
        }
        groups[number]?.current = new
        return new.isSame(as: old) ? nil : new
    }

    // MARK: Watching for invalidation

    mutating func watch(
        _ records: [RecordIndex], id: UInt64, _ tell: @escaping @Sendable () -> Void
    ) {
        for record in records { watchers[record, default: []].append(.init(id: id, tell: tell)) }
    }

    mutating func unwatch(_ records: [RecordIndex], id: UInt64) {
        for record in records {
            watchers[record]?.removeAll { $0.id == id }
            if watchers[record]?.isEmpty ?? false { watchers[record] = nil }
        }
    }
}

extension ContiguousArray<SeenRecord> {
    fileprivate func isSame(as other: Self) -> Bool {
        count == other.count
            && zip(self, other).allSatisfy { $0.record == $1.record && $0.reading === $1.reading }
    }
}
