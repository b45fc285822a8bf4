@_spi(Rooms) import RelayRecords

/// The identity of an optimistic entry, never reused by a store.
package struct OptimisticEntryID: Hashable, Sendable {
    let rawValue: UInt64
}

/// What an optimistic entry does to the records below it, whenever they change.
package struct OptimisticUpdate: @unchecked Sendable {
    // Unchecked: updaters are user closures that are not Sendable. They cross from the caller's thread to whichever
    // thread commits next, and the store runs them one at a time, under its writer lock.

    let run: (inout Draft) throws -> Void

    package init(_ run: @escaping (inout Draft) throws -> Void) { self.run = run }

    /// For a mutation that shows nothing until it is answered.
    package static let none = OptimisticUpdate { _ in }
}

/// A change that is visible but not confirmed: revocable, on top of confirmed state, in order of creation.
struct OptimisticEntry: Sendable {
    let id: OptimisticEntryID
    /// The sequence of its mutation event.
    let mutation: UInt64
    let update: OptimisticUpdate
    /// What the updater wrote on its last run.
    private(set) var writes: WriteSet
    /// The records that it changed on its last run.
    private(set) var touched: TouchedRecords
    /// Those of `touched` that came, went or changed type because of it.
    private(set) var replaced: [RecordIndex]
    /// The records that this result depended on, including those it wrote.
    private(set) var read: TouchedRecords
    /// What else this result depended on.
    private(set) var noticed: Noticed
    /// All of these records.
    private(set) var looked: TouchedRecords

    /// A draft for an entry's update: notes what is looked at, and keeps everything written as data.
    static func draft(on snapshot: Snapshot) -> Draft {
        var draft = Draft(on: snapshot)
        draft.looked = TouchedRecords()
        return draft
    }

    /// - Parameter draft: made by ``draft(on:)``; the update has run on it.
    init(
        id: OptimisticEntryID, mutation: UInt64, update: OptimisticUpdate, _ draft: borrowing Draft
    ) {
        self.id = id
        self.mutation = mutation
        self.update = update
        writes = draft.writeSet
        touched = TouchedRecords(draft.changes)
        replaced = draft.changes.created + draft.changes.deleted
        read = draft.looked ?? touched
        noticed = draft.noticed
        looked = read
        noticed.insert(into: &looked)
    }

    /// The update has run on another state.
    mutating func take(_ draft: borrowing Draft) {
        self = OptimisticEntry(id: id, mutation: mutation, update: update, draft)
    }
}
