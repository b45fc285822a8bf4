/// What one or more writes really changed: fields whose value is another now, records that came or went.
///
/// A write of the value that was there is no change and wakes nobody.
package struct ChangeSet: Sendable {
    package struct Field: Hashable, Sendable {
        package let record: RecordIndex
        package let key: NameIndex
    }

    /// Changed fields, in the order of the writes; a field written twice may stand here twice.
    package private(set) var fields: [Field] = []
    /// Records that came to be.
    package private(set) var created: [RecordIndex] = []
    package private(set) var deleted: [RecordIndex] = []
    /// Values that follow from records and changed with them, under names of their own: counts of links.
    package private(set) var derived: [Field] = []

    package init() {}

    package var isEmpty: Bool { fields.isEmpty && created.isEmpty && deleted.isEmpty }

    mutating func change(_ key: NameIndex, of record: RecordIndex) {
        fields.append(Field(record: record, key: key))
    }

    mutating func create(_ record: RecordIndex) { created.append(record) }

    mutating func delete(_ record: RecordIndex) { deleted.append(record) }

    mutating func derive(_ name: NameIndex, of record: RecordIndex) {
        derived.append(Field(record: record, key: name))
    }

    package mutating func formUnion(_ other: ChangeSet) {
        fields += other.fields
        created += other.created
        deleted += other.deleted
        derived += other.derived
    }

    /// How much of each kind there is.
    struct Counts {
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

    /// Takes out what was added since there was so much.
    mutating func removeAll(behind counts: Counts) {
        fields.removeLast(fields.count - counts.fields)
        created.removeLast(created.count - counts.created)
        deleted.removeLast(deleted.count - counts.deleted)
        derived.removeLast(derived.count - counts.derived)
    }
}

extension ChangeSet {
    /// Every record that came, went or changed, each once.
    package var touchedRecords: Set<RecordIndex> {
        Set(fields.map(\.record)).union(created).union(deleted)
    }

    /// Those, and the records of which something changed that follows from others.
    package var concernedRecords: Set<RecordIndex> {
        touchedRecords.union(derived.map(\.record))
    }
}
