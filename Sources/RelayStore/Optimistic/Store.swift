import RelayArtifacts
import RelayJSON
package import RelayNormalization
@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// A client's records: the confirmed ones, with optimistic changes on top.
///
/// Any thread may call anything. One writer at a time changes the records; readers hold a snapshot and do not wait.
/// After each commit, the subscriptions whose data has changed are notified, in commit order and outside all locks.
///
/// With a journal, every change becomes events in it. They are handed over in commit order without waiting: a screen
/// does not wait for a disk.
public final class Store: Sendable {
    /// What the writer's lock guards.
    struct Writer: ~Copyable {
        var state: StoreState
        var plans = PlanCache()
        var operations = RetainedOperations()
        var subscriptions = SubscriptionTable()
        /// Fields with arguments made by updaters, so no operation need select them.
        var ownFields: Set<ChangeSet.Field> = []
        var symbols: SymbolCollection
        var outstanding = OutstandingParts()
        /// How many responses may have come in parts.
        var partedCount: UInt64 = 0
        /// The garbage collection in progress.
        var collection: GarbageCollection?
        /// Another was requested meanwhile.
        var collectsAgain = false

        init(state: StoreState, _ options: StoreOptions) {
            self.state = state
            symbols = SymbolCollection(
                liveCount: state.confirmed.symbols.liveCount, leastCount: options.leastSymbolCount)
        }
    }

    /// Work to be done under the writer's lock by its next holder.
    typealias Task = @Sendable (inout Writer, inout Outcome, Store) -> Void

    let options: StoreOptions
    package let symbols: Symbols
    private let writer: Lock<Writer>
    /// What readers see; behind one reference, so that taking it costs one reference count.
    let publication: Lock<PublishedSnapshot>
    private let readers = Lock(ReaderPlans())
    private let handlerProvider: Lock<any HandlerProvider>
    private let deliveries: Deliveries
    let observers = StoreObservers()
    private let tasks = Lock<[Task]>([])
    /// Whether tasks may be waiting.
    private let hasTasks = Atomic(false)
    private let journal: StoreJournal?
    /// Waiters for changes that no journal keeps; they need not wait, but they have an order.
    private let unjournaled = DurabilityWaiters()
    let isCollectionScheduled = Atomic(false)
    let collectionHolds = Lock(CollectionHolds())
    /// The thread that holds the writer's lock; zero if none does.
    private let writingThread = Atomic<UInt>(0)

    /// A store that lives as long as the process.
    /// - Parameters:
    ///   - source: the records that it starts with; see ``source``.
    ///   - gcReleaseBufferSize: how many operations are kept that are not retained.
    ///   - queryExpiration: the age from which a fetched query counts as stale; nil: never.
    ///   - missingFieldHandlers: what answers links that are not in the store; the first answer wins.
    public convenience init(
        source: RecordSource = RecordSource(), gcReleaseBufferSize: Int = 10,
        queryExpiration: Duration? = nil, missingFieldHandlers: [MissingFieldHandler] = []
    ) {
        self.init(
            source.snapshot,
            options: StoreOptions(gcReleaseBufferSize, queryExpiration, missingFieldHandlers))
        // Only refused inside an updater of this store, which has none yet.
        try? endUpdatesWithoutMutation()
    }

    /// The confirmed records as they are now, as a value that can be kept and given to another store. Optimistic
    /// changes are not part of it.
    /// - Throws: inside an updater of this store.
    public var source: RecordSource {
        get throws { RecordSource(try confirmed) }
    }

    /// - Parameter snapshot: the fold of a journal; its pending mutations are shown with the writes that the journal
    ///   has, until they are answered or revoked.
    package init(_ snapshot: Snapshot = Snapshot(), options: StoreOptions) {
        self.options = options
        deliveries = Deliveries(observers, limit: options.waitingDeliveryLimit)
        symbols = snapshot.symbols
        symbols.lookForElementErrors()
        journal = options.journal.map { StoreJournal($0, options) }
        let state = StoreState(snapshot, keepsEvents: options.journal != nil)
        publication = Lock(PublishedSnapshot(state.head))
        writer = Lock(Writer(state: state, options))
        handlerProvider = Lock(options.handlers)
    }

    /// The records as readers see them now: confirmed state with the optimistic entries on top.
    package var snapshot: Snapshot { published.snapshot }

    var published: PublishedSnapshot { publication.withLock { $0 } }

    /// Confirmed state alone.
    package var confirmed: Snapshot {
        get throws { try write { writer, _ in writer.state.confirmed } }
    }

