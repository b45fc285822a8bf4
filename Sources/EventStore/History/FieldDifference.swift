import EventLog
@_spi(Rooms) package import RelayRecords

/// A field that has different values in two states.
package struct FieldDifference: Sendable, Hashable {
    package let record: String
    /// The storage key, or `__typename`: a record that was added or removed differs in its type too.
    package let field: String
    package let change: FieldChange
}

/// Two states, and the records that may be different in them.
struct StateDifference {
    private let before: Snapshot
    private let after: Snapshot
    /// First those that are gone, then the others, both in creation order.
    let records: [String]

    /// Records that two states of one ``Replay`` share are skipped.
    init(from before: Snapshot, to after: Snapshot) {
        self.before = before
        self.after = after
        let gone = before.recordsInCreationOrder().map(before.symbols.idString)
            .filter { after.existing($0) == nil }
        let theirs = after.recordsInCreationOrder()
        let changed =
            before.symbols === after.symbols
            ? theirs.filter { before.row($0) !== after.row($0) } : theirs
        records = gone + changed.map(after.symbols.idString)
    }

    /// What is different in one of them: fields by the bytes of their keys.
    func differences(of record: String) -> [FieldDifference] {
        before.differences(of: record, to: after)
    }
}

extension Snapshot {
    /// The differences to another state, from this or any other log: first the records that are gone, then
    /// the others, both in creation order; fields by the bytes of their keys.
    /// - Parameter record: limits the comparison to this one.
    package func differences(to other: Snapshot, record: String? = nil) -> [FieldDifference] {
        if let record { return differences(of: record, to: other) }
        let difference = StateDifference(from: self, to: other)
        return difference.records.flatMap(difference.differences)
    }

    /// The differences to the state after an event, by the ids of the records that it changed.
    package func differences(to other: Snapshot, of changes: ChangeSet) -> [FieldDifference] {
        changes.touchedRecords.map(other.symbols.idString).sorted()
            .flatMap { differences(of: $0, to: other) }
    }

    fileprivate func differences(of id: String, to other: Snapshot) -> [FieldDifference] {
        let before = existing(id)
        let after = other.existing(id)
        let fields = Set(before.map(keys) ?? []).union(after.map(other.keys) ?? []).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        return (["__typename"] + fields).compactMap { field in
            let change = change(of: field, of: id, to: other)
            return change.isEmpty
                ? nil : FieldDifference(record: id, field: field, change: change)
        }
    }

    /// The record's type as the value of its `__typename`.
    func typeValue(_ record: RecordIndex) -> FieldValue? {
        type(of: record).map { .string(symbols.nameString($0)) }
    }

    private func keys(_ record: RecordIndex) -> [String] {
        row(record)?.shape.keys.map(symbols.nameString) ?? []
    }
}

extension History {
    /// The differences between the states after two events.
    /// - Parameters:
    ///   - before: may be the later one.
    ///   - record: limits the comparison to this one.
    package func differences(
        from before: UInt64, to after: UInt64, record: String? = nil
    ) throws(EventStoreError) -> [FieldDifference] {
        let (first, second) = (min(before, after), max(before, after))
        let (earlier, later) =
            if let record { try states(first, second, of: record) } else {
                try states(first, second)
            }
        return before <= after
            ? earlier.differences(to: later, record: record)
            : later.differences(to: earlier, record: record)
    }

    private func states(
        _ first: UInt64, _ second: UInt64
    ) throws(EventStoreError) -> (Snapshot, Snapshot) {
        let replay = try replay(at: first)
        let earlier = replay.snapshot
        guard second <= lastReadable else { throw .outOfRange(second, readable) }
        return (earlier, try snapshot(at: second, goingOnWith: replay))
    }

    /// The same between whole states, to be looked at record by record.
    func difference(
        from before: UInt64, to after: UInt64
    ) throws(EventStoreError) -> StateDifference {
        let (earlier, later) = try states(min(before, after), max(before, after))
        return before <= after
            ? StateDifference(from: earlier, to: later) : StateDifference(from: later, to: earlier)
    }

    /// States in which one record is correct: the others are not folded.
    private func states(
        _ first: UInt64, _ second: UInt64, of record: String
    ) throws(EventStoreError) -> (Snapshot, Snapshot) {
        let earlier = try snapshot(at: first, of: [record])
        guard second <= lastReadable else { throw .outOfRange(second, readable) }
        do throws(EventStoreError) {
            return (earlier, try snapshot(at: second, of: [record], from: earlier))
        } catch  where error.code == .log(.damaged) {
            return (earlier, try snapshot(at: second, of: [record]))
        }
    }

    /// The state after a later event than a replay's. If there is damage in between, a checkpoint after it
    /// may lead there.
    private func snapshot(
        at sequence: UInt64, goingOnWith replay: Replay
    ) throws(EventStoreError) -> Snapshot {
        do throws(EventStoreError) {
            try replay.advance(to: sequence)
            return replay.snapshot
        } catch  where error.code == .log(.damaged) {
            return try snapshot(at: sequence)
        }
    }
}
