/// All records of a store at one point of its history: an immutable value that is free to copy.
///
/// Copies share memory; the holder of one sees the same records for as long as it likes, while the
/// store's one writer folds events into its own copy. Reading takes no lock. Only the writer may call the
/// mutating methods, because the ``Symbols`` behind all copies are shared and have one writer.
package struct Snapshot: Sendable {
    /// To be used only while the snapshot is held: a client's store reuses numbers that no snapshot has.
    package let symbols: Symbols
    /// The sequence of the last event folded in; 0 before the first.
    package var sequence: UInt64 = 0
    /// Records that exist.
    package var recordCount = 0
    /// Mutations that have started and not ended, in log order.
    package var pending: [PendingMutation] = []

    package var rows = RowTree()
    var parts: SnapshotParts
    /// The number the next new record gets; see ``Row/creation``.
    package var nextCreation: UInt64 = 0

    package init(symbols: Symbols = Symbols(), indexes: [IndexDefinition] = []) {
        self.symbols = symbols
        parts = SnapshotParts(
            Indexes(indexes, symbols: symbols), MutationLedger(), schema: "")
    }

    /// The type of the record ``DataID/rootID``.
    package static let rootTypeName = "__Root"
    /// The key under which a record keeps the sequence of the event that last invalidated it.
    package static let invalidatedKey = "__invalidatedAt"

    // MARK: Reading

    @inline(__always)
    package subscript(_ record: RecordIndex) -> RecordSlot {
        let index = Int(record.rawValue)
        return index < rows.count ? rows[index] : .unknown
    }

    /// The row of a record that exists.
    @inline(__always)
    package func row(_ record: RecordIndex) -> Row? { self[record].row }

    /// The record with this id, if it exists.
    package func existing(_ id: String) -> RecordIndex? {
        // Otherwise a copy made for this call might be released, with what is being searched, before the search is
        // over.
        defer { withExtendedLifetime(parts) {} }
        guard let record = symbols.findRecord(id), row(record) != nil else { return nil }
        return record
    }

    package func type(of record: RecordIndex) -> NameIndex? { row(record)?.type }

    /// Every record that exists, in creation order.
    package func recordsInCreationOrder() -> [RecordIndex] {
        inCreationOrder { _ in true }.map(\.record)
    }

    /// The records of a type, in creation order.
    package func recordsInCreationOrder(
        of type: String
    ) -> [(creation: UInt64, record: RecordIndex)] {
        defer { withExtendedLifetime(parts) {} }
        guard let type = symbols.findName(type) else { return [] }
        return inCreationOrder { $0.type == type }
    }

    private func inCreationOrder(
        where isIncluded: (Row) -> Bool
    ) -> [(creation: UInt64, record: RecordIndex)] {
        var found: [(creation: UInt64, record: RecordIndex)] = []
        found.reserveCapacity(recordCount)
        rows.forEach { record, slot in
            if case .existent(let row) = slot, isIncluded(row) {
                found.append((row.creation, record))
            }
        }
        found.sort { $0.creation < $1.creation }
        return found
    }

    /// The place of a record in the order of creation; nil if there is no such record.
    package func creation(ofRecord id: String) -> UInt64? {
        existing(id).flatMap(row)?.creation
    }

    /// How many records there are of each type that has any.
    package func recordCounts() -> [(type: String, count: Int)] {
        defer { withExtendedLifetime(parts) {} }
        var counts: [NameIndex: Int] = [:]
        rows.forEach { _, slot in
            if case .existent(let row) = slot { counts[row.type, default: 0] += 1 }
        }
        return counts.map { (symbols.nameString($0.key), $0.value) }
    }

    /// The ids of the records that were deleted and not created again, sorted.
    package func deletedIDs() -> [String] {
        defer { withExtendedLifetime(parts) {} }
        var ids: [String] = []
        rows.forEach { record, slot in
            if case .nonexistent = slot { ids.append(symbols.idString(record)) }
        }
        return ids.sorted()
    }

    package mutating func set(_ record: RecordIndex, _ slot: RecordSlot) {
        rows.grow(to: Int(record.rawValue) + 1)
        rows[Int(record.rawValue)] = slot
    }

    /// Adds a record that did not exist.
    package mutating func create(_ record: RecordIndex, _ row: Row) {
        nextCreation += 1
        recordCount += 1
        set(record, .existent(row))
        updateIndexes(record, old: nil, new: row)
    }

    package mutating func replace(_ record: RecordIndex, _ old: Row, by new: Row) {
        set(record, .existent(new))
        updateIndexes(record, old: old, new: new)
    }
}

extension Snapshot {
    /// Whether these are the look-ups that it maintains.
    package func isIndexed(by definitions: [IndexDefinition]) -> Bool {
        indexes.definitions == definitions
    }

    /// The same state with other look-ups, rebuilt from the records. Only the writer may call this.
    package func indexed(by definitions: [IndexDefinition]) -> Snapshot {
        var indexes = Indexes(definitions, symbols: symbols)
        // As if the records came one after another: each is added once, and finds those before it.
        var known = RowTree()
        known.grow(to: rows.count)
        for record in recordsInCreationOrder() {
            known[Int(record.rawValue)] = self[record]
            indexes.update(record, old: nil, new: row(record), rows: known)
        }
        var snapshot = self
        snapshot.indexes = indexes
        return snapshot
    }
}
