import Synchronization

/// Hands a store's events to its journal, in order, and again where it refuses for now.
final class StoreJournal: Sendable {
    private let journal: any EventJournal
    private let options: StoreOptions
    private let backlog: Mutex<JournalBacklog>
    private let isTelling = Atomic(false)

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
