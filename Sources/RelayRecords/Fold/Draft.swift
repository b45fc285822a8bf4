/// Work in progress: a mutation handler or an updater writes here and reads what it has written.
///
/// Every write is encoded in the form the log will keep, and applied from those bytes, so that any
/// replay of ``writeSet`` leads to exactly ``snapshot``. A discarded draft leaves nothing behind.
package struct Draft: Sendable {
    /// The state that the draft started from.
    package let base: Snapshot
    /// The state with all writes so far.
    package var snapshot: Snapshot
    /// What the writes so far actually changed.
    package var changes = ChangeSet()
    /// The records that were read, whether they exist or not, if that is tracked: what was written depends on
    /// nothing else.
    package var looked: TouchedRecords?
    /// Partial reads of further records; tracked if `looked` is.
    package var noticed = Noticed()
    /// Fields with arguments that an updater created.
    package var ownFields: [ChangeSet.Field] = []
    /// Whether normalized payloads become part of ``writeSet`` too: only a log needs that.
    package let keepsPayloads: Bool
    private var writer = WriteSetWriter()

    package init(on snapshot: Snapshot, keepsPayloads: Bool = true) {
        base = snapshot
        self.snapshot = snapshot
        self.keepsPayloads = keepsPayloads
    }

    /// Everything written, as data.
    package var writeSet: WriteSet { writer.writeSet }

    /// Writes fields of a record, which is created if it does not exist.
    package mutating func write(
        _ id: DataID, type: String, fields: some Sequence<(key: String, value: FieldValue)>
    ) {
        var one = WriteSetWriter()
        one.write(id, type: type, fields: fields)
        apply(one.writeSet)
    }

    /// Writes a field of an existing record without depending on its previous value: only the record's existence
    /// and type count as read.
    mutating func extend(
        _ record: RecordIndex, _ id: DataID, type: String, _ field: (key: String, value: FieldValue)
    ) {
        var one = WriteSetWriter()
        one.write(id, type: type, fields: [field])
        snapshot.apply(one.writeSet, changes: &changes)
        writer.append(one.writeSet)
        notice(record)
    }

    package mutating func delete(_ id: DataID) {
        var one = WriteSetWriter()
        one.delete(id)
        apply(one.writeSet)
    }

    /// Makes everything fetched so far with this record in it stale. No effect on a record that does
    /// not exist.
    package mutating func invalidate(_ id: DataID) {
        guard let record = snapshot.existing(id.rawValue), let type = snapshot.type(of: record)
        else { return }
        let sequence = FieldValue.int(Int64(clamping: snapshot.sequence + 1))
        write(
            id, type: snapshot.symbols.nameString(type),
            fields: [(key: Snapshot.invalidatedKey, value: sequence)])
    }

    /// Makes a record unknown, as if it had never been mentioned: garbage collection.
    package mutating func forget(_ id: DataID) {
        var one = WriteSetWriter()
        one.forget(id)
        apply(one.writeSet)
    }

    /// Notes those fields that have arguments and had no value before.
    mutating func noteOwn(
        _ fields: [(key: String, value: FieldValue)], of id: DataID, before: Row
    ) {
        for field in fields where field.key.utf8.contains(UInt8(ascii: "(")) {
            guard let record = snapshot.symbols.findRecord(id.rawValue),
                let key = snapshot.symbols.findName(field.key), before.slot(of: key) == nil
            else { continue }
            ownFields.append(.init(record: record, key: key))
        }
    }

    /// Notes that a record was read.
    package mutating func look(at record: RecordIndex) { looked?.insert(record) }

    /// Notes that an existing record was checked for existence and type.
    package mutating func notice(_ record: RecordIndex) {
        if looked != nil { noticed.existing.insert(record) }
    }

    /// Notes that a node was searched for in a connection and not found.
    package mutating func notice(_ absent: AbsentNode) {
        if looked != nil, noticed.absent.last != absent { noticed.absent.append(absent) }
    }

    package mutating func apply(_ writes: WriteSet) {
        snapshot.apply(writes, changes: &changes, looked: &looked)
        writer.append(writes)
    }

    /// Moves out everything written, so that the receiver continues without a copy. It must be put back.
    package mutating func give() -> Draft {
        var given = Draft(on: base, keepsPayloads: keepsPayloads)
        swap(&given, &self)
        return given
    }

    // MARK: Rolling back

    /// A position in a draft: rolling back to it costs as much as what was written since.
    package struct Mark {
        fileprivate let snapshot: Snapshot
        fileprivate let changes: ChangeSet.Counts
        fileprivate let ownFieldCount: Int
        fileprivate let writer: WriteSetWriter.Mark
    }

    package var mark: Mark {
        Mark(
            snapshot: snapshot, changes: changes.counts, ownFieldCount: ownFields.count,
            writer: writer.mark)
    }

    /// Rolls back what was written since the mark. What was read still counts as read.
    package mutating func takeBack(to mark: Mark) {
        snapshot = mark.snapshot
        changes.removeAll(behind: mark.changes)
        ownFields.removeLast(ownFields.count - mark.ownFieldCount)
        writer.removeAll(behind: mark.writer)
    }

    /// Adopts what was written to ``snapshot`` directly, not through bytes: the normalizer's rows.
    /// - Parameter before: the state that they were written on.
    package mutating func keepWrites(of written: ChangeSet, since before: Snapshot) {
        changes.formUnion(written)
        if keepsPayloads { writer.append(snapshot.writeSet(of: written, since: before)) }
    }
}
