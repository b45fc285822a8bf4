import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// Notifies subscriptions of what is durable: one result per commit, in log order.
///
/// One queue takes commits and new subscriptions, so a subscription starts exactly between two commits: there
/// is neither a gap nor an overlap between its first result and what follows.
///
/// The queue is bounded. While ``GraphQLService/Limits/unpublishedCommits`` or
/// ``GraphQLService/Limits/unpublishedBytes`` is reached, the writer takes no further turn, so event
/// subscriptions lose nothing. Live results only have to be the newest, so when commits pile up, each live
/// query is executed once for many of them.
final class Publisher: Sendable {
    enum Message: Sendable {
        case step(Step)
        /// - Parameter share: what it takes up while it waits, if that is counted.
        case subscribe(PreparedSubscription, share: SharedMemory.Share? = nil)
        case unsubscribe(any SubscriptionSink)

        fileprivate var step: Step? { if case .step(let step) = self { step } else { nil } }

        fileprivate var share: SharedMemory.Share? {
            if case .subscribe(_, let share) = self { share } else { nil }
        }
    }

    /// Commits waiting to be published.
    private struct Waiting {
        var count = 0
        var byteCount = 0

        init(count: Int = 0, byteCount: Int = 0) {
            self.count = count
            self.byteCount = byteCount
        }

        init(_ steps: some Sequence<Step>) {
            for step in steps {
                count += 1
                byteCount += step.publication.byteCount
            }
        }

        func isBelow(_ limit: Waiting) -> Bool {
            count < limit.count && byteCount < limit.byteCount
        }
    }

    /// If more commits than this pile up, live queries are executed once for many of them.
    static let pileLimit = 32
    /// The number of messages processed together.
    private static let batchLimit = 1_024

    private let deliver: @Sendable ([Delivery]) -> Void
    private let catchUp: @Sendable (SubscriptionRequest, UInt64) -> Void
    private let settle: @Sendable () async -> Void
    private let tasks: EngineTasks
    private let queue: SerialQueue<Message>
    private let beginning: BeginningSubscriptions
    private let outgoing: OutgoingDeliveries
    private let table: Lock<SubscriptionTable>
    /// Commits that may wait before the writer has to pause, not counting those it has already appended.
    private let stepLimit: Waiting
    private let toldThrough: Atomic<UInt64>
    private let lastFigures = Lock(SubscriptionTable.Figures())
    private let waitingSteps = Lock(Waiting())
    private let onRoom = Lock<@Sendable () -> Void>({})

    /// - Parameters:
    ///   - deliver: called with the deliveries of each batch of messages, in order.
    ///   - settle: returns once the sinks have taken everything handed to `deliver`.
    ///   - catchUp: takes a subscription to be resumed after an event, for which the log has to be read.
    init(
        _ table: sending SubscriptionTable, limits: GraphQLService.Limits = .init(),
        tasks: EngineTasks,
        deliver: @escaping @Sendable ([Delivery]) -> Void,
        settle: @escaping @Sendable () async -> Void,
        catchUp: @escaping @Sendable (SubscriptionRequest, UInt64) -> Void
    ) {
        self.deliver = deliver
        self.settle = settle
        self.tasks = tasks
        self.catchUp = catchUp
        stepLimit = Waiting(
            count: limits.unpublishedCommits, byteCount: limits.unpublishedBytes)
        beginning = BeginningSubscriptions(byteLimit: limits.beginningBytes)
        // Not counting the excess of a single message.
        let outgoing = OutgoingDeliveries(
            limit: DeliverySize(
                count: limits.undeliveredResults, byteCount: limits.undeliveredResultBytes))
        self.outgoing = outgoing
        queue = SerialQueue(
            limit: limits.beginningSubscriptions, batchLimit: Self.batchLimit, tasks: tasks
        ) {
            !outgoing.isWaitedFor
        }
        toldThrough = Atomic(table.snapshot.sequence)
        self.table = Lock(table)
    }

    /// Whether there is room for more commits.
    var hasRoom: Bool { waitingSteps.withLock { $0.isBelow(stepLimit) } }

    /// The number of waiting commits.
    var waitingStepCount: Int { waitingSteps.withLock { $0.count } }

    /// Sets the action to call when there is room again.
    func whenRoom(_ action: @escaping @Sendable () -> Void) { onRoom.withLock { $0 = action } }

    /// Takes what has become durable, in log order.
    func post(_ steps: [Step]) {
        let new = Waiting(steps)
        waitingSteps.withLock { waiting in
            waiting.count += new.count
            waiting.byteCount += new.byteCount
        }
        _ = queue.post(contentsOf: steps.map(Message.step), isLimited: false) {
            self.work(off: &$0)
        }
    }

