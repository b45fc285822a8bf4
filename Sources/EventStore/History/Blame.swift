import EventLog
package import RelayStore

/// One write of one field of a record.
package struct BlameEntry: Sendable, Hashable {
    package let sequence: UInt64
    package let timeMicroseconds: Int64
    /// Nil for the genesis.
    package let operation: String?
    package let mutationID: MutationID?
    package let viewer: String?
    /// The storage key, or `__typename` where the record came, went or became of another type.
    package let field: String
    /// Nil when the record or its field was not there.
    package let before: FieldValue?
    package let after: FieldValue?
    /// Shown until the mutation ended, but never confirmed by this event.
    package let isOptimistic: Bool
}

extension History {
    /// Every write of a record or of one of its fields, newest first, writes of an equal value
    /// included.
    ///
    /// Reads the log once. What a record becomes depends on nothing but the writes of that record,
    /// so only the events that touch it are folded.
    /// - Parameter field: nil for all of them.
    package func blame(
        _ record: String, field: String? = nil
    ) throws(EventStoreError) -> [BlameEntry] {
        guard let extent else { return [] }
        // Of what a compacted log no longer has, only a checkpoint right before it can tell.
        let beginning = try reader.checkpoints.restore(
            through: extent.lowerBound - 1, indexes: [])
        var blame = Blame(record: record, field: field, on: beginning.snapshot ?? Snapshot())
        let events = try events(in: extent)
        while let event = try events.next() { blame.read(event) }
        return blame.entries.reversed()
    }
}

/// The fold of one record, and who wrote it.
private struct Blame {
    let record: String
    let field: String?
    private(set) var entries: [BlameEntry] = []
    /// Holds the record as it is, and pieces of others that are written together with it.
    private var snapshot: Snapshot
    private var open: [UInt64: MutationIntent] = [:]

    init(record: String, field: String?, on snapshot: Snapshot) {
        self.record = record
        self.field = field
        self.snapshot = snapshot
    }

    mutating func read(_ event: Event) {
        switch event.body {
        case .genesis(_, let seed):
            snapshot = note(seed, by: event, operation: nil)
        case .update(let update):
            snapshot = note(update.writes, by: event, operation: update.name)
        case .mutation(let intent):
            open[event.sequence] = intent
            guard let writes = intent.optimistic else { return }
            // Shown on top of what is confirmed, which it does not change.
            _ = note(writes, by: event, of: intent, operation: intent.operation, optimistic: true)
        case .response(let response):
            let intent = open.removeValue(forKey: response.mutation)
            snapshot = note(response.writes, by: event, of: intent, operation: intent?.operation)
        case .revocation(let revocation):
            open[revocation.mutation] = nil
        case .schema, .unknown:
            break
        }
    }

    /// - Returns: the state with the writes.
    private mutating func note(
        _ writes: WriteSet, by event: Event, of intent: MutationIntent? = nil,
        operation: String?, optimistic: Bool = false
    ) -> Snapshot {
        guard let keys = writes.keys(of: record) else { return snapshot }
        var changes = ChangeSet()
        var after = snapshot
        after.apply(writes, changes: &changes)
        func add(_ field: String, _ before: FieldValue?, _ after: FieldValue?) {
            entries.append(
                BlameEntry(
                    sequence: event.sequence, timeMicroseconds: event.timeMicroseconds,
                    operation: operation, mutationID: intent?.mutationID, viewer: intent?.viewer,
                    field: field, before: before, after: after, isOptimistic: optimistic))
        }
        let type = snapshot.existing(record).flatMap(snapshot.typeValue)
        let newType = after.existing(record).flatMap(after.typeValue)
        if field == nil || field == "__typename", type != newType {
            add("__typename", type, newType)
        }
        for key in fields(among: keys, isDeleted: newType == nil) {
            let before = snapshot.existing(record).flatMap { snapshot.fieldValue(key, of: $0) }
            let value = after.existing(record).flatMap { after.fieldValue(key, of: $0) }
            if keys.contains(key) || before != value { add(key, before, value) }
        }
        return after
    }

    /// The fields to look at: those asked for that were written, and, of a record that is gone, the
    /// one asked for.
    private func fields(among keys: [String], isDeleted: Bool) -> [String] {
        guard let field else { return keys }
        return keys.contains(field) || isDeleted ? [field] : []
    }
}

extension WriteSet {
    /// The storage keys of a record that are written, each once, in order; nil when the record is
    /// neither written nor deleted.
    fileprivate func keys(of id: String) -> [String]? {
        guard recordIDs.contains(id) else { return nil }
        // Applied to nothing, every write is a change.
        var snapshot = Snapshot()
        var changes = ChangeSet()
        snapshot.apply(self, changes: &changes)
        guard let record = snapshot.symbols.findRecord(id) else { return nil }
        var keys: [String] = []
        for change in changes.fields where change.record == record {
            let key = snapshot.symbols.nameString(change.key)
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }
}
