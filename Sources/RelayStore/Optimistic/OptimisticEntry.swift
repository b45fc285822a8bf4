/// The name of an optimistic entry, given once and never again by a store.
package struct OptimisticEntryID: Hashable, Sendable {
    let rawValue: UInt64
}

/// What an optimistic entry does to the records below it, each time that they are others.
package struct OptimisticUpdate: @unchecked Sendable {
    // Unchecked: updaters are closures of users that are not Sendable (the seeds' signatures). They
    // cross from the caller's thread to whichever thread commits next, and the store runs them one at
    // a time, under its writer's lock.

    let run: (inout Draft) throws -> Void

    package init(_ run: @escaping (inout Draft) throws -> Void) { self.run = run }

    /// Of an entry that was read from a log: the updater is gone, its writes remain.
    init(_ writes: WriteSet) { run = { $0.apply(writes) } }

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
    var writes: WriteSet = .empty
    /// The records that it changed when it ran last.
    var touched = TouchedRecords()
    /// The records that its result then followed from, those that it changed among them.
    var looked = TouchedRecords()
}
