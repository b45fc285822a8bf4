/// Changes in the making: a mutation handler writes here and reads what it has written.
///
/// Every write is coded as the log will keep it and applied from those bytes, so ``writeSet`` leads any
/// replay to exactly ``snapshot``. Thrown away, it leaves nothing behind.
package struct Draft: Sendable {
    /// The state that the draft started from.
    package let base: Snapshot
    /// The state with all writes so far.
    package private(set) var snapshot: Snapshot
    /// What the writes so far really changed.
    package private(set) var changes = ChangeSet()
    private var writer = WriteSetWriter()

    package init(on snapshot: Snapshot) {
        base = snapshot
        self.snapshot = snapshot
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

    package mutating func delete(_ id: DataID) {
        var one = WriteSetWriter()
        one.delete(id)
        apply(one.writeSet)
    }

    private mutating func apply(_ writes: WriteSet) {
        snapshot.apply(writes, changes: &changes)
        writer.append(writes)
    }
}
