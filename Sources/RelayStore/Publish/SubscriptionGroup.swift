@_spi(Rooms) import RelayRecords

/// Equal subscriptions, read once.
final class SubscriptionGroup: @unchecked Sendable {
    // Unchecked: used only by the writer.

    /// Increases from group to group.
    let number: Int
    let selector: ReaderSelector
    let record: RecordIndex
    let plan: ReaderPlan
    /// What the group last received.
    var current: SelectorSnapshot
    var listeners: ContiguousArray<Listener> = []
    /// The index's last query that found the group.
    fileprivate(set) var lastQuestion: UInt64 = 0

    init(
        number: Int, record: RecordIndex, _ plan: ReaderPlan, _ current: SelectorSnapshot
    ) {
        self.number = number
        self.record = record
        self.plan = plan
        self.current = current
        selector = current.selector
    }
}

/// Groups affected by a change, each once.
struct ConcernedGroups {
    private let question: UInt64
    private var groups: ContiguousArray<SubscriptionGroup> = []

    init(question: UInt64) { self.question = question }

    @inline(__always)
    mutating func insert(_ group: SubscriptionGroup) {
        if group.lastQuestion == question { return }
        group.lastQuestion = question
        groups.append(group)
    }

    /// Older groups first.
    mutating func sorted() -> ContiguousArray<SubscriptionGroup> {
        if groups.count > 1 { groups.sort { $0.number < $1.number } }
        return groups
    }
}
