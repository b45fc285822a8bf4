@_spi(Rooms) import RelayRecords
import Threads

/// The ids of new records. A store never forgets an id that it has learned, so whatever ids a refused mutation made go to
/// the next ones: a client that is refused again and again does not fill the memory.
final class NewRecordIDs: Sendable {
    private let make: @Sendable (_ type: String) -> DataID
    /// Ids that the store knows and that no record has ever had, by type.
    private let unused = Lock<[String: [DataID]]>([:])

    init(_ make: @escaping @Sendable (_ type: String) -> DataID) { self.make = make }

    /// Those that one mutation makes.
    final class Made: Sendable {
        private let source: NewRecordIDs
        private let made = Lock<[(type: String, id: DataID)]>([])

        init(from source: NewRecordIDs) { self.source = source }

        @Sendable
        func next(type: String) -> DataID {
            let id =
                source.unused.withLock { $0[type]?.popLast() } ?? source.make(type)
            made.withLock { $0.append((type, id)) }
            return id
        }

        /// The mutation was refused.
        /// - Parameter snapshot: the state on which it was tried. What the code has not made a record of stays its own.
        func giveBack(on snapshot: Snapshot) {
            let made = made.withLock { made in
                defer { made = [] }
                return made
            }
            for (type, id) in made.reversed()
            where snapshot.symbols.findRecord(id.rawValue) != nil
                && snapshot.existing(id.rawValue) == nil
            {
                source.unused.withLock { $0[type, default: []].append(id) }
            }
        }
    }
}
