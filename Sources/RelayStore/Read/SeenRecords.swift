import Threads

/// A record, and what was read of it; nothing where the record did not exist.
package struct SeenRecord: Sendable {
    package let record: RecordIndex
    let reading: FlatReading?
}

/// The records that were read for one snapshot of data. As long as somebody has these, or any data that was read with
/// them, their numbers stay theirs.
package final class SeenRecords: @unchecked Sendable {
    // Unchecked: the places in the list are the list's, under its lock.

    let records: ContiguousArray<SeenRecord>
    package let symbols: Symbols
    fileprivate var previous: Unmanaged<SeenRecords>?
    fileprivate var next: Unmanaged<SeenRecords>?

    init(_ records: ContiguousArray<SeenRecord>, _ symbols: Symbols) {
        self.records = records
        self.symbols = symbols
        symbols.readings.add(self)
    }

    deinit { symbols.readings.remove(self) }
}

/// All that was read from a store and that somebody still has.
final class LiveReadings: Sendable {
    private struct Ends: @unchecked Sendable {
        // Unchecked: behind the lock, and each leaves the list before it is gone.
        var first: Unmanaged<SeenRecords>?
    }

    private let ends = Lock(Ends())

    fileprivate func add(_ seen: SeenRecords) {
        let new = Unmanaged.passUnretained(seen)
        ends.withLock { ends in
            seen.next = ends.first
            ends.first?._withUnsafeGuaranteedRef { $0.previous = new }
            ends.first = new
        }
    }

    fileprivate func remove(_ seen: SeenRecords) {
        ends.withLock { ends in
            seen.next?._withUnsafeGuaranteedRef { $0.previous = seen.previous }
            if let previous = seen.previous {
                previous._withUnsafeGuaranteedRef { $0.next = seen.next }
            } else {
                ends.first = seen.next
            }
        }
    }

    /// Calls the body with every record that somebody has data of, perhaps more than once. The body may neither read
    /// nor let go of data.
    func forEachRecord(_ body: (RecordIndex) -> Void) {
        ends.withLock { ends in
            var place = ends.first
            while let seen = place {
                place = seen._withUnsafeGuaranteedRef { seen in
                    for record in seen.records { body(record.record) }
                    return seen.next
                }
            }
        }
    }
}
