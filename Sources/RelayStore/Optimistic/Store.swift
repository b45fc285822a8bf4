import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// The records of a client: what was confirmed, and what is shown on top of it.
///
/// Any thread may call anything. One writer at a time changes the records; readers hold a snapshot and
/// do not wait. After each commit those subscriptions are told whose data has changed, in the
/// order of the commits and outside all locks.
///
/// With a journal every change becomes events of it. They are handed over in the order of the commits and
/// not waited for: a screen does not wait for a disk.
public final class Store: Sendable {
    /// What the writer's lock guards.
    struct Writer: ~Copyable {
        var state: StoreState
        var plans = PlanCache()
        var operations = RetainedOperations()
        var subscriptions = SubscriptionTable()
        /// Fields with arguments that updaters made, so that no operation need select them.
        var ownFields: Set<ChangeSet.Field> = []
        var symbols: SymbolCollection
        var outstanding = OutstandingParts()
        /// Responses that may have come in parts.
        var partedCount: UInt64 = 0
        /// The garbage collection under way.
        var collection: GarbageCollection?
        /// Another was asked for meanwhile.
        var collectsAgain = false

        init(state: StoreState, _ options: StoreOptions) {
            self.state = state
            symbols = SymbolCollection(
                liveCount: state.confirmed.symbols.liveCount, leastCount: options.leastSymbolCount)
        }
    }

    /// Something to be done under the writer's lock by its next holder.
    typealias Task = @Sendable (inout Writer, inout Outcome, Store) -> Void

    let options: StoreOptions
    package let symbols: Symbols
    private let writer: Lock<Writer>
    /// What readers see; behind one reference, so that to take it counts one.
    let publication: Lock<PublishedSnapshot>
    private let readers = Lock(ReaderPlans())
    private let handlerProvider: Lock<any HandlerProvider>
    private let deliveries: Deliveries
    let observers = StoreObservers()
    private let tasks = Lock<[Task]>([])
    /// Whether tasks may wait.
    private let hasTasks = Atomic(false)
    private let journal: StoreJournal?
    /// Those who wait for what no journal keeps; they need not, but they have an order.
    private let unjournaled = DurabilityWaiters()
    let isCollectionScheduled = Atomic(false)
    let collectionHolds = Lock(CollectionHolds())
    /// The thread that holds the writer's lock; zero when none does.
    private let writingThread = Atomic<UInt>(0)

    /// A store that lives as long as the process.
    /// - Parameters:
    ///   - source: the records that it begins with; see ``source``.
    ///   - gcReleaseBufferSize: operations that are not retained and that are kept all the same.
    ///   - queryExpiration: after this a query that was fetched counts as stale; nil: never.
    ///   - missingFieldHandlers: what answers links that are not in the store; the first that knows is believed.
    public convenience init(
        source: RecordSource = RecordSource(), gcReleaseBufferSize: Int = 10,
        queryExpiration: Duration? = nil, missingFieldHandlers: [MissingFieldHandler] = []
    ) {
        self.init(
            source.snapshot,
            options: StoreOptions(gcReleaseBufferSize, queryExpiration, missingFieldHandlers))
        // Refused inside an updater of this store only, which has none yet.
        try? endUpdatesWithoutMutation()
    }

    /// The confirmed records as they are now, as a value that can be kept and given to another store. What
    /// is shown optimistically is no part of it.
    /// - Throws: inside an updater of this store.
    public var source: RecordSource {
        get throws { RecordSource(try confirmed) }
    }

    /// - Parameter snapshot: what a journal was folded to; its pending mutations are shown with the writes
    ///   that the journal has, until they are answered or revoked.
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

    /// Takes other handlers from here on: an environment brings its own.
    package func use(_ handlers: any HandlerProvider) { handlerProvider.withLock { $0 = handlers } }

    /// Tells of what the store does, in order and outside all locks, until the token is cancelled.
    package func observe(_ tell: @escaping @Sendable (StoreEvent) -> Void) -> Retention {
        observers.add(tell)
    }

    // MARK: The writer

    /// What a commit leaves to be done, in order.
    struct Outcome {
        var deliveries: [Delivery] = []
        /// What may take long to free; it goes when the lock is free.
        var held: [ResponseParts.Held] = []

