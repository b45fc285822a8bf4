/// What a store gets from outside.
package struct StoreOptions: Sendable {
    /// Where events are kept; nil: nowhere.
    package var journal: (any EventJournal)?
    /// Called once, when an event could not be kept. The store goes on without its journal.
    package var journalFailed: @Sendable (JournalError) -> Void = { _ in }
    /// Called on a thread of the journal's when events are durable, with the confirmed state after them.
    package var journaled: @Sendable (Snapshot) -> Void = { _ in }
    /// Called when an optimistic updater threw on a newer state. Its entry shows nothing until the state
    /// changes again.
    package var updaterFailed: @Sendable (OptimisticEntryID, any Error) -> Void = { _, _ in }
    /// Microseconds since 1970.
    package var now: @Sendable () -> Int64 = { 0 }
    package var handlers: any HandlerProvider = DefaultHandlerProvider()
    /// Answers fields that are not in the store from what is.
    package var missingFieldHandlers: [MissingFieldHandler] = []
    /// Operations that nobody retains and that are kept all the same, the newest.
    package var releaseBufferSize = 10
    /// After this, fetched data counts as stale; nil: never.
    package var queryExpirationMicroseconds: Int64?

    /// Runs garbage collection when it is due.
    package var schedule: @Sendable (@escaping @Sendable () -> Void) -> Void = { work in
        Task { work() }
    }
    /// Records that a garbage collection looks at before it lets writers in again.
    package var collectionSlice = 4_096

    package init() {}
}