    /// Takes a new subscription. False if too many are waiting to start, or they take up too much.
    func subscribe(_ request: PreparedSubscription) -> Bool {
        guard let share = beginning.admit(request) else { return false }
        let isTaken = queue.post(.subscribe(request, share: share)) { self.work(off: &$0) }
        if !isTaken { beginning.remove([share]) }
        return isTaken
    }

    /// Returns once a subscription that was accepted before should be prepared for ``goOn(_:)``.
    func roomToGoOn() async { await beginning.room() }

    /// Takes a subscription that was accepted before.
    func goOn(_ request: PreparedSubscription) {
        let share = beginning.add(request)
        _ = queue.post(.subscribe(request, share: share), isLimited: false) { self.work(off: &$0) }
    }

    func unsubscribe(_ sink: any SubscriptionSink) {
        _ = queue.post(.unsubscribe(sink), isLimited: false) { self.work(off: &$0) }
    }

    /// Those that wait until there is room to go on.
    var waitingToGoOn: Int { beginning.waitingCount }

    private func work(off messages: inout ArraySlice<Message>) {
        let batch = messages
        let isBehind = waitingStepCount > Self.pileLimit
        let (handledCount, sequence) = table.withLock { table in
            let count = table.handle(
                batch, isBehind: isBehind, limit: outgoing.room
            ) { output in hand(output) }
            return (count, table.snapshot.sequence)
        }
        let handled = Waiting(batch.prefix(handledCount).lazy.compactMap(\.step))
        beginning.remove(batch.prefix(handledCount).compactMap(\.share))
        messages = messages.dropFirst(handledCount)
        toldThrough.store(sequence, ordering: .releasing)
        let wasFull = waitingSteps.withLock { waiting in
            assert(waiting.count >= handled.count, "what was handled has waited")
            defer {
                waiting.count -= handled.count
                waiting.byteCount -= handled.byteCount
            }
            return !waiting.isBelow(stepLimit)
        }
        if wasFull { onRoom.withLock { $0 }() }
        waitForSinks()
    }

    /// If much was handed over, pauses until the sinks have taken it.
    private func waitForSinks() {
        guard outgoing.beginWaiting() else { return }
        tasks.start { [self] in
            await settle()
            outgoing.endWaiting()
            queue.resume { self.work(off: &$0) }
        }
    }

    private func hand(_ output: SubscriptionTable.Output) {
        lastFigures.withLock { $0 = output.figures }
        outgoing.add(output.size)
        if !output.deliveries.isEmpty { deliver(output.deliveries) }
        for (request, sequence) in output.behind { catchUp(request, sequence) }
    }

    /// Messages not processed yet.
    var waitingCount: Int { queue.count }

    /// As of the last hand-over; reading them does not wait for a batch.
    var figures: SubscriptionTable.Figures { lastFigures.withLock { $0 } }

    /// The groups whose executions have taken longest, those first. Waits for the batch that is being handled, and is
    /// waited for by the next one.
    func groupFigures(limit: Int) -> [GroupFigures] {
        table.withLock { table in
            table.groups.values.largest(limit, by: \.cost.time).map(GroupFigures.init)
        }
    }

    /// Everything caused by commits up to and including this one has been handed to `deliver`.
    var deliveredThrough: UInt64 { toldThrough.load(ordering: .acquiring) }
}

/// Deliveries handed over since the last wait for the sinks. Used by the queue's handler and by the waiting
/// task.
private final class OutgoingDeliveries: Sendable {
    private struct State {
        var size = DeliverySize()
        var isWaitedFor = false
    }

    private let state = Lock(State())
    private let limit: DeliverySize

    init(limit: DeliverySize) { self.limit = limit }

    var isWaitedFor: Bool { state.withLock { $0.isWaitedFor } }

    /// What may still be handed over before waiting for the sinks.
    var room: DeliverySize {
        let size = state.withLock { $0.size }
        return DeliverySize(
            count: limit.count - size.count, byteCount: limit.byteCount - size.byteCount)
    }

    func add(_ size: DeliverySize) { state.withLock { $0.size += size } }

    /// - Returns: whether to wait for the sinks.
    func beginWaiting() -> Bool {
        state.withLock { state in
            if state.size.isBelow(limit) { return false }
            state.isWaitedFor = true
            return true
        }
    }

    func endWaiting() { state.withLock { $0 = State() } }
}
