public import RelayStore

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
    /// are sent again and answered (`Environment.resumeMutations`).
    ///
    /// - Parameters:
    ///   - journal: opened for this store.
    ///   - gcReleaseBufferSize: operations that nobody retains and that are kept all the same.
    ///   - onFailure: told once, on a thread of the journal's, when a change could not be kept. The store
    ///     goes on without its journal.
    /// - Throws: when the journal has a store already.
    public convenience init(
        journal: FileJournal, gcReleaseBufferSize: Int = 10,
        onFailure: (@Sendable (any Error) -> Void)? = nil
    ) throws {
        guard var snapshot = journal.takeRestored() else {
            throw EventStoreError.journalInUse(journal.directory)
        }
        var options = StoreOptions()
        options.journal = journal
        options.now = WallClock.microseconds
        options.releaseBufferSize = gcReleaseBufferSize
        options.journaled = { [weak journal] in journal?.checkpointIfDue($0) }
        if let onFailure { options.journalFailed = { onFailure($0) } }
        if snapshot.sequence == 0 { try Self.begin(&snapshot, journal, onFailure) }
        self.init(snapshot, options: options)
    }

    /// The first event of a history. A client has no schema of its own.
    private static func begin(
        _ snapshot: inout Snapshot, _ journal: FileJournal,
        _ onFailure: (@Sendable (any Error) -> Void)?
    ) throws {
        let time = WallClock.microseconds()
        let body = EventBody.genesis(schema: "", seed: .empty)
        journal.append([NewEvent(timeMicroseconds: time, body: body)], expecting: 0) { result in
            if case .failure(let error) = result { onFailure?(error) }
        }
        var changes = ChangeSet()
        try snapshot.fold(
            Event(sequence: 1, timeMicroseconds: time, body: body), changes: &changes)
    }
}
