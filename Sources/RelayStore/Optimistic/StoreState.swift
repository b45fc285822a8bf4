@_spi(Rooms) import RelayRecords

/// A store without its lock: confirmed records, optimistic entries on top, and the state that readers see.
///
/// Pure: every input returns what it did; nothing waits and nothing is notified.
///
/// Invariants: 1. `head` is `confirmed` with what the entries' updates write, in order. 2. Each entry represents one
/// pending mutation of `confirmed`, and `pending` has its newest writes. 3. An input that throws has changed nothing.
/// 4. Folding the events that the inputs returned gives `confirmed`.
struct StoreState {
    private(set) var confirmed: Snapshot
    private(set) var head: Snapshot
    private(set) var entries = OptimisticEntries()
    /// Whether the events are needed, or only their effect.
    private let keepsEvents: Bool
    private var nextEntry: UInt64 = 0
    /// Entries up to this number were pending in the snapshot that the state started from.
    private let restoredCount: UInt64

    /// What an input did.
    struct Step {
        /// For the log, in order.
        var events: [EventBody] = []
        /// What changed in `head`.
        var changes = ChangeSet()
        /// What changed in `confirmed`, if that may differ from `changes`.
        var confirmed = ChangeSet()
        /// Entries whose updaters threw on the new state.
        var failures: [OptimisticEntries.Failure] = []
    }

    /// - Parameter snapshot: confirmed state, as restored. Mutations pending in it become entries with the writes that
    ///   the log has.
    init(_ snapshot: Snapshot, keepsEvents: Bool) {
        confirmed = snapshot
        head = snapshot
        self.keepsEvents = keepsEvents
        restoredCount = UInt64(snapshot.pending.count)
        for mutation in snapshot.pending {
            show(mutation.intent.optimistic ?? .empty, of: mutation.sequence)
        }
    }

    /// Shows the log's writes of a pending mutation.
    private mutating func show(_ writes: WriteSet, of mutation: UInt64) {
        let restored = RestoredUpdate(writes, on: head)
        let update = OptimisticUpdate { restored.run(&$0) }
        var draft = OptimisticEntry.draft(on: head)
        restored.run(&draft)
        entries.append(
            OptimisticEntry(id: makeEntryID(), mutation: mutation, update: update, draft))
        head = draft.snapshot
    }

    private mutating func makeEntryID() -> OptimisticEntryID {
        nextEntry += 1
        return OptimisticEntryID(rawValue: nextEntry)
    }

    /// A draft for an update of confirmed state.
    func draft() -> Draft { Draft(on: confirmed, keepsPayloads: keepsEvents) }

    /// Distinguishes snapshots taken from now on from older ones.
    mutating func begin(_ epoch: SymbolEpoch) {
        confirmed.epoch = epoch
        head.epoch = epoch
    }

    // MARK: Inputs

    /// Begins a mutation; what it expects is shown.
    mutating func begin(
        _ intent: MutationIntent, _ update: OptimisticUpdate
    ) throws -> (id: OptimisticEntryID, step: Step) {
        var draft = OptimisticEntry.draft(on: head)
        try update.run(&draft)
        let entry = OptimisticEntry(
            id: makeEntryID(), mutation: confirmed.sequence + 1, update: update, draft)
        var intent = intent
        // Includes writes that change nothing now: they may on another state.
        intent.optimistic = entry.writes.isEmpty ? nil : entry.writes
        let base = confirmed
        confirmed.sequence += 1
        confirmed.pending.append(PendingMutation(sequence: entry.mutation, intent: intent))
        head = draft.snapshot
        head.follow(confirmed)
        // Once the entry has ended, `head` is `confirmed` again; this avoids growing it anew each time.
        confirmed.rows.grow(to: head.rows.count)
        entries.append(entry)
        return (entry.id, step([.mutation(intent)], on: base, draft.changes))
    }

    /// Ends a mutation without an answer: error, cancel, timeout, disconnect.
    /// - Returns: nil for an entry that has ended.
    mutating func revoke(_ id: OptimisticEntryID, reason: String) -> Step? {
        guard let ended = entries.remove(id) else { return nil }
        let base = confirmed
        confirmed.sequence += 1
        confirmed.endPending(ended.entry.mutation)
        let (changes, rebased, failures) = rebase(ChangeSet(), without: ended)
        var revocation = Revocation(mutation: ended.entry.mutation, reason: reason)
        revocation.rebased = rebased
        return step([.revocation(revocation)], on: base, changes, failures)
    }