        mutating func call(_ body: @escaping @Sendable () -> Void) {
            deliveries.append(.call(body))
        }

    }

    /// Whether the caller is inside a write: in an updater.
    var isWritingHere: Bool { writingThread.load(ordering: .relaxed) == currentThread() }

    /// Runs the body as the one writer, publishes what it did and tells whom it concerns.
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
            // Also when the body throws: what was asked for, before it or by it, has nothing to do with that. What the
            // body asked for is done before another thread can take it over, and have to tell of it.
            defer {
                perform(&writer, &outcome)
                isToldOf = deliveries.add(outcome.deliveries)
                held = outcome.held
            }
            perform(&writer, &outcome)
            return try body(&writer, &outcome)
        }
    }

    /// Has something done under the writer's lock: now, or by the holder of the lock once that is done.
    ///
    /// For the end of tokens, which may come at any place, also inside an updater.
    func afterwards(_ task: @escaping Task) {
        withNextWrite(task)
        if !isWritingHere { performTasks() }
    }

    /// Has something done at the start of the next write. The caller may hold any lock: nothing is told
    /// now.
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

    /// Does what waits and tells of it, unless another thread has the lock: that looks again when it has let go of it.
    private func performTasks() {
        var isToldOf = false
        defer { if isToldOf { deliveries.deliver() } }
        // The list itself is asked: a thread that adds to it later finds the writer's lock free.
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
        // What is overlooked here is found when the lock is free again.
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

    /// Takes in what an input of the state did: journal, readers, subscriptions.
    /// - Parameter isCollection: whether the step forgets what is not read. Observers are told of the collection as
    ///   a whole.
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
        // What was there before goes when the lock is free again: it may be the last to hold many rows.
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

    /// The deliveries of one commit, with what observers are told around them.
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

    /// Waits until everything that has changed so far is in the journal, and on the disk. Without a journal it
    /// returns at once.
    /// - Throws: why it is not, when the journal refuses for now or has stopped; see ``journalStatus``.
    public func synchronize() async throws { try await journal?.synchronize() }

    /// Has `tell` called once everything that has changed so far is in the journal, and on the disk, or with why
    /// it is not; without a journal, always. Nothing is told now, so that this may be called inside a write:
    /// that is for ``tellOfDurability()``.
    ///
    /// Calls come in the order in which they were asked for, one after the other, outside all locks.
    ///
    /// - Parameter waitsOutRefusals: whether a journal that refuses for now is waited for. One that has
    ///   stopped is not.
    /// - Returns: for ``endWait(_:)``.
    package func awaitDurability(
        waitsOutRefusals: Bool, _ tell: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) -> DurabilityWaiter {
        let waiter = DurabilityWaiter(waitsOutRefusals: waitsOutRefusals, tell: tell)
        if let journal { journal.wait(waiter) } else { unjournaled.add(waiter) { 0 } }
        return waiter
    }

    /// One that waits is let go of, and not told.
    package func endWait(_ waiter: DurabilityWaiter) {
        if let journal { journal.endWait(waiter) } else { unjournaled.remove(waiter) }
    }

    /// Tells those who wait for what is durable already. To be called after ``awaitDurability(waitsOutRefusals:_:)``,
    /// outside all locks.
    package func tellOfDurability() {
        if let journal { journal.tellWaiters() } else { unjournaled.tell { (0, .keeping) } }
    }

    /// Keeps an event that is in the snapshot that the store was made of, and not in the journal yet.
    package func keep(_ event: NewEvent, behind sequence: UInt64) throws {
        try write { writer, _ in
            journal?.add([event], behind: sequence, confirmed: writer.state.confirmed)
        }
    }

    // MARK: Plans

    /// How a selector reads, prepared once for each fragment and its variables.
    func plan(_ selector: ReaderSelector) -> ReaderPlan {
        readers.withLock { plans in
            plans.plan(selector) {
                // Code that looks for names outside of the writer's lock has a state: so none of what it looks in goes.
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
        // What was read holds its numbers before the snapshot can go.
        defer { withExtendedLifetime(self) {} }
        return snapshot.read(selector, plan, previous: previous)
    }
}
