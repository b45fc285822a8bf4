@_spi(Rooms) import RelayRecords
import Threads

/// The holds on garbage collection, and the limit of each.
struct CollectionHolds {
    /// The record count from which each hold has no effect.
    private var limits: [UInt64: Int] = [:]
    private var lastID: UInt64 = 0

    mutating func add(limit: Int) -> UInt64 {
        lastID += 1
        limits[lastID] = limit
        return lastID
    }

    mutating func remove(_ id: UInt64) { limits[id] = nil }

    func hold(_ recordCount: Int) -> Bool { limits.values.contains { recordCount < $0 } }
}

extension Store {
    /// Whether garbage collection is held back for now.
    var isCollectionHeld: Bool { collectionHolds.withLock { $0.hold(snapshot.recordCount) } }

    /// Holds garbage collection back until the token is cancelled or released: the program has yet to say what else to
    /// keep. A collection in progress continues.
    /// - Parameter limit: while the store has this many records or more, the hold has no effect.
    package func holdCollections(upTo limit: Int) -> Retention {
        let id = collectionHolds.withLock { $0.add(limit: limit) }
        return Retention { [weak self] in
            self?.collectionHolds.withLock { $0.remove(id) }
            self?.scheduleCollection()
        }
    }
}
