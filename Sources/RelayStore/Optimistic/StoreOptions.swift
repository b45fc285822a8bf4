@_spi(Rooms) import RelayRecords

/// What a store gets from outside.
package struct StoreOptions: Sendable {
    /// Where events are kept; nil: nowhere.
    package var journal: (any EventJournal)?
    /// Called when the journal refuses events, takes them again, or stops: under no lock, in order.
    package var journalChanged: @Sendable (JournalStatus) -> Void = { _ in }
    /// Bytes of events that may wait for a journal that refuses. Beyond, the store goes on without it.
    package var journalBacklogBytes = 64 << 20
    /// Called on a thread of the journal's when events are durable, with the confirmed state after them.
    package var journaled: @Sendable (Snapshot) -> Void = { _ in }
    /// Notifications that may wait for a callback that takes its time. Beyond, of each subscription only the newest
    /// waits.
    package var waitingDeliveryLimit = 1_024
    /// Microseconds since 1970.
    package var now: @Sendable () -> Int64 = { 0 }
    package var handlers: any HandlerProvider = DefaultHandlerProvider()
    /// Answers fields that are not in the store from what is.
    package var missingFieldHandlers: [MissingFieldHandler] = []
    /// Operations that are not retained and that are kept all the same, the newest.
    package var releaseBufferSize = 10
    /// After this, fetched data counts as stale; nil: never.
    package var queryExpirationMicroseconds: Int64?

    /// Runs work after so many milliseconds, never on the caller's own stack.
    package var later: @Sendable (_ milliseconds: Int, @escaping @Sendable () -> Void) -> Void = {
        milliseconds, work in
        Task {
            if milliseconds > 0 { try? await Task.sleep(for: .milliseconds(milliseconds)) }
            work()
        }
    }
    /// Runs garbage collection when it is due: never on the caller's own stack, which may hold any lock.
    package var schedule: @Sendable (@escaping @Sendable () -> Void) -> Void = { work in
        Task { work() }
    }
    /// Records that a garbage collection looks at before it lets writers in again.
    package var collectionSlice = 4_096

    /// Ids and storage keys below which there is no search for those that are not in use; 0: each collection searches.
    package var leastSymbolCount = 1_024

    package init() {}

    /// What programs say, with their clock.
    init(
        _ releaseBufferSize: Int, _ queryExpiration: Duration?,
        _ missingFieldHandlers: [MissingFieldHandler]
    ) {
        now = WallClock.microseconds
        self.releaseBufferSize = releaseBufferSize
        // A duration that is too long for a number of microseconds is for ever.
        queryExpirationMicroseconds = queryExpiration.flatMap { duration in
            let (seconds, attoseconds) = duration.components
            let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
            let (sum, overflows) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
            if isTooLong || overflows { return seconds < 0 ? 0 : nil }
            return sum
        }
        self.missingFieldHandlers = missingFieldHandlers
    }
}
