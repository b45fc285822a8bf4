/// A map of bounded size that keeps what is in use.
///
/// It has two generations: when the younger is full it becomes the older, and the older is dropped; what is
/// asked for moves to the younger. So what is in use stays, what hostile clients send only passes through,
/// and every operation takes constant time.
struct GenerationalCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Entry] = [:]
    private var old: [Key: Entry] = [:]
    private var youngCost = 0
    private let generationCost: Int

    private struct Entry: Sendable {
        let value: Value
        let cost: Int
    }

    /// - Parameter generationCost: what the values of one generation may cost together, in a unit of the
    ///   caller's. Nothing that costs more by itself is kept.
    init(generationCost: Int) { self.generationCost = generationCost }

    /// Values that are kept.
    var count: Int { young.count + old.keys.count { young[$0] == nil } }

    mutating func find(_ key: Key) -> Value? {
        if let entry = young[key] { return entry.value }
        guard let entry = old[key] else { return nil }
        insert(entry.value, for: key, cost: entry.cost)
        return entry.value
    }

    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        youngCost -= young.removeValue(forKey: key)?.cost ?? 0
        guard cost <= generationCost else { return }
        if youngCost + cost > generationCost {
            old = young
            young = [:]
            youngCost = 0
        }
        young[key] = Entry(value: value, cost: cost)
        youngCost += cost
    }

    /// A value that may be kept costs more now.
    mutating func grow(_ key: Key, by cost: Int) {
        if let entry = young[key] {
            insert(entry.value, for: key, cost: entry.cost + cost)
        } else if let entry = old[key] {
            old[key] = Entry(value: entry.value, cost: entry.cost + cost)
        }
    }
}
