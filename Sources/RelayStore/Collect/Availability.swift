import RelayArtifacts
import RelayNormalization
@_spi(Rooms) import RelayRecords

/// Whether an operation can be answered from the store.
package enum Availability: Hashable, Sendable {
    /// Everything is there.
    /// - Parameter fetchedMicroseconds: when it was fetched, in microseconds since 1970; nil if it was not fetched on
    ///   its own.
    case available(fetchedMicroseconds: Int64?)
    /// Everything may be there, but it has been invalidated or is too old. Stale wins over missing.
    case stale
    case missing
}

/// Walks the records of an operation, looking for missing data.
struct AvailabilityCheck {
    private let snapshot: Snapshot
    private let handlers: [MissingFieldHandler]
    private let invalidatedKey: NameIndex?
    /// Links found by missing-field handlers, still to be written.
    private(set) var found: [(record: RecordIndex, key: NameIndex, link: RecordIndex)] = []
    private(set) var isMissing = false
    /// The newest sequence at which a record on the way was invalidated.
    private(set) var invalidatedAt: Int64?

    init(_ snapshot: Snapshot, handlers: [MissingFieldHandler]) {
        self.snapshot = snapshot
        self.handlers = handlers
        invalidatedKey = snapshot.symbols.findName(Snapshot.invalidatedKey)
    }

    mutating func check(_ record: RecordIndex, _ plan: NormalizationPlan) {
        guard let row = snapshot.rows.row(record) else {
            // A deleted record is known: it reads as null.
            if case .unknown = snapshot[record] { isMissing = true }
            return
        }
        if let invalidatedKey, let slot = row.slot(of: invalidatedKey), row.tag(slot) == .int {
            invalidatedAt = max(invalidatedAt ?? 0, row.int(slot))
        }
        let flat = plan.flat(of: row, in: snapshot)
        var hint = 0
        for field in flat.fields { check(field, of: row, record, &hint) }
        for field in flat.handleFields { check(field, of: row, record, &hint) }
    }

    private mutating func check(
        _ field: FlatSelection.Field, of row: Row, _ record: RecordIndex, _ hint: inout Int
    ) {
        guard let slot = row.presentSlot(of: field.key, hint: &hint) else {
            return handle(field, of: record)
        }
        guard let child = field.child else { return }
        switch row.tag(slot) {
        case .link: check(row.link(slot), child)
        case .links: row.links(slot).forEachRecord { if let record = $0 { check(record, child) } }
        default: break
        }
    }

    /// Asks the handlers for a missing link.
    private mutating func handle(_ field: FlatSelection.Field, of record: RecordIndex) {
        guard !handlers.isEmpty, field.kind == .linked, let child = field.child else {
            isMissing = true
            return
        }
        let symbols = snapshot.symbols
        let missing = MissingField(
            recordID: DataID(symbols.idString(record)), storageKey: symbols.nameString(field.key))
        let answer = handlers.lazy.compactMap { $0.record(missing) }
            .compactMap { [snapshot] in snapshot.existing($0.rawValue) }.first
        guard let answer else {
            isMissing = true
            return
        }
        found.append((record, field.key, answer))
        check(answer, child)
    }
}