    /// Answers a mutation: its entry goes and what was written arrives, in one step.
    /// - Parameter draft: made by ``draft()`` since the last input.
    /// - Returns: nil for an entry that has ended; the draft is then not taken in.
    mutating func respond(_ id: OptimisticEntryID, _ draft: Draft) -> Step? {
        guard let ended = entries.remove(id) else { return nil }
        let base = confirmed
        confirmed = draft.snapshot
        confirmed.sequence += 1
        if let intent = confirmed.endPending(ended.entry.mutation) {
            confirmed.note(intent, answered: [], at: confirmed.sequence)
        }
        let (changes, rebased, failures) = rebase(draft.changes, without: ended)
        let response = MutationResponse(
            mutation: ended.entry.mutation, writes: draft.writeSet, result: nil,
            rebased: rebased)
        return step(
            [.response(response)], on: base, changes, confirmed: draft.changes, failures)
    }

    /// Changes confirmed state without a mutation.
    /// - Parameter draft: made by ``draft()`` since the last input.
    mutating func update(_ name: String, _ draft: Draft) -> Step {
        let base = confirmed
        confirmed = draft.snapshot
        confirmed.sequence += 1
        let (changes, rebased, failures) = rebase(draft.changes)
        let update = LocalUpdate(name: name, writes: draft.writeSet, rebased: rebased)
        var step = step([.update(update)], on: base, changes, confirmed: draft.changes, failures)
        if entries.isEmpty { step.confirmed = ChangeSet() }
        return step
    }

    /// Whether an entry is from the previous process.
    func isRestored(_ entry: OptimisticEntryID) -> Bool { entry.rawValue <= restoredCount }

    /// A mutation was sent, and its connection ended before the answer came.
    /// - Returns: nil for an entry that has ended.
    mutating func interrupt(_ id: OptimisticEntryID) -> Step? {
        guard let mutation = entries[id]?.mutation else { return nil }
        let base = confirmed
        confirmed.sequence += 1
        confirmed.noteInterruption(of: mutation)
        head.follow(confirmed)
        return step([.update(.interruption(of: mutation))], on: base, ChangeSet())
    }

    /// Rebuilds `head` from `confirmed` and the entries.
    /// - Parameter changes: what changed in `confirmed`.
    private mutating func rebase(
        _ changes: ChangeSet, without ended: OptimisticEntries.Ended? = nil
    ) -> (changes: ChangeSet, rebased: [RebasedEntry], failures: [OptimisticEntries.Failure]) {
        let rebase = entries.rebase(head, onto: confirmed, changes, without: ended)
        head = rebase.head
        confirmed.rebase(rebase.rebased)
        head.follow(confirmed)
        return (rebase.changes, rebase.rebased, rebase.failures)
    }

    private func step(
        _ events: [EventBody], on base: Snapshot, _ changes: ChangeSet,
        confirmed written: ChangeSet = ChangeSet(), _ failures: [OptimisticEntries.Failure] = []
    ) -> Step {
        assert(
            !keepsEvents || confirmed.isFold(of: events, on: base, written: written),
            "the events do not fold to the confirmed state")
        return Step(
            events: keepsEvents ? events : [], changes: changes, confirmed: written,
            failures: failures)
    }
}

extension Snapshot {
    /// Whether events lead from an earlier state to this one, in the records that they touch and in those that were
    /// written. For debug builds.
    func isFold(of events: [EventBody], on base: Snapshot, written: ChangeSet) -> Bool {
        var replayed = base
        // What was written but is in no event counts as well.
        var changes = written
        for body in events {
            let read = body.payload.withUnsafeBytes { try? EventBody(kind: body.kind, payload: $0) }
            guard let read, read == body else { return false }
            let event = Event(sequence: replayed.sequence + 1, timeMicroseconds: 0, body: read)
            guard (try? replayed.fold(event, changes: &changes)) != nil else { return false }
        }
        return replayed.sequence == sequence && replayed.pending == pending
            && replayed.recordCount == recordCount && replayed.nextCreation == nextCreation
            && replayed.ledger.lastSequence == ledger.lastSequence
            && replayed.difference(from: self, in: TouchedRecords(changes)).isEmpty
    }
}

extension Snapshot {
    /// Takes over what only confirmed state keeps track of.
    fileprivate mutating func follow(_ confirmed: Snapshot) {
        sequence = confirmed.sequence
        pending = confirmed.pending
    }

    /// - Returns: the mutation's intent; nil if it is not pending.
    @discardableResult
    fileprivate mutating func endPending(_ mutation: UInt64) -> MutationIntent? {
        pending.firstIndex { $0.sequence == mutation }.map { pending.remove(at: $0).intent }
    }
}
