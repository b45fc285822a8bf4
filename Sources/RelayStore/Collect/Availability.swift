import RelayArtifacts
@_spi(Rooms) import RelayRecords

/// Whether an operation can be answered from the store.
package enum Availability: Hashable, Sendable {
    /// Everything is there.
    /// - Parameter fetchedMicroseconds: when it was fetched, in microseconds since 1970; nil when it was
    ///   not fetched by itself.
    case available(fetchedMicroseconds: Int64?)
    /// Everything may be there, but it was invalidated or is too old. Stale wins over missing.
    case stale
    case missing
}

/// Looks through the records of an operation for what is missing.
struct AvailabilityCheck {
    private let snapshot: Snapshot
    private let handlers: [MissingFieldHandler]
    private let invalidatedKey: NameIndex?
    /// What missing-field handlers found, to be written.
    private(set) var found: [(record: RecordIndex, key: NameIndex, value: FieldValue)] = []
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
            // What was deleted is known: it reads as null.
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

    /// Asks the handlers for a field that is missing.
    private mutating func handle(_ field: FlatSelection.Field, of record: RecordIndex) {
        guard !handlers.isEmpty else {
            isMissing = true
            return
        }
        let symbols = snapshot.symbols
        let missing = MissingField(
            storageKey: symbols.nameString(field.key), recordID: DataID(symbols.idString(record)),
            kind: field.kind == .scalar ? .scalar : field.kind == .linked ? .linked : .plural)
        for handler in handlers {
            guard let value = handler.value(missing, snapshot) else { continue }
            found.append((record, field.key, value))
            if let child = field.child { check(value, child) }
            return
        }
        isMissing = true
    }

    private mutating func check(_ value: FieldValue, _ plan: NormalizationPlan) {
        switch value {
        case .link(let id): check(id, plan)
        case .links(let ids): for case let id? in ids { check(id, plan) }
        default: break
        }
    }

    private mutating func check(_ id: DataID, _ plan: NormalizationPlan) {
        if let record = snapshot.symbols.findRecord(id.rawValue) {
            check(record, plan)
        } else {
            isMissing = true
        }
    }
}

/// A field that is selected and not in the store.
package struct MissingField: Sendable {
    package enum Kind: Sendable { case scalar, linked, plural }

    /// The field with its arguments: `node(id:"4")`.
    package var storageKey: String
    package var recordID: DataID
    package var kind: Kind
}

/// Answers a field from what the store has under another name, for example `node(id:)`.
package struct MissingFieldHandler: Sendable {
    /// nil: this handler does not know either.
    let value: @Sendable (MissingField, Snapshot) -> FieldValue?

    package init(_ value: @escaping @Sendable (MissingField, Snapshot) -> FieldValue?) {
        self.value = value
    }

    /// `node(id: X)` of the query type is the record X, if the store has it.
    package static let node = MissingFieldHandler { field, snapshot in
        guard field.recordID == .rootID, field.kind == .linked,
            field.storageKey.hasPrefix("node(id:\""), field.storageKey.hasSuffix("\")")
        else { return nil }
        let id = String(field.storageKey.dropFirst(9).dropLast(2))
        return snapshot.existing(id) == nil ? nil : .link(DataID(id))
    }
}
