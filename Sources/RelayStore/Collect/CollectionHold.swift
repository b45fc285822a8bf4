@_spi(Rooms) import RelayRecords
import Threads

/// Who holds collections back, and until when.
struct CollectionHolds {
    /// The number of records with which each ends.
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
    /// Whether nothing is to be collected yet.
    var isCollectionHeld: Bool { collectionHolds.withLock { $0.hold(snapshot.recordCount) } }

    /// Holds collections back until the token is cancelled or let go of: the program is about to say what else is to be
    /// kept. A collection that is under way goes on.
    /// - Parameter limit: with so many records in the store collections are not held any more, said or not.
    package func holdCollections(upTo limit: Int) -> Retention {
        let id = collectionHolds.withLock { $0.add(limit: limit) }
        return Retention { [weak self] in
            self?.collectionHolds.withLock { $0.remove(id) }
            self?.scheduleCollection()
        }
    }
}
