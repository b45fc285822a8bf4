import RelayNormalization
@_spi(Rooms) import RelayRecords

/// One garbage collection: marks what is reachable and drops the rest, a slice at a time.
///
/// The store stays in use between slices: ``touch(_:)`` reports what changed, ``keep(_:_:)`` which operations were
/// fetched or retained, ``keep(_:)`` what new readers have read. Marking works on the state in which the collection
/// began; anything that has changed since is kept, with everything it links to.
///
/// *Wide* records (``ShapeTable``), such as a root that was queried for one field with ever new arguments, lose those
/// fields with arguments that are not selected.
///
/// Invariants: 1. At the end of a slice, any record that an operation, a reader or an optimistic entry can reach is
/// marked or queued for marking. 2. Only records that existed at the beginning are dropped. 3. The same holds for
/// fields of records that were wide at the beginning: `fields` has those that operations select and those that changed.
struct GarbageCollection {
    private let base: Snapshot
    private var marks: [UInt64]
    /// Records whose links have all been followed: another selection may have followed only some.
    private var wholeMarks: [UInt64]
    /// Records to visit with an operation's selection.
    private var selected: ContiguousArray<(record: RecordIndex, plan: NormalizationPlan)> = []
    /// Records to keep with everything they link to.
    private var whole: ContiguousArray<RecordIndex> = []
    /// Changed fields whose new links are to be kept.
    private var changed: ContiguousArray<ChangeSet.Field> = []
    /// For each wide record that is kept: the fields to keep.
    private var fields: [RecordIndex: Set<NameIndex>] = [:]
    private let hasWideRows: Bool
    private var next = 0
    private var isPruned = false
    private let typeSchema: NameIndex?

    private static let costOfForgetting = 16

    init(_ base: Snapshot) {
        self.base = base
        marks = Array(repeating: 0, count: (base.recordLimit + 63) / 64)
        wholeMarks = marks
        typeSchema = base.symbols.findName("__TypeSchema")
        hasWideRows = base.symbols.shapes.hasWideRows
    }

    // MARK: What to keep

    mutating func keep(_ record: RecordIndex, _ plan: NormalizationPlan) {
        selected.append((record, plan))
    }

    /// Keeps a record that is being read.
    mutating func keep(_ record: RecordIndex) {
        let isNew = Self.mark(record, in: &marks)
        if hasWideRows, isNew, isWide(record) { fields[record] = fields[record] ?? [] }
    }

    private func isWide(_ record: RecordIndex) -> Bool {
        base.row(record).map { $0.slotCount > ShapeTable.wideLimit } ?? false
    }

    /// Keeps the records that a reader has read.
    mutating func keep(_ seen: ContiguousArray<SeenRecord>) {
        for record in seen { keep(record.record) }
    }

    /// Keeps changed records, and everything they now link to.
    mutating func touch(_ records: some Sequence<RecordIndex>) {
        whole.append(contentsOf: records)
    }

    /// Keeps what changed: records that came or went, and fields with everything they now link to.
    mutating func touch(_ changes: ChangeSet) {
        whole.append(contentsOf: changes.created)
        whole.append(contentsOf: changes.deleted)
        changed.append(contentsOf: changes.fields)
    }

    // MARK: Slices

    enum Progress {
        case marking
        /// Records to be dropped.
        case sweeping([RecordIndex])
        /// Wide records, each with the fields to keep: no other field with arguments is selected.
        case pruning([RecordIndex: Set<NameIndex>])
        case done
    }

    /// Does one slice of the work.
    /// - Parameter states: confirmed and visible records as they are now.
    /// - Parameter size: roughly how many records to visit.
    mutating func advance(
        _ states: (confirmed: Snapshot, head: Snapshot), size: Int
    ) -> Progress {
        var left = size
        while left > 0, let record = whole.popLast() {
            keepWhole(record, states)
            left -= 1
        }
        while left > 0, let field = changed.popLast() {
            keepChange(field, states)
            left -= 1
        }
        while left > 0, let (record, plan) = selected.popLast() {
            left -= visit(record, plan)
        }
        if !whole.isEmpty || !changed.isEmpty || !selected.isEmpty { return .marking }
        if next >= marks.count {
            if isPruned || fields.isEmpty { return .done }
            isPruned = true
            return .pruning(fields)
        }
        var garbage: [RecordIndex] = []
        while next < marks.count, left > 0 {
            let before = garbage.count
            collect(marks[next], from: next * 64, into: &garbage)
            next += 1
            // Dropping a record takes about as long as visiting this many.
            left -= 64 + (garbage.count - before) * Self.costOfForgetting
        }
        return .sweeping(garbage)
    }

