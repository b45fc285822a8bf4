@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// Hands a store's events to its journal, in order, and again if it refuses for now.
final class StoreJournal: Sendable {
    private let journal: any EventJournal
    private let options: StoreOptions
    private let backlog: Lock<JournalBacklog>
    private let isTelling = Atomic(false)
    private let waiters = DurabilityWaiters()

    init(_ journal: any EventJournal, _ options: StoreOptions) {
        self.journal = journal
        self.options = options
        backlog = Lock(JournalBacklog(limitBytes: options.journalBacklogBytes))
    }

    var status: JournalStatus { backlog.withLock { $0.status } }

    /// Takes events in, in call order.
    func add(_ events: [NewEvent], behind sequence: UInt64, confirmed: Snapshot) {
        let batch = JournalBacklog.Batch(events, behind: sequence, confirmed: confirmed)
        let hasNews = backlog.withLock { backlog in
            backlog.add(batch)
            return backlog.hasNews
        }
        if hasNews { tellSoon() }
        handOver()
    }

    /// Waits until everything taken in so far is durable.
    /// - Throws: the reason it is not, if the journal refuses or has failed.
    func synchronize() async throws {
        try await withCheckedThrowingContinuation { continuation in
            wait(DurabilityWaiter(waitsOutRefusals: false) { continuation.resume(with: $0) })
            tellWaiters()
        }
    }

    /// Has `tell` called once everything taken in so far is durable, or with the reason it is not. Nothing is called
    /// now: that is for ``tellWaiters()``, and for when the journal answers later.
    func wait(_ waiter: DurabilityWaiter) {
        waiters.add(waiter) { backlog.withLock { $0.addedCount } }
    }

    func endWait(_ waiter: DurabilityWaiter) { waiters.remove(waiter) }

    /// Calls the waiters that need wait no longer, on the caller's thread and not on one of the journal's.
    func tellWaiters() {
        // Evaluated under the waiters' lock: any later change finds them again.
        waiters.tell { backlog.withLock { ($0.durableCount, $0.status) } }
    }

    /// On a thread of its own: the code called may write to the store, and so to the journal.
    private func tellWaitersSoon() {
        if !waiters.isEmpty { Task { tellWaiters() } }
    }

    private func handOver() {
        var isContinuing = false
        while let batch = backlog.withLock({ $0.nextToHandOver(isContinuing: isContinuing) }) {
            isContinuing = true
            journal.append(batch.events, expecting: batch.sequence) { [self] result in
                settle(batch, result)
            }
        }
    }

    private func settle(_ batch: JournalBacklog.Batch, _ result: Result<UInt64, JournalError>) {
        let (delay, hasNews) = backlog.withLock { ($0.settle(result), $0.hasNews) }
        if case .success = result { options.journaled(batch.confirmed) }
        tellWaitersSoon()
        if hasNews { tellSoon() }
        if let delay {
            options.later(delay) { [self] in
                backlog.withLock { $0.retry() }
                handOver()
            }
        }
    }

    // MARK: News

    /// Not at once: the code that adds events holds the store's lock.
    private func tellSoon() {
        options.later(0) { [self] in tellNews() }
        tellWaitersSoon()
    }

    /// Reports statuses in the order in which they arose, on one thread at a time.
    private func tellNews() {
        while backlog.withLock({ $0.hasNews }) {
            if isTelling.exchange(true, ordering: .acquiringAndReleasing) { return }
            while let status = backlog.withLock({ $0.takeNews() }) {
                options.journalChanged(status)
            }
            isTelling.store(false, ordering: .releasing)
        }
    }
}
