/// The sinks of a group, in the order in which they joined. When one leaves, the last one takes its place.
///
/// A fan-out visits them in this order. Connections made in succession are adjacent in memory, both ours and
/// the kernel's. In a dictionary's order, each delivery would incur a cache miss.
struct SinkSet {
    private(set) var sinks: [any SubscriptionSink] = []
    private var positions: [ObjectIdentifier: Int] = [:]

    var count: Int { sinks.count }
    var isEmpty: Bool { sinks.isEmpty }

    /// Does nothing if the sink is already there.
    mutating func insert(_ sink: any SubscriptionSink) {
        let id = ObjectIdentifier(sink)
        if positions[id] != nil { return }
        positions[id] = sinks.count
        sinks.append(sink)
    }

    /// Does nothing if the sink is not there.
    mutating func remove(_ sink: any SubscriptionSink) {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(sink)) else { return }
        let last = sinks.removeLast()
        if position == sinks.count { return }
        sinks[position] = last
        positions[ObjectIdentifier(last)] = position
    }
}
