import Synchronization

/// Hands a store's events to its journal, in order, and again where it refuses for now.
final class StoreJournal: Sendable {
    private let journal: any EventJournal
    private let options: StoreOptions
    private let backlog: Mutex<JournalBacklog>
    private let isTelling = Atomic(false)
    private let waiters = Mutex<[Waiter]>([])

    /// Somebody who waits until so many batches are durable.
    private struct Waiter {
        let count: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    init(_ journal: any EventJournal, _ options: StoreOptions) {
        self.journal = journal
        self.options = options
        backlog = Mutex(JournalBacklog(limitBytes: options.journalBacklogBytes))
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
            let count = backlog.withLock { $0.addedCount }
            waiters.withLock { $0.append(Waiter(count: count, continuation: continuation)) }
            tellWaiters()
        }
    }

    private func tellWaiters() {
        if waiters.withLock({ $0.isEmpty }) { return }
        let (durable, status) = backlog.withLock { ($0.durableCount, $0.status) }
        let failure: (any Error)? =
            switch status {
            case .keeping: nil
            case .retrying(let error), .stopped(let error): error
            }
        let done = waiters.withLock { waiters in
            let done = waiters.filter { $0.count <= durable || failure != nil }
            waiters.removeAll { $0.count <= durable || failure != nil }
            return done
        }
        for waiter in done {
            if waiter.count > durable, let failure {
                waiter.continuation.resume(throwing: failure)
            } else {
                waiter.continuation.resume()
            }
        }
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
        tellWaiters()
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
    private func tellSoon() { options.later(0) { [self] in tellNews() } }

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
