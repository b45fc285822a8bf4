@_spi(Rooms) public import RelayRecords

// A client's store on disk: the same log format as a server's, so the same tools read it.

extension Store {
    /// A store that is kept in a journal: it starts in the state that the journal's events lead to, and every change
    /// becomes an event in it.
    ///
    ///     let journal = try FileJournal(directory: "/var/lib/todo")
    ///     let store = try Store(journal: journal)
    ///
    /// A screen does not wait for the disk: a change is visible at once, and is in the journal a moment later.
    /// Mutations that were in flight when the process ended are shown as they were, until they are sent again and
    /// answered (`Environment.resumeMutations`). Their updaters are gone: if a list has changed meanwhile, the elements
    /// they added and removed are found by id. Optimistic updates that belong to no mutation are reverted.
    ///
    /// A full disk loses nothing: changes made meanwhile wait in memory, up to 64 MiB, and are written when there is
    /// room. Beyond that, or if the disk fails permanently, the store continues without its journal; see
    /// ``Store/journalStatus``.
    ///
    /// - Parameters:
    ///   - journal: opened for this store.
    ///   - gcReleaseBufferSize: how many operations are kept that are not retained.
    ///   - queryExpiration: the age from which a fetched query counts as stale; nil: never.
    ///   - missingFieldHandlers: what answers links that are not in the store; the first answer wins.
    ///   - onJournalChange: called when the journal refuses changes for now, takes them again, or stops.
    /// - Throws: if the journal already has a store.
    public convenience init(
        journal: some RestorableJournal, gcReleaseBufferSize: Int = 10,
        queryExpiration: Duration? = nil, missingFieldHandlers: [MissingFieldHandler] = [],
        onJournalChange: (@Sendable (JournalStatus) -> Void)? = nil
    ) throws {
        var options = StoreOptions(gcReleaseBufferSize, queryExpiration, missingFieldHandlers)
        if let onJournalChange { options.journalChanged = onJournalChange }
        try self.init(journal: journal, options: options)
    }

    package convenience init(journal: some RestorableJournal, options: StoreOptions) throws {
        let restored = try journal.restore()
        var snapshot = restored.snapshot
        var options = options
        options.journal = restored.journal
        options.now = WallClock.microseconds
        options.journaled = restored.journaled
        guard snapshot.sequence == 0 else {
            self.init(snapshot, options: options)
            try endUpdatesWithoutMutation()
            return
        }
        // The first event of a history. A client has no schema of its own.
        let time = WallClock.microseconds()
        let genesis = EventBody.genesis(schema: "", seed: .empty)
        var changes = ChangeSet()
        try snapshot.fold(
            Event(sequence: 1, timeMicroseconds: time, body: genesis), changes: &changes)
        self.init(snapshot, options: options)
        try keep(NewEvent(timeMicroseconds: time, body: genesis), behind: 0)
    }

    /// Reverts what another store showed and nothing is sent for: the code that showed it is not here.
    func endUpdatesWithoutMutation() throws {
        for (entry, mutation) in try unfinishedMutations where mutation.intent.mutationID == nil {
            revoke(entry, reason: "what showed it has ended")
        }
    }
}
