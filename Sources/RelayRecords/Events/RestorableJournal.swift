/// A journal that a client's store can be restored from and continue in: `FileJournal` of the product `EventStore`.
public protocol RestorableJournal: AnyObject, Sendable {
    /// The state that a store continues from. Returned once.
    ///
    /// - Throws: if the journal already has a store.
    func restore() throws -> JournaledState
}

/// What a journal gives the store that is opened with it.
public struct JournaledState: Sendable {
    /// The state that the journal's events lead to.
    package var snapshot: Snapshot
    /// Where the store appends its events.
    package let journal: any EventJournal
    /// Called with states whose events are durable.
    package let journaled: @Sendable (Snapshot) -> Void

    package init(
        snapshot: Snapshot, journal: any EventJournal,
        journaled: @escaping @Sendable (Snapshot) -> Void
    ) {
        self.snapshot = snapshot
        self.journal = journal
        self.journaled = journaled
    }
}
