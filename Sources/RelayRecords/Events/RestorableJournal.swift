/// A journal that a client's store can be restored from, and goes on in: `FileJournal` of the product `EventStore`.
public protocol RestorableJournal: AnyObject, Sendable {
    /// What a store goes on from. Given once.
    ///
    /// - Throws: when the journal has a store already.
    func restore() throws -> JournaledState
}

/// What a journal gives the store that is opened with it.
public struct JournaledState: Sendable {
    /// The state that the journal's events lead to.
    package var snapshot: Snapshot
    /// Where the store's events go.
    package let journal: any EventJournal
    /// Told of states whose events are durable.
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
