import RelayNormalization
@_spi(Rooms) import RelayRecords

/// The optimistic entries of a store, oldest first.
///
/// When something changes below an entry, its update runs again only if it looked at something that changed
/// (``ChangesBelow``); otherwise it would write the same again.
///
/// Invariants: 1. Ids and mutations increase. 2. `lookCounts` has for each record how many entries look at it.
struct OptimisticEntries: Sequence {
    private var entries: [OptimisticEntry] = []
    private var lookCounts: [RecordIndex: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var last: OptimisticEntry? { entries.last }

    func makeIterator() -> IndexingIterator<[OptimisticEntry]> { entries.makeIterator() }

    subscript(_ id: OptimisticEntryID) -> OptimisticEntry? { entries.first { $0.id == id } }

    /// Whether what an entry shows depends on a record.
    func isLookedAt(_ record: RecordIndex) -> Bool { lookCounts[record] != nil }

    // MARK: Coming and going

    mutating func append(_ entry: OptimisticEntry) {
        entries.append(entry)
        count(entry.looked, 1)
    }

    /// An entry that has ended, and how many there are below it.
    struct Ended {
        let entry: OptimisticEntry
        let place: Int
    }

    mutating func remove(_ id: OptimisticEntryID) -> Ended? {
        guard let place = entries.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = entries.remove(at: place)
        count(entry.looked, -1)
        return Ended(entry: entry, place: place)
    }

    private mutating func count(_ looked: TouchedRecords, _ number: Int) {
        for record in looked {
            let count = lookCounts[record, default: 0] + number
            lookCounts[record] = count == 0 ? nil : count
        }
    }

    // MARK: Rebase

    /// An entry whose update threw on the state below it. It shows nothing until something that it looked at changes.
    struct Failure {
        /// The sequence of the entry's mutation event.
        let mutation: UInt64
        let error: any Error
    }

    struct Rebase {
        /// Confirmed state with the entries' writes.
        var head: Snapshot
        /// What changed in it.
        var changes = ChangeSet()
        /// Entries that now write something else, oldest first.
        var rebased: [RebasedEntry] = []
        var failures: [Failure] = []
    }

    /// Puts the entries on top of another state.
    /// - Parameters:
    ///   - head: what was visible before.
    ///   - changes: what changed in `confirmed`.
    ///   - ended: an entry that was there before.
    mutating func rebase(
        _ head: Snapshot, onto confirmed: Snapshot, _ changes: ChangeSet, without ended: Ended?
    ) -> Rebase {
        if isEmpty, ended?.entry.touched.isEmpty ?? true {
            return Rebase(head: confirmed, changes: changes)
        }
        var below = ChangesBelow(changes, in: confirmed)
        if let ended { below.insert(ended.entry, in: confirmed) }
        var changed = below.records
        var rebase: Rebase
        if isEmpty {
            rebase = Rebase(head: confirmed)
        } else if changed.contains(where: isLookedAt) || below.link(to: isLookedAt) {
            (rebase, changed) = runAgain(on: confirmed, changes, without: ended)
        } else {
            rebase = Rebase(head: head)
            rebase.head.take(changed, from: confirmed)
        }
        rebase.changes = rebase.head.difference(from: head, in: changed)
        return rebase
    }

    /// - Returns: also the records that may differ from before.
    private mutating func runAgain(
        on confirmed: Snapshot, _ changes: ChangeSet, without ended: Ended?
    ) -> (Rebase, changed: TouchedRecords) {
        var rebase = Rebase(head: confirmed)
        // Below the current entry, updated as the loop advances.
        var below = ChangesBelow(changes, in: confirmed)
        for place in entries.indices {
            if let ended, ended.place == place { below.insert(ended.entry, in: rebase.head) }
            if below.concern(entries[place], in: rebase.head) {
                runAgain(place, &rebase, &below)
            } else {
                rebase.head.apply(entries[place].writes)
            }
            below.pass(entries[place], in: rebase.head)
        }
        if let ended { below.insert(ended.entry, in: rebase.head) }
        return (rebase, below.records)
    }

    private mutating func runAgain(
        _ place: Int, _ rebase: inout Rebase, _ below: inout ChangesBelow
    ) {
        let old = entries[place]
        var draft = OptimisticEntry.draft(on: rebase.head)
        do {
            try old.update.run(&draft)
        } catch {
            rebase.failures.append(Failure(mutation: old.mutation, error: error))
            let (looked, noticed) = (draft.looked, draft.noticed)
            draft = Draft(on: rebase.head)
            draft.looked = looked
            draft.noticed = noticed
        }
        entries[place].take(draft)
        rebase.head = draft.snapshot
        let new = entries[place]
        if new.looked != old.looked {
            count(new.looked, 1)
            count(old.looked, -1)
        }
        if new.writes == old.writes { return }
        rebase.rebased.append(RebasedEntry(mutation: new.mutation, writes: new.writes))
        below.insert(old, in: rebase.head)
        below.insert(new, in: rebase.head)
    }
}

extension Snapshot {
    fileprivate mutating func apply(_ writes: WriteSet) {
        var changes = ChangeSet()
        apply(writes, changes: &changes)
    }
}
