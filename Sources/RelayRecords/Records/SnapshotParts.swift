/// What a snapshot has besides its records: rarely written, so all of it is behind one reference, and copying a
/// snapshot retains only that one.
///
/// Belongs to one snapshot as long as it is written; see ``Snapshot``.
final class SnapshotParts: @unchecked Sendable {
    // Unchecked: written only while a single snapshot refers to it, by that snapshot.

    var indexes: Indexes
    var ledger: MutationLedger
    var schema: String
    /// Lives as long as any snapshot that was taken before the next epoch began.
    var epoch: SymbolEpoch

    init(
        _ indexes: Indexes, _ ledger: MutationLedger, schema: String,
        epoch: SymbolEpoch = SymbolEpoch()
    ) {
        self.epoch = epoch
        self.indexes = indexes
        self.ledger = ledger
        self.schema = schema
    }

    func copy() -> SnapshotParts { SnapshotParts(indexes, ledger, schema: schema, epoch: epoch) }
}

extension Snapshot {
    /// Look-ups derived from the records; not part of the state.
    package internal(set) var indexes: Indexes {
        get { parts.indexes }
        set { ownedParts().indexes = newValue }
    }

    /// The answers that were given to mutations.
    package internal(set) var ledger: MutationLedger {
        get { parts.ledger }
        _modify {
            let parts = ownedParts()
            yield &parts.ledger
        }
    }

    /// The schema in force, from the genesis event and the schema events after it.
    package internal(set) var schema: String {
        get { parts.schema }
        set { ownedParts().schema = newValue }
    }

    package var epoch: SymbolEpoch {
        get { parts.epoch }
        set { ownedParts().epoch = newValue }
    }

    private mutating func ownedParts() -> SnapshotParts {
        if !isKnownUniquelyReferenced(&parts) { parts = parts.copy() }
        return parts
    }

    /// Updates the look-ups for a record that was changed, created (`old` nil) or deleted (`new` nil).
    /// - Parameter changes: the counts that changed are added to it.
    package mutating func updateIndexes(
        _ record: RecordIndex, old: Row?, new: Row?, changes: inout ChangeSet
    ) {
        if parts.indexes.isEmpty { return }
        ownedParts().indexes.update(record, old: old, new: new, rows: rows, changes: &changes)
    }

    /// The same without counts.
    package mutating func updateIndexes(_ record: RecordIndex, old: Row?, new: Row?) {
        if parts.indexes.isEmpty { return }
        ownedParts().indexes.update(record, old: old, new: new, rows: rows)
    }
}
