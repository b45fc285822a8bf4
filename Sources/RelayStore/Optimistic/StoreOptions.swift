package import RelayNormalization
@_spi(Rooms) import RelayRecords

/// A store's options and dependencies.
package struct StoreOptions: Sendable {
    /// Where events are kept; nil: nowhere.
    package var journal: (any EventJournal)?
    /// Called when the journal refuses events, takes them again, or stops: under no lock, in order.
    package var journalChanged: @Sendable (JournalStatus) -> Void = { _ in }
    /// Bytes of events that may wait for a journal that refuses. Beyond that, the store continues without it.
    package var journalBacklogBytes = 64 << 20
    /// Called on one of the journal's threads when events are durable, with the confirmed state after them.
    package var journaled: @Sendable (Snapshot) -> Void = { _ in }
    /// Notifications that may wait for a slow callback. Beyond that, only the newest of each subscription waits.
    package var waitingDeliveryLimit = 1_024
    /// Microseconds since 1970.
    package var now: @Sendable () -> Int64 = { 0 }
    package var handlers: any HandlerProvider = DefaultHandlerProvider()
    /// Answers fields that are not in the store from what is.
    package var missingFieldHandlers: [MissingFieldHandler] = []
    /// How many operations are kept that are not retained: the newest ones.
    package var releaseBufferSize = 10
    /// The age from which fetched data counts as stale; nil: never.
    package var queryExpirationMicroseconds: Int64?

    /// Runs work after this many milliseconds, never on the caller's own stack.
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
    /// Records that a garbage collection visits before it lets writers in again.
    package var collectionSlice = 4_096

    /// The number of ids and storage keys below which there is no search for unused ones; 0: each collection searches.
    package var leastSymbolCount = 1_024

    package init() {}

    /// What programs set, with their clock.
    init(
        _ releaseBufferSize: Int, _ queryExpiration: Duration?,
        _ missingFieldHandlers: [MissingFieldHandler]
    ) {
        now = WallClock.microseconds
        self.releaseBufferSize = releaseBufferSize
        // A duration too long to express in microseconds means forever.
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
