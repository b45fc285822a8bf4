import RelayJSON
@_spi(Rooms) import RelayRecords

/// The fold of one record, with the writer of each value.
struct BlameFold {
    /// A mutation that shows values until it ends.
    private struct Layer {
        let mutation: UInt64
        let intent: MutationIntent?
        var writes: WriteSet
    }

    let target: BlameTarget
    private(set) var entries: NewestEntries
    /// Whether the record was ever written.
    private(set) var isRecord: Bool
    private let showsLayers: Bool
    private let last: UInt64
    /// Contains the confirmed record, and parts of others that are written together with it.
    private var snapshot: Snapshot
    /// The layers that write the record, in log order.
    private var layers: [Layer]
    /// The last writer of each field before the first state that can be rebuilt.
    private var writers: [ExactText: Writer] = [:]

    private struct Writer {
        let sequence: UInt64
        let timeMicroseconds: Int64
        let operation: String?
        let intent: MutationIntent?
    }

    /// - Parameters:
    ///   - last: the last event whose writes are looked for.
    ///   - limit: on the entries, of which the newest are kept.
    init(
        _ target: BlameTarget, on snapshot: Snapshot, showsLayers: Bool,
        through last: UInt64 = .max, keeping limit: NewestEntries.Limit = NewestEntries.Limit()
    ) {
        self.target = target
        self.last = last
        entries = NewestEntries(limit)
        self.snapshot = snapshot
        self.showsLayers = showsLayers
        layers = snapshot.pending.compactMap { pending in
            guard let writes = pending.intent.optimistic, writes.keys(of: target.record) != nil
            else { return nil }
            return Layer(mutation: pending.sequence, intent: pending.intent, writes: writes)
        }
        isRecord = snapshot.existing(target.record) != nil
    }

    var hasLayers: Bool { !layers.isEmpty }

    /// - Parameters:
    ///   - intent: of the mutation that the event ends.
    ///   - rebased: what the event turns optimistic entries into.
    mutating func read(
        _ event: Event, of intent: MutationIntent?,
        _ rebased: [(entry: RebasedEntry, intent: MutationIntent?)]
    ) {
        switch event.body {
        case .genesis(_, let seed):
            confirm(seed, by: event, of: nil, operation: nil)
        case .update(let update):
            confirm(update.writes, by: event, of: nil, operation: update.name)
        case .mutation(let intent):
            show(intent, by: event)
        case .response(let response):
            // Its writes replace its optimistic entry in one step.
            layers.removeAll { $0.mutation == response.mutation }
            confirm(response.writes, by: event, of: intent, operation: intent?.operation)
        case .revocation(let revocation):
            revoke(revocation, by: event, of: intent)
        case .schema, .unknown:
            break
        }
        for (entry, intent) in rebased { rebase(entry, intent, by: event) }
    }

    private mutating func confirm(
        _ writes: WriteSet, by event: Event, of intent: MutationIntent?, operation: String?
    ) {
        guard let keys = writes.keys(of: target.record) else { return }
        isRecord = true
        let before = snapshot
        var changes = ChangeSet()
        snapshot.apply(writes, changes: &changes)
        note(
            .confirmed, keys, from: before, to: snapshot, by: event, of: intent,
            operation: operation)
    }

    private mutating func show(_ intent: MutationIntent, by event: Event) {
        guard let writes = intent.optimistic, let keys = writes.keys(of: target.record) else {
            return
        }
        isRecord = true
        let before = shown
        layers.append(Layer(mutation: event.sequence, intent: intent, writes: writes))
        note(
            .optimistic, keys, from: before, to: shown, by: event, of: intent,
            operation: intent.operation, layer: event.sequence)
    }

    private mutating func revoke(
        _ revocation: Revocation, by event: Event, of intent: MutationIntent?
    ) {
        guard let place = layers.firstIndex(where: { $0.mutation == revocation.mutation }) else {
            return
        }
        let before = shown
        let keys = layers.remove(at: place).writes.keys(of: target.record) ?? []
        guard showsLayers else { return }
        note(
            .revoked(reason: revocation.reason), keys, from: before, to: shown, by: event,
            of: intent, operation: intent?.operation, layer: revocation.mutation)
    }

