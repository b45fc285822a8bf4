/// Records, each once, in the order in which they came. Most commits touch one or two.
package struct TouchedRecords: Sequence, Sendable {
    private var records: ContiguousArray<RecordIndex> = []
    /// The same, where a scan would take longer.
    private var set: Set<RecordIndex> = []

    private static let scanLimit = 12

    init() {}

    init(_ changes: ChangeSet) { insert(changes) }

    var isEmpty: Bool { records.isEmpty }

    package func makeIterator() -> ContiguousArray<RecordIndex>.Iterator { records.makeIterator() }

    mutating func insert(_ changes: ChangeSet) {
        // A record's fields stand together, more often than not.
        var last: RecordIndex?
        for field in changes.fields where field.record != last {
            insert(field.record)
            last = field.record
        }
        for record in changes.created { insert(record) }
        for record in changes.deleted { insert(record) }
    }

    func contains(_ record: RecordIndex) -> Bool {
        set.isEmpty ? records.contains(record) : set.contains(record)
    }

    /// Whether a record is in both.
    func meets(_ other: TouchedRecords) -> Bool {
        records.count < other.records.count
            ? records.contains(where: other.contains) : other.records.contains(where: contains)
    }

    mutating func insert(_ others: TouchedRecords) {
        for record in others.records { insert(record) }
    }

    mutating func insert(_ record: RecordIndex) {
        if records.count <= Self.scanLimit {
            if records.contains(record) { return }
        } else {
            if set.isEmpty { set = Set(records) }
            if !set.insert(record).inserted { return }
        }
        records.append(record)
    }
}

extension TouchedRecords: Equatable {
    package static func == (one: TouchedRecords, other: TouchedRecords) -> Bool {
        one.records == other.records
    }
}
