/// What one or more writes actually changed: fields with a new value, records that were created or deleted.
///
/// Writing an equal value is no change and wakes no subscriber.
@_spi(Rooms) public struct ChangeSet: Sendable {
    @_spi(Rooms) public struct Field: Hashable, Sendable {
        @_spi(Rooms) public let record: RecordIndex
        @_spi(Rooms) public let key: NameIndex

        @_spi(Rooms) public init(record: RecordIndex, key: NameIndex) {
            self.record = record
            self.key = key
        }
    }

    /// Changed fields, in the order of the writes; a field written twice may be listed twice.
    @_spi(Rooms) public private(set) var fields: [Field] = []
    /// Records that were created.
    @_spi(Rooms) public private(set) var created: [RecordIndex] = []
    @_spi(Rooms) public private(set) var deleted: [RecordIndex] = []
    /// Values derived from records that changed with them, under names of their own: counts of links.
    @_spi(Rooms) public private(set) var derived: [Field] = []

    @_spi(Rooms) public init() {}

    @_spi(Rooms) public var isEmpty: Bool { fields.isEmpty && created.isEmpty && deleted.isEmpty }

    @_spi(Rooms) public mutating func change(_ key: NameIndex, of record: RecordIndex) {
        fields.append(Field(record: record, key: key))
    }

    @_spi(Rooms) public mutating func create(_ record: RecordIndex) { created.append(record) }

    mutating func delete(_ record: RecordIndex) { deleted.append(record) }

    mutating func derive(_ name: NameIndex, of record: RecordIndex) {
        derived.append(Field(record: record, key: name))
    }

    @_spi(Rooms) public mutating func formUnion(_ other: ChangeSet) {
        fields += other.fields
        created += other.created
        deleted += other.deleted
        derived += other.derived
    }

    /// How much of each kind there is.
    @_spi(Rooms) public struct Counts {
        fileprivate let fields: Int
        fileprivate let created: Int
        fileprivate let deleted: Int
        fileprivate let derived: Int
    }

    var counts: Counts {
        Counts(
            fields: fields.count, created: created.count, deleted: deleted.count,
            derived: derived.count)
    }

    /// Removes what was added after these counts.
    mutating func removeAll(behind counts: Counts) {
        fields.removeLast(fields.count - counts.fields)
        created.removeLast(created.count - counts.created)
        deleted.removeLast(deleted.count - counts.deleted)
        derived.removeLast(derived.count - counts.derived)
    }
}

extension ChangeSet {
    /// Every record that was created, deleted or changed, each once.
    @_spi(Rooms) public var touchedRecords: Set<RecordIndex> {
        Set(fields.map(\.record)).union(created).union(deleted)
    }

    /// Those, and the records with changed derived values.
    @_spi(Rooms) public var concernedRecords: Set<RecordIndex> {
        touchedRecords.union(derived.map(\.record))
    }
}
