import Synchronization
import Threads

/// Hands a store's events to its journal, in order, and again where it refuses for now.
final class StoreJournal: Sendable {
    private let journal: any EventJournal
    private let options: StoreOptions
    private let backlog: Lock<JournalBacklog>
    private let isTelling = Atomic(false)
    private let waiters = Lock(Waiters())

    /// Somebody who waits until so many batches are durable.
    private struct Waiter: Sendable {
        let count: UInt64
        let waitsOutRefusals: Bool
        let tell: @Sendable (Result<Void, any Error>) -> Void
    }

    private struct Waiters {
        /// In the order in which they came, and so in that of their counts.
        var waiting: [Waiter] = []
        /// Whether some thread is telling them: they are told one after the other, in order.
        var isTelling = false
    }

    init(_ journal: any EventJournal, _ options: StoreOptions) {
        self.journal = journal
        self.options = options
        backlog = Lock(JournalBacklog(limitBytes: options.journalBacklogBytes))
    }

    var status: JournalStatus { backlog.withLock { $0.status } }

    /// Takes events in, in the order of the calls.
    func add(_ events: [NewEvent], behind sequence: UInt64, confirmed: Snapshot) {
        let batch = JournalBacklog.Batch(events, behind: sequence, confirmed: confirmed)
        let hasNews = backlog.withLock { backlog in
            backlog.add(batch)
            return backlog.hasNews
        }
        if hasNews { tellSoon() }
        handOver()
    }

    /// Waits until everything that was taken in so far is durable.
    /// - Throws: why it is not, when the journal refuses or has failed.
    func synchronize() async throws {
        try await withCheckedThrowingContinuation { continuation in
            whenDurable(waitsOutRefusals: false) { continuation.resume(with: $0) }
        }
    }

    /// Calls `tell` once everything that was taken in so far is durable, or with why it is not. Calls come in
    /// the order in which they were asked for, one after the other, on the caller's thread if nothing is left
    /// to wait for, and on no thread of the journal's.
    ///
    /// - Parameter waitsOutRefusals: whether a journal that refuses for now is waited for. One that has
    ///   stopped is not.
    func whenDurable(
        waitsOutRefusals: Bool, _ tell: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        waiters.withLock { waiters in
            let count = backlog.withLock { $0.addedCount }
            waiters.waiting.append(
                Waiter(count: count, waitsOutRefusals: waitsOutRefusals, tell: tell))
        }
        tellWaiters()
    }

    /// On a thread of its own: whoever is told may write to the store, and so to the journal.
    private func tellWaitersSoon() {
        if waiters.withLock({ !$0.waiting.isEmpty }) { Task { tellWaiters() } }
    }

    private func tellWaiters() {
        var isContinuing = false
        while true {
            let calls = waiters.withLock { waiters -> [@Sendable () -> Void] in
                if waiters.isTelling, !isContinuing { return [] }
                let calls = takeCalls(&waiters)
                waiters.isTelling = !calls.isEmpty
                return calls
            }
            if calls.isEmpty { return }
            isContinuing = true
            for call in calls { call() }
        }
    }

    /// Strikes off those who need not wait any longer, and gives what they are to be told.
    private func takeCalls(_ waiters: inout Waiters) -> [@Sendable () -> Void] {
        // Asked for under the waiters' lock: what changes behind it finds them again.
        let (durable, status) = backlog.withLock { ($0.durableCount, $0.status) }
        var calls: [@Sendable () -> Void] = []
        waiters.waiting.removeAll { waiter in
            let result: Result<Void, any Error>
            switch status {
            case _ where waiter.count <= durable: result = .success(())
            case .stopped(let error): result = .failure(error)
            case .retrying(let error) where !waiter.waitsOutRefusals: result = .failure(error)
            case .keeping, .retrying: return false
            }
            calls.append { waiter.tell(result) }
            return true
        }
        return calls
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

    /// Not at once: whoever adds events has the store's lock.
    private func tellSoon() {
        options.later(0) { [self] in tellNews() }
        tellWaitersSoon()
    }

    /// Tells of statuses in the order in which they came about, on one thread at a time.
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
