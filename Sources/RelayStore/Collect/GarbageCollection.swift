/// One garbage collection: marks what is reachable, forgets the rest, a slice at a time.
///
/// Between two slices the store goes on: ``touch(_:)`` tells what changed, ``keep(_:_:)`` which operations were
/// fetched or retained, ``keep(_:)`` what new readers have read. Marking looks at the state that the collection
/// began with; whatever changed since then is kept, with everything that it links to.
///
/// Invariants: 1. A record that an operation, a reader or an optimistic entry can reach when a slice ends
/// is marked, or waits to be. 2. Only records that existed at the beginning are forgotten.
struct GarbageCollection {
    private let base: Snapshot
    private var marks: [UInt64]
    /// Records all of whose links are followed: another selection may have followed only some.
    private var wholeMarks: [UInt64]
    /// Records to look at as an operation selects them.
    private var selected: ContiguousArray<(record: RecordIndex, plan: NormalizationPlan)> = []
    /// Records to keep with everything that they link to.
    private var whole: ContiguousArray<RecordIndex> = []
    private var next = 0
    private let typeSchema: NameIndex?

    private static let costOfForgetting = 16

    init(_ base: Snapshot) {
        self.base = base
        marks = Array(repeating: 0, count: (base.recordLimit + 63) / 64)
        wholeMarks = marks
        typeSchema = base.symbols.findName("__TypeSchema")
    }

    // MARK: What to keep

    mutating func keep(_ record: RecordIndex, _ plan: NormalizationPlan) {
        selected.append((record, plan))
    }

    /// Keeps a record that somebody reads.
    mutating func keep(_ record: RecordIndex) { _ = Self.mark(record, in: &marks) }

    /// Keeps the records that a reader has read.
    mutating func keep(_ seen: ContiguousArray<SeenRecord>) {
        for record in seen { keep(record.record) }
    }

    /// Keeps records that changed, and all that they link to now.
    mutating func touch(_ records: some Sequence<RecordIndex>) {
        whole.append(contentsOf: records)
    }

    // MARK: Slices

    enum Progress {
        case marking
        /// To be forgotten.
        case sweeping([RecordIndex])
        case done
    }

    /// Does a part of the work.
    /// - Parameter head: the state as it is now.
    /// - Parameter size: records to look at, about.
    mutating func advance(_ head: Snapshot, size: Int) -> Progress {
        var left = size
        while left > 0, let record = whole.popLast() {
            keepWhole(record, head)
            left -= 1
        }
        while left > 0, let (record, plan) = selected.popLast() {
            left -= visit(record, plan)
        }
        if !whole.isEmpty || !selected.isEmpty { return .marking }
        if next >= marks.count { return .done }
        var garbage: [RecordIndex] = []
        while next < marks.count, left > 0 {
            let before = garbage.count
            collect(marks[next], from: next * 64, into: &garbage)
            next += 1
            // To forget a record takes about as long as to look at so many.
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

    /// - Returns: whether the record was not marked before. One that is younger than the collection is
    ///   not looked at.
    @inline(__always)
    private static func mark(_ record: RecordIndex, in marks: inout [UInt64]) -> Bool {
        let index = Int(record.rawValue)
        guard index >> 6 < marks.count else { return false }
        let bit = UInt64(1) << UInt64(index & 63)
        if marks[index >> 6] & bit != 0 { return false }
        marks[index >> 6] |= bit
        return true
    }

    /// Marks a record and puts its links on the list; gives how many records that was.
    private mutating func visit(_ record: RecordIndex, _ plan: NormalizationPlan) -> Int {
        keep(record)
        guard let row = base.row(record) else { return 1 }
        let flat = plan.flat(of: row, in: base)
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

    private mutating func follow(
        _ record: RecordIndex, _ plan: NormalizationPlan, _ count: inout Int
    ) {
        count += 1
        if plan.isLeaf { keep(record) } else { selected.append((record, plan)) }
    }

    private mutating func keepWhole(_ record: RecordIndex, _ head: Snapshot) {
        keep(record)
        guard let row = head.row(record) else { return }
        for slot in 0..<row.slotCount {
            switch row.tag(slot) {
            case .link: followWhole(row.link(slot))
            case .links: row.links(slot).forEachRecord { if let link = $0 { followWhole(link) } }
            default: break
            }
        }
    }

    /// A record that is younger than the collection cannot be forgotten, but what it links to can: such
    /// a record was touched itself.
    private mutating func followWhole(_ record: RecordIndex) {
        if Self.mark(record, in: &wholeMarks) { whole.append(record) }
    }
}