    private mutating func rebase(
        _ entry: RebasedEntry, _ intent: MutationIntent?, by event: Event
    ) {
        let place = layers.firstIndex { $0.mutation == entry.mutation }
        let old = place.flatMap { layers[$0].writes.keys(of: target.record) }
        let new = entry.writes.keys(of: target.record)
        guard old != nil || new != nil else { return }
        let before = shown
        if let place {
            layers[place].writes = entry.writes
        } else {
            layers.append(Layer(mutation: entry.mutation, intent: intent, writes: entry.writes))
            layers.sort { $0.mutation < $1.mutation }
        }
        guard showsLayers else { return }
        let keys = (old ?? []) + (new ?? []).filter { !(old ?? []).contains($0) }
        note(
            .rebased, keys, from: before, to: shown, by: event, of: intent,
            operation: intent?.operation, layer: entry.mutation)
    }

    /// The visible state: the optimistic entries on top of the confirmed state.
    private var shown: Snapshot {
        var state = snapshot
        var changes = ChangeSet()
        for layer in layers { state.apply(layer.writes, changes: &changes) }
        return state
    }

    private mutating func note(
        _ kind: BlameEntry.Kind, _ keys: [ExactText], from before: Snapshot, to after: Snapshot,
        by event: Event, of intent: MutationIntent?, operation: String?, layer: UInt64? = nil
    ) {
        let record = target.record
        let above = kind == .confirmed ? layers.map(\.mutation) : []
        let seen = above.isEmpty ? nil : shown
        func add(_ field: String, _ change: FieldChange) {
            entries.append(
                BlameEntry(
                    sequence: event.sequence, timeMicroseconds: event.timeMicroseconds, kind: kind,
                    operation: operation, mutationID: intent?.mutationID, viewer: intent?.viewer,
                    layer: layer, field: field, change: change, layersAbove: above,
                    shown: seen.map { after.change(of: field, of: record, to: $0) }))
        }
        let type = before.change(of: "__typename", of: record, to: after)
        if target.field == nil || target.field == "__typename", !type.isEmpty {
            add("__typename", type)
        }
        for key in fields(among: keys, isDeleted: after.existing(record) == nil) {
            let change = before.change(of: key.text, of: record, to: after)
            if keys.contains(key) || !change.isEmpty { add(key.text, change) }
        }
    }

    /// The values with which the rebuildable states begin.
    /// - Parameter time: of the last event before them.
    mutating func noteInherited(at time: Int64?) {
        let differences = Snapshot().differences(to: snapshot, record: target.record)
        let inherited = differences.filter { target.field?.isSame(as: $0.field) ?? true }.map {
            difference in
            let writer = writers[ExactText(difference.field)]
            return BlameEntry(
                sequence: writer?.sequence ?? snapshot.sequence,
                timeMicroseconds: writer?.timeMicroseconds ?? time,
                kind: .inherited(isWriterKnown: writer != nil), operation: writer?.operation,
                mutationID: writer?.intent?.mutationID, viewer: writer?.intent?.viewer,
                layer: nil, field: difference.field, change: difference.change,
                layersAbove: [], shown: nil)
        }
        // Later ones must not take the room of those that are looked for.
        for entry in inherited.sorted(by: { $0.sequence < $1.sequence })
        where entry.sequence <= last { entries.append(entry) }
    }

    /// Reads an event from before the first state that can be rebuilt.
    mutating func noteWriter(_ event: Event, of intent: MutationIntent?) {
        guard let keys = event.body.confirmedWrites?.keys(of: target.record) else { return }
        isRecord = true
        var operation = intent?.operation
        if case .update(let update) = event.body { operation = update.name }
        for key in keys {
            writers[key] = Writer(
                sequence: event.sequence, timeMicroseconds: event.timeMicroseconds,
                operation: operation, intent: intent)
        }
    }

    /// The fields to report: the requested ones that were written and, if the record is gone, the requested
    /// one.
    private func fields(among keys: [ExactText], isDeleted: Bool) -> [ExactText] {
        guard let field = target.field.map({ ExactText($0) }) else { return keys }
        return keys.contains(field) || isDeleted ? [field] : []
    }
}

extension WriteSet {
    /// The storage keys of a record that are written, without duplicates, in order; nil if the record is
    /// neither written nor deleted.
    fileprivate func keys(of id: String) -> [ExactText]? {
        guard recordIDs.contains(where: id.isSame) else { return nil }
        // Applied to an empty state, every write is a change.
        var snapshot = Snapshot()
        var changes = ChangeSet()
        snapshot.apply(self, changes: &changes)
        guard let record = snapshot.symbols.findRecord(id) else { return nil }
        var keys: [ExactText] = []
        for change in changes.fields where change.record == record {
            let key = ExactText(snapshot.symbols.nameString(change.key))
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }
}
