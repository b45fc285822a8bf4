import GraphQLExecution
public import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayRecords

/// All records at one point of the history, for a handler to read. Immutable: nothing that happens later is
/// visible.
///
/// What a computed field reads is recorded: a live query sends it again when one of these fields changes.
public struct SnapshotReader: Sendable {
    let snapshot: Snapshot
    var reads: ReadLog?

    package init(snapshot: Snapshot) { self.snapshot = snapshot }

    init(snapshot: Snapshot, reads: ReadLog?) {
        self.snapshot = snapshot
        self.reads = reads
    }

    /// The record with this id, if it exists.
    public subscript(_ id: DataID) -> SnapshotRecord? {
        guard let record = snapshot.symbols.findRecord(id.rawValue) else {
            reads?.note(missing: id.rawValue)
            return nil
        }
        return existing(record)
    }

    /// The record of a type whose `@unique` field has this value.
    public func record(of type: String, where field: String, is value: String) -> SnapshotRecord? {
        let symbols = snapshot.symbols
        guard let type = symbols.findName(type), let key = symbols.findName(field) else {
            return nil
        }
        reads?.note(type: type, key: key)
        return snapshot.indexes.record(of: type, where: key, is: value).flatMap(existing)
    }

    /// Every record of a type that is listed by a field with `@list`, in creation order; nil for other types.
    public func records(of type: String) -> [SnapshotRecord]? {
        guard let type = snapshot.symbols.findName(type),
            let list = snapshot.indexes.records(of: type)
        else { return nil }
        reads?.note(type: type)
        return list.records.compactMap { $0.flatMap(existing) }
    }

    func existing(_ record: RecordIndex) -> SnapshotRecord? {
        reads?.note(record, [])
        return snapshot.row(record).map { _ in SnapshotRecord(record: record, reader: self) }
    }
}

/// One record, for a handler to read.
public struct SnapshotRecord: Sendable, Identifiable {
    let record: RecordIndex
    let reader: SnapshotReader

    /// The record's id.
    public var id: DataID { reader.snapshot.dataID(record) }

    /// The name of the record's type.
    public var typeName: String {
        guard let type = reader.snapshot.type(of: record) else { return "" }
        return reader.snapshot.symbols.nameString(type)
    }

    /// The stored value of a field: a scalar, an enum value as text, or a list of these. Null for a field
    /// that has no value or that holds links.
    public subscript(_ field: String) -> VariableValue {
        guard let (row, slot) = slot(field) else { return .null }
        return VariableValue(row.leaf(slot) ?? .null)
    }

    /// The record that a field links to, if it exists.
    public func linked(_ field: String) -> SnapshotRecord? {
        guard let (row, slot) = slot(field), row.tag(slot) == .link else { return nil }
        return reader.existing(row.link(slot))
    }

    /// The existing records in a list or connection, in order.
    public func links(_ field: String) -> [SnapshotRecord] {
        guard let (row, slot) = slot(field), row.tag(slot) == .links else { return [] }
        return row.links(slot).records.compactMap { $0.flatMap(reader.existing) }
    }

    private func slot(_ field: String) -> (Row, Int)? {
        guard let key = reader.snapshot.symbols.findName(field) else { return nil }
        reader.reads?.note(record, CollectionOfOne(key))
        guard let row = reader.snapshot.row(record), let slot = row.slot(of: key) else {
            return nil
        }
        return (row, slot)
    }
}

extension SnapshotRecord: VariableValueConvertible {
    /// A record is represented by its id.
    public var variableValue: VariableValue { .string(id.rawValue) }
}