    /// What `@connection` and the like do with their fields.
    var handlers: any HandlerProvider { handlerProvider.withLock { $0 } }

    /// Uses other handlers from here on: an environment brings its own.
    package func use(_ handlers: any HandlerProvider) { handlerProvider.withLock { $0 = handlers } }

    /// Reports what the store does, in order and outside all locks, until the token is cancelled.
    package func observe(_ tell: @escaping @Sendable (StoreEvent) -> Void) -> Retention {
        observers.add(tell)
    }

    // MARK: The writer

    /// What a commit leaves to be done, in order.
    struct Outcome {
        var deliveries: [Delivery] = []
        /// What may take long to free; released when the lock is free.
        var held: [ResponseParts.Held] = []

        mutating func call(_ body: @escaping @Sendable () -> Void) {
            deliveries.append(.call(body))
        }

    }

    /// Whether the caller is inside a write: in an updater.
    var isWritingHere: Bool { writingThread.load(ordering: .relaxed) == currentThread() }

    /// Runs the body as the single writer, publishes what it did and notifies those affected.
    func write<R>(
        _ body: (inout Writer, inout Outcome) throws -> sending R
    ) throws -> sending R {
        let thread = currentThread()
        if isWritingHere { throw StoreError.updateWithinUpdate }
        var isToldOf = false
        var held: [ResponseParts.Held] = []
        defer {
            held.removeAll()
            performTasks()
            if isToldOf { deliveries.deliver() }
        }
        return try writer.withLock { writer in
            writingThread.store(thread, ordering: .relaxed)
            defer { writingThread.store(0, ordering: .relaxed) }
            var outcome = Outcome()
            // Also when the body throws: what was requested, before it or by it, has nothing to do with that. What the
            // body requested is done before another thread can take it over and have to send its notifications.
            defer {
                perform(&writer, &outcome)
                isToldOf = deliveries.add(outcome.deliveries)
                held = outcome.held
            }
            perform(&writer, &outcome)
            return try body(&writer, &outcome)
        }
    }

    /// Has something done under the writer's lock: now, or by the holder of the lock once it is done.
    ///
    /// For the end of tokens, which may come anywhere, even inside an updater.
    func afterwards(_ task: @escaping Task) {
        withNextWrite(task)
        if !isWritingHere { performTasks() }
    }

    /// Has something done at the start of the next write. The caller may hold any lock: no notification is sent now.
    func withNextWrite(_ task: @escaping Task) {
        tasks.withLock { tasks in
            tasks.append(task)
            hasTasks.store(true, ordering: .releasing)
        }
    }

    /// Calls the body at once, or, inside an updater of this store, as soon as the updater has ended.
    package func outsideUpdaters(_ body: @escaping @Sendable () -> Void) {
        guard writingThread.load(ordering: .relaxed) == currentThread() else { return body() }
        afterwards { _, outcome, _ in outcome.call(body) }
    }

    /// Does waiting tasks and sends their notifications, unless another thread has the lock: that thread looks again
    /// after releasing it.
    private func performTasks() {
        var isToldOf = false
        defer { if isToldOf { deliveries.deliver() } }
        // Check the list itself: a thread that adds to it later finds the writer's lock free.
        while tasks.withLock({ !$0.isEmpty }) {
            var held: [ResponseParts.Held] = []
            defer { held.removeAll() }
            let isDone: Void? = writer.withLockIfAvailable { writer in
                writingThread.store(currentThread(), ordering: .relaxed)
                defer { writingThread.store(0, ordering: .relaxed) }
                var outcome = Outcome()
                perform(&writer, &outcome)
                if deliveries.add(outcome.deliveries) { isToldOf = true }
                held = outcome.held
            }
            if isDone == nil { return }
        }
    }

    private func perform(_ writer: inout Writer, _ outcome: inout Outcome) {
        // Anything missed here is found when the lock is free again.
        guard hasTasks.load(ordering: .acquiring) else { return }
        let waiting = tasks.withLock { tasks -> [Task] in
            defer {
                tasks = []
                hasTasks.store(false, ordering: .relaxed)
            }
            return tasks
        }
        for task in waiting { task(&writer, &outcome, self) }
    }

