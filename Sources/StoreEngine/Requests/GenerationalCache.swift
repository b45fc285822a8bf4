/// A map of bounded size that keeps what is in use.
///
/// It has two generations. When the younger one is full it becomes the older one, and the previous older one
/// is dropped. An entry that is looked up moves to the younger generation. So entries in use stay, entries
/// from hostile clients only pass through, and every operation takes constant time.
struct GenerationalCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var young: [Key: Entry] = [:]
    private var old: [Key: Entry] = [:]
    private var youngCost = 0
    private let generationCost: Int

    private struct Entry: Sendable {
        let value: Value
        let cost: Int
    }

    /// - Parameter generationCost: limit on the total cost of the values in one generation, in the caller's
    ///   unit. A value that costs more on its own is not kept.
    init(generationCost: Int) { self.generationCost = generationCost }

    /// The number of values kept.
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

    /// Increases the cost of a value, if it is kept.
    mutating func grow(_ key: Key, by cost: Int) {
        if let entry = young[key] {
            insert(entry.value, for: key, cost: entry.cost + cost)
        } else if let entry = old[key] {
            old[key] = Entry(value: entry.value, cost: entry.cost + cost)
        }
    }
}