    private func collect(_ marks: UInt64, from start: Int, into garbage: inout [RecordIndex]) {
        var unmarked = ~marks
        while unmarked != 0 {
            let record = RecordIndex(rawValue: UInt32(start + unmarked.trailingZeroBitCount))
            unmarked &= unmarked - 1
            switch base[record] {
            case .existent(let row): if row.type != typeSchema { garbage.append(record) }
            case .nonexistent: garbage.append(record)
            case .unknown: break
            }
        }
    }

    /// - Returns: whether the record was unmarked. A record younger than the collection is not visited.
    @inline(__always)
    private static func mark(_ record: RecordIndex, in marks: inout [UInt64]) -> Bool {
        let index = Int(record.rawValue)
        guard index >> 6 < marks.count else { return false }
        let bit = UInt64(1) << UInt64(index & 63)
        if marks[index >> 6] & bit != 0 { return false }
        marks[index >> 6] |= bit
        return true
    }

    /// Marks a record and queues its links; returns how many records that was.
    private mutating func visit(_ record: RecordIndex, _ plan: NormalizationPlan) -> Int {
        keep(record)
        guard let row = base.row(record) else { return 1 }
        let flat = plan.flat(of: row, in: base)
        if row.slotCount > ShapeTable.wideLimit { keepFields(of: record, flat) }
        if flat.links.isEmpty { return 1 }
        var hint = 0
        var count = 1
        for field in flat.links {
            guard let child = field.child, let slot = row.presentSlot(of: field.key, hint: &hint)
            else { continue }
            switch row.tag(slot) {
            case .link: follow(row.link(slot), child, &count)
            case .links:
                row.links(slot).forEachRecord {
                    if let record = $0 { follow(record, child, &count) }
                }
            default: break
            }
        }
        return count
    }

    private mutating func keepFields(of record: RecordIndex, _ flat: FlatSelection) {
        var kept = fields.removeValue(forKey: record) ?? []
        for field in flat.fields { kept.insert(field.key) }
        for key in flat.keysBeside { kept.insert(key) }
        fields[record] = kept
    }

    private mutating func follow(
        _ record: RecordIndex, _ plan: NormalizationPlan, _ count: inout Int
    ) {
        count += 1
        // The selected fields of a wide record must be known even where they lead nowhere.
        if plan.isLeaf, !(hasWideRows && isWide(record)) {
            keep(record)
        } else {
            selected.append((record, plan))
        }
    }

    private mutating func keepChange(
        _ field: ChangeSet.Field, _ states: (confirmed: Snapshot, head: Snapshot)
    ) {
        keep(field.record)
        if hasWideRows, isWide(field.record) {
            fields[field.record, default: []].insert(field.key)
        }
        forEachRow(of: field.record, states) { collection, row in
            if let slot = row.slot(of: field.key) { collection.followWhole(slot, of: row) }
        }
    }

    /// Calls the body with the confirmed row, and with the visible row if it differs.
    private mutating func forEachRow(
        of record: RecordIndex, _ states: (confirmed: Snapshot, head: Snapshot),
        _ body: (inout GarbageCollection, Row) -> Void
    ) {
        let (confirmed, shown) = (states.confirmed.row(record), states.head.row(record))
        if let confirmed { body(&self, confirmed) }
        if let shown, shown !== confirmed { body(&self, shown) }
    }

    private mutating func keepWhole(
        _ record: RecordIndex, _ states: (confirmed: Snapshot, head: Snapshot)
    ) {
        keep(record)
        forEachRow(of: record, states) { collection, row in
            for slot in 0..<row.slotCount { collection.followWhole(slot, of: row) }
        }
    }

    private mutating func followWhole(_ slot: Int, of row: Row) {
        switch row.tag(slot) {
        case .link: followWhole(row.link(slot))
        case .links: row.links(slot).forEachRecord { if let link = $0 { followWhole(link) } }
        default: break
        }
    }

    /// A record younger than the collection cannot be dropped, but what it links to can; the younger record was itself
    /// touched.
    private mutating func followWhole(_ record: RecordIndex) {
        if Self.mark(record, in: &wholeMarks) { whole.append(record) }
    }
}
