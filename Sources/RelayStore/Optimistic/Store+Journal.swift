@_spi(Rooms) public import RelayRecords

// A client's store on disk: the same log as a server's, so the same tools read it.

extension Store {
    /// A store that is kept in a journal: it begins with the state that the journal's events lead to, and
    /// every change becomes an event of it.
    ///
    ///     let journal = try FileJournal(directory: "/var/lib/todo")
    ///     let store = try Store(journal: journal)
    ///
    /// A screen does not wait for the disk: a change is shown at once, and is in the journal a moment
    /// later. Mutations that were under way when the process ended are shown as they were, until they
    /// are sent again and answered (`Environment.resumeMutations`). Their updaters are gone: where a list has changed
    /// meanwhile, what they have added and taken out there is found by its ids. Optimistic updates that belong to no
    /// mutation are taken back.
    ///
    /// A full disk loses nothing: what happens meanwhile waits in memory, up to 64 MiB, and is written
    /// when there is room. Beyond that, or when the disk fails for good, the store goes on without its
    /// journal; ``Store/journalStatus`` tells.
    ///
    /// - Parameters:
    ///   - journal: opened for this store.
    ///   - gcReleaseBufferSize: operations that are not retained and that are kept all the same.
    ///   - queryExpiration: after this a query that was fetched counts as stale; nil: never.
    ///   - missingFieldHandlers: what answers links that are not in the store; the first that knows is believed.
    ///   - onJournalChange: told when the journal refuses changes for now, takes them again, or stops.
    /// - Throws: when the journal has a store already.
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

    /// Takes back what another store showed that nothing is sent for: what showed it is not here.
    func endUpdatesWithoutMutation() throws {
        for (entry, mutation) in try unfinishedMutations where mutation.intent.mutationID == nil {
            revoke(entry, reason: "what showed it has ended")
        }
    }
}
