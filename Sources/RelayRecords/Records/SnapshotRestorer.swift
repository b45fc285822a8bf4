import HashTreeCollections

/// Rebuilds a snapshot, record by record, from what a checkpoint kept of it.
///
/// First ``begin(sequence:schema:creationCount:)``; then for every record, in creation order,
/// ``beginRecord(_:)``, ``set(_:_:)`` for each field and ``endRecord(_:creation:)``; the rest in
/// any order. The look-ups are built along the way.
package struct SnapshotRestorer {
    /// What has been restored so far.
    package private(set) var snapshot: Snapshot
    private var builder = RowBuilder()

    package init(indexes: [IndexDefinition]) { snapshot = Snapshot(indexes: indexes) }

    /// The value of a field, with its text in place.
    package enum Value {
        case null
        case bool(Bool)
        case int(Int64)
        case double(Double)
        case string(UnsafeBufferPointer<UInt8>)
        case json(UnsafeBufferPointer<UInt8>)
        case failed(UnsafeBufferPointer<UInt8>)
        case link(RecordIndex)
        case links(LinkList)
    }

    package mutating func begin(sequence: UInt64, schema: String, creationCount: UInt64) {
        snapshot.sequence = sequence
        snapshot.schema = schema
        snapshot.nextCreation = creationCount
    }

    /// The shape of records of a type with these keys, all different.
    package func shape(type: NameIndex, keys: [NameIndex]) -> Shape {
        snapshot.symbols.shapes.shape(type: type, keys: keys)
    }

    package mutating func beginRecord(_ shape: Shape) { builder.begin(shape) }

    /// - Parameter slot: the place of the field's key in the shape.
    package mutating func set(_ slot: Int, _ value: Value) {
        switch value {
        case .null: builder.set(slot, .null)
        case .bool(let value): builder.set(slot, value ? .true : .false)
        case .int(let value): builder.set(slot, .int, word: UInt64(bitPattern: value))
        case .double(let value): builder.set(slot, .double, word: value.bitPattern)
        case .string(let text): builder.set(slot, .string, text: text)
        case .json(let text): builder.set(slot, .json, text: text)
        case .failed(let text): builder.set(slot, .failed, text: text)
        case .link(let record): builder.set(slot, .link, word: UInt64(record.rawValue))
        case .links(let list): builder.set(slot, list)
        }
    }

    /// - Parameter creation: the record's place in creation order, after the one before it.
    package mutating func endRecord(_ record: RecordIndex, creation: UInt64) {
        let row = builder.finish(creation: creation, shapes: snapshot.symbols.shapes)
        snapshot.set(record, .existent(row))
        snapshot.recordCount += 1
        snapshot.updateIndexes(record, old: nil, new: row)
    }

    /// Whether a record has been restored.
    package func exists(_ record: RecordIndex) -> Bool { snapshot.row(record) != nil }

    package mutating func setDeleted(_ record: RecordIndex) { snapshot.set(record, .nonexistent) }

    package mutating func addPending(_ sequence: UInt64, _ intent: MutationIntent) {
        snapshot.pending.append(PendingMutation(sequence: sequence, intent: intent))
    }

    package mutating func setLedger(_ ledger: MutationLedger) { snapshot.ledger = ledger }
}

// MARK: What a checkpoint keeps besides the records

extension Snapshot {
    /// The number the next new record gets. Part of the state: it orders records to come.
    package var creationCount: UInt64 { nextCreation }

    /// The records that were deleted and not created again, in no particular order.
    package func deletedRecords() -> [RecordIndex] {
        var records: [RecordIndex] = []
        rows.forEach { record, slot in
            if case .nonexistent = slot { records.append(record) }
        }
        return records
    }

    /// One more than the highest number of a record that the snapshot knows.
    package var recordLimit: Int { rows.count }
}
