/// The sinks of a group, in the order in which they have joined it. The last one takes the place of one that leaves.
///
/// A fan-out goes through them in this order. Connections that were made after each other lie behind each other in
/// memory, ours and the system's; in a dictionary's order each delivery would wait for memory that is not in a cache.
struct SinkSet {
    private(set) var sinks: [any SubscriptionSink] = []
    private var positions: [ObjectIdentifier: Int] = [:]

    var count: Int { sinks.count }
    var isEmpty: Bool { sinks.isEmpty }

    /// Does nothing when the sink is there already.
    mutating func insert(_ sink: any SubscriptionSink) {
        let id = ObjectIdentifier(sink)
        if positions[id] != nil { return }
        positions[id] = sinks.count
        sinks.append(sink)
    }

    /// Does nothing when the sink is not there.
    mutating func remove(_ sink: any SubscriptionSink) {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(sink)) else { return }
        let last = sinks.removeLast()
        if position == sinks.count { return }
        sinks[position] = last
        positions[ObjectIdentifier(last)] = position
    }
}
