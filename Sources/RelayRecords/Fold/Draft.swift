/// Changes in the making: a mutation handler or an updater writes here and reads what it has written.
///
/// Every write is coded as the log will keep it and applied from those bytes, so ``writeSet`` leads any
/// replay to exactly ``snapshot``. Thrown away, it leaves nothing behind.
package struct Draft: Sendable {
    /// The state that the draft started from.
    package let base: Snapshot
    /// The state with all writes so far.
    package var snapshot: Snapshot
    /// What the writes so far really changed.
    package var changes = ChangeSet()
    /// The records that were looked at, whether they exist or not, where that is asked for: what was written follows
    /// from nothing else.
    package var looked: TouchedRecords?
    /// What was looked at of records besides, and not the whole of them; kept where `looked` is.
    package var noticed = Noticed()
    /// Fields with arguments that an updater made.
    package var ownFields: [ChangeSet.Field] = []
    /// Whether a normalized payload becomes part of ``writeSet`` too: only a log asks for it.
    package let keepsPayloads: Bool
    private var writer = WriteSetWriter()

    package init(on snapshot: Snapshot, keepsPayloads: Bool = true) {
        base = snapshot
        self.snapshot = snapshot
        self.keepsPayloads = keepsPayloads
    }

    /// Everything written, as data.
    package var writeSet: WriteSet { writer.writeSet }

    /// Writes fields of a record, which comes to be if it did not exist.
    package mutating func write(
        _ id: DataID, type: String, fields: some Sequence<(key: String, value: FieldValue)>
    ) {
        var one = WriteSetWriter()
        one.write(id, type: type, fields: fields)
        apply(one.writeSet)
    }

    /// Writes a field of a record that exists, so that what is written does not depend on the value before: nothing
    /// but that the record exists, with its type, is noted as looked at.
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

    /// Makes whatever was fetched with this record in it, up to now, stale. Without effect on a record
    /// that does not exist.
    package mutating func invalidate(_ id: DataID) {
        guard let record = snapshot.existing(id.rawValue), let type = snapshot.type(of: record)
        else { return }
        let sequence = FieldValue.int(Int64(clamping: snapshot.sequence + 1))
        write(
            id, type: snapshot.symbols.nameString(type),
            fields: [(key: Snapshot.invalidatedKey, value: sequence)])
    }

    /// Makes a record unknown, as if it had never been spoken of: garbage collection.
    package mutating func forget(_ id: DataID) {
        var one = WriteSetWriter()
        one.forget(id)
        apply(one.writeSet)
    }

    /// Notes those of the fields that have arguments and had no value before.
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

    /// Notes a look at a record.
    package mutating func look(at record: RecordIndex) { looked?.insert(record) }

    /// Notes the question whether a record exists that does, and of which type it is.
    package mutating func notice(_ record: RecordIndex) {
        if looked != nil { noticed.existing.insert(record) }
    }

    /// Notes that a node was looked for in a connection, and was not there.
    package mutating func notice(_ absent: AbsentNode) {
        if looked != nil, noticed.absent.last != absent { noticed.absent.append(absent) }
    }

    package mutating func apply(_ writes: WriteSet) {
        snapshot.apply(writes, changes: &changes, looked: &looked)
        writer.append(writes)
    }

    /// Gives away everything written, so that its taker goes on without a copy. It is to be put back.
    package mutating func give() -> Draft {
        var given = Draft(on: base, keepsPayloads: keepsPayloads)
        swap(&given, &self)
        return given
    }

    // MARK: Taking back

    /// How far a draft has come: to go back there costs as much as what was written since.
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

    /// Takes back what was written since the mark. What was looked at stays so.
    package mutating func takeBack(to mark: Mark) {
        snapshot = mark.snapshot
        changes.removeAll(behind: mark.changes)
        ownFields.removeLast(ownFields.count - mark.ownFieldCount)
        writer.removeAll(behind: mark.writer)
    }

    /// Takes in what was written to ``snapshot`` without passing through bytes: the normalizer's rows.
    /// - Parameter before: the state that they were written on.
    package mutating func keepWrites(of written: ChangeSet, since before: Snapshot) {
        changes.formUnion(written)
        if keepsPayloads { writer.append(snapshot.writeSet(of: written, since: before)) }
    }
}
