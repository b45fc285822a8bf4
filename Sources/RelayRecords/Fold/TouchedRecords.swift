/// Records, each once, in order of insertion. Most commits touch one or two.
@_spi(Rooms) public struct TouchedRecords: Sequence, Sendable {
    private var records: ContiguousArray<RecordIndex> = []
    /// The same, once a scan would take longer.
    private var set: Set<RecordIndex> = []

    private static let scanLimit = 12

    @_spi(Rooms) public init() {}

    @_spi(Rooms) public init(_ changes: ChangeSet) { insert(changes) }

    @_spi(Rooms) public var isEmpty: Bool { records.isEmpty }

    @_spi(Rooms) public func makeIterator() -> ContiguousArray<RecordIndex>.Iterator {
        records.makeIterator()
    }

    @_spi(Rooms) public mutating func insert(_ changes: ChangeSet) {
        // A record's fields usually come together.
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

    /// Whether the two have a record in common.
    @_spi(Rooms) public func meets(_ other: TouchedRecords) -> Bool {
        records.count < other.records.count
            ? records.contains(where: other.contains) : other.records.contains(where: contains)
    }

    @_spi(Rooms) public mutating func insert(_ others: TouchedRecords) {
        for record in others.records { insert(record) }
    }

    @_spi(Rooms) public mutating func insert(_ record: RecordIndex) {
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
    @_spi(Rooms) public static func == (one: TouchedRecords, other: TouchedRecords) -> Bool {
        one.records == other.records
    }
}
