@_spi(Rooms) import RelayRecords

/// The name of an optimistic entry, given once and never again by a store.
package struct OptimisticEntryID: Hashable, Sendable {
    let rawValue: UInt64
}

/// What an optimistic entry does to the records below it, whenever they change.
package struct OptimisticUpdate: @unchecked Sendable {
    // Unchecked: updaters are closures of users that are not Sendable. They
    // cross from the caller's thread to whichever thread commits next, and the store runs them one at
    // a time, under its writer's lock.

    let run: (inout Draft) throws -> Void

    package init(_ run: @escaping (inout Draft) throws -> Void) { self.run = run }

    /// Of a mutation that shows nothing until it is answered.
    package static let none = OptimisticUpdate { _ in }
}

/// A change that is shown and not confirmed: revocable, on top of confirmed state, in the order of creation.
struct OptimisticEntry: Sendable {
    let id: OptimisticEntryID
    /// The sequence of its mutation event.
    let mutation: UInt64
    let update: OptimisticUpdate
    /// What the updater wrote when it ran last.
    private(set) var writes: WriteSet
    /// The records that it changed when it ran last.
    private(set) var touched: TouchedRecords
    /// Those of them that came or went by it, or are of another type.
    private(set) var replaced: [RecordIndex]
    /// The records that its result then followed from, those that it wrote among them.
    private(set) var read: TouchedRecords
    /// What its result followed from besides.
    private(set) var noticed: Noticed
    /// All of these records.
    private(set) var looked: TouchedRecords

    /// A draft for an entry's update: notes what is looked at, and keeps everything that is written as data.
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