    /// Takes in the result of an input to the state: journal, readers, subscriptions.
    /// - Parameter isCollection: whether the step drops what is not read. Observers are told about the collection as a
    ///   whole.
    func finish(
        _ step: StoreState.Step, from sequence: UInt64, isCollection: Bool = false,
        _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        assert(!isCollection || step.failures.isEmpty, "no updater runs in a collection")
        append(step.events, behind: sequence, to: writer.state.confirmed)
        if writer.collection != nil {
            writer.collection?.touch(step.changes)
            writer.collection?.touch(step.confirmed)
        }
        let head = writer.state.head
        let next = PublishedSnapshot(head)
        // The previous state is released when the lock is free again: it may be the last to hold many rows.
        let last = publication.withLock { published in
            defer { published = next }
            return published
        }
        defer { withExtendedLifetime(last) {} }
        let told = writer.subscriptions.deliveries(for: step.changes, to: head)
        outcome.deliveries +=
            isCollection || observers.isEmpty ? told : observed(told, of: step, writer.state)
        noteGrowth(&writer, &outcome)
    }

    /// The deliveries of one commit, with the observers' events around them.
    private func observed(
        _ told: [Delivery], of step: StoreState.Step, _ state: StoreState
    ) -> [Delivery] {
        let records = step.changes.touchedRecords.count
        var events: [StoreEvent] = [.published(records: records), .notifyStarted]
        var deliveries = events.map(Delivery.event) + told
        events = [.notifyCompleted(subscriptions: told.count)]
        events += step.failures.map { failure in
            let intent = state.confirmed.pending.first { $0.sequence == failure.mutation }?.intent
            return .updaterFailed(intent?.operationName, intent?.mutationID, failure.error)
        }
        deliveries += events.map(Delivery.event)
        return deliveries
    }

    private func append(
        _ bodies: [EventBody], behind sequence: UInt64, to confirmed: Snapshot
    ) {
        guard let journal, !bodies.isEmpty else { return }
        let now = options.now()
        journal.add(
            bodies.map { NewEvent(timeMicroseconds: now, body: $0) }, behind: sequence,
            confirmed: confirmed)
    }

    /// Whether changes are kept.
    public var journalStatus: JournalStatus { journal?.status ?? .keeping }

    /// Waits until all changes so far are in the journal and on the disk. Without a journal it returns at once.
    /// - Throws: the reason they are not, if the journal refuses for now or has stopped; see ``journalStatus``.
    public func synchronize() async throws { try await journal?.synchronize() }

    /// Has `tell` called once all changes so far are in the journal and on the disk, or with the reason they are not;
    /// without a journal, always successfully. Nothing is called now, so this may be used inside a write:
    /// ``tellOfDurability()`` makes the calls.
    ///
    /// Calls are made in the order they were requested, one at a time, outside all locks.
    ///
    /// - Parameter waitsOutRefusals: whether to wait while a journal refuses for now. A stopped journal is not waited
    ///   for.
    /// - Returns: for ``endWait(_:)``.
    package func awaitDurability(
        waitsOutRefusals: Bool, _ tell: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) -> DurabilityWaiter {
        let waiter = DurabilityWaiter(waitsOutRefusals: waitsOutRefusals, tell: tell)
        if let journal { journal.wait(waiter) } else { unjournaled.add(waiter) { 0 } }
        return waiter
    }

    /// Releases a waiter without calling it.
    package func endWait(_ waiter: DurabilityWaiter) {
        if let journal { journal.endWait(waiter) } else { unjournaled.remove(waiter) }
    }

    /// Calls those that wait for what is already durable. To be called after ``awaitDurability(waitsOutRefusals:_:)``,
    /// outside all locks.
    package func tellOfDurability() {
        if let journal { journal.tellWaiters() } else { unjournaled.tell { (0, .keeping) } }
    }

    /// Keeps an event that is in the snapshot the store was made from, but not in the journal yet.
    package func keep(_ event: NewEvent, behind sequence: UInt64) throws {
        try write { writer, _ in
            journal?.add([event], behind: sequence, confirmed: writer.state.confirmed)
        }
    }

    // MARK: Plans

    /// How a selector reads, prepared once per fragment and variables.
    func plan(_ selector: ReaderSelector) -> ReaderPlan {
        readers.withLock { plans in
            plans.plan(selector) {
                // Code that looks up names outside the writer's lock holds a state, so nothing it looks in is released.
                withExtendedLifetime(published) {
                    ReaderPlan(
                        selector.fragment, variables: selector.variables, symbols: symbols)
                }
            }
        }
    }
}

/// A state as readers see it.
final class PublishedSnapshot: Sendable {
    let snapshot: Snapshot

    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    func read(
        _ selector: ReaderSelector, _ plan: ReaderPlan, previous: DataNode?
    ) -> SelectorSnapshot {
        // What was read holds its numbers before the snapshot can be released.
        defer { withExtendedLifetime(self) {} }
        return snapshot.read(selector, plan, previous: previous)
    }
}
