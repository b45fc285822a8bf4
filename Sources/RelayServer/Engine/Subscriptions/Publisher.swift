import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import RelayStore
import Synchronization

/// Tells subscriptions what is durable: one commit, one result, in log order.
///
/// One queue takes commits and new subscriptions, so a subscription starts exactly between two commits:
/// what it is told first and what follows have neither gap nor overlap.
///
/// The queue is bounded: while ``GraphQLService/Limits/unpublishedCommits`` wait in it the writer takes no further
/// turn, so event subscriptions lose nothing. Live results only have to be the newest, so when commits pile up each
/// is executed once for many of them.
final class Publisher: Sendable {
    enum Message: Sendable {
        case steps([Step])
        case subscribe(SubscriptionRequest)
        case unsubscribe(any SubscriptionSink)

        fileprivate var stepCount: Int {
            if case .steps(let steps) = self { steps.count } else { 0 }
        }
    }

    /// Subscriptions that may wait to begin.
    static let subscriptionLimit = 65_536
    /// When more commits than these have piled up, live results are executed once for many of them.
    static let pileLimit = 32
    /// Commits that are worked off together.
    private static let batchLimit = 1_024

    private let deliver: @Sendable ([Delivery]) -> Void
    private let catchUp: @Sendable (SubscriptionRequest, UInt64) -> Void
    private let settle: @Sendable () async -> Void
    private let tasks: EngineTasks
    private let queue: SerialQueue<Message>
    private let outgoing: OutgoingDeliveries
    private let table: Mutex<SubscriptionTable>
    /// Commits that may wait before the writer has to; beside those that it has appended by then.
    private let stepLimit: Int
    /// Deliveries after which the sinks are waited for, beside those of one batch.
    private let deliveryLimit: Int
    private let toldThrough: Atomic<UInt64>
    private let lastFigures = Mutex(SubscriptionTable.Figures())
    private let waitingSteps = Atomic(0)
    private let onRoom = Mutex<@Sendable () -> Void>({})

    /// - Parameters:
    ///   - deliver: called with what each batch of messages leads to, in order.
    ///   - settle: returns when everything that was handed to `deliver` has been taken by the sinks.
    ///   - catchUp: takes a subscription to be resumed behind an event for which the log has to be read.
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
        stepLimit = limits.unpublishedCommits
        deliveryLimit = limits.undeliveredResults
        let outgoing = OutgoingDeliveries(limit: deliveryLimit)
        self.outgoing = outgoing
        queue = SerialQueue(limit: Publisher.subscriptionLimit, tasks: tasks) {
            !outgoing.isWaitedFor
        }
        toldThrough = Atomic(table.snapshot.sequence)
        self.table = Mutex(table)
    }

    /// Whether more commits should come.
    var hasRoom: Bool { waitingStepCount < stepLimit }

    /// Commits that wait.
    var waitingStepCount: Int { waitingSteps.load(ordering: .acquiring) }

    /// Says whom to call when there is room again.
    func whenRoom(_ action: @escaping @Sendable () -> Void) { onRoom.withLock { $0 = action } }

    /// Takes what is durable, and subscriptions that end.
    func post(_ message: Message) { _ = post(message, isLimited: false) }

    /// Takes a subscription that begins. False when too many wait to.
    func subscribe(_ request: SubscriptionRequest) -> Bool {
        post(.subscribe(request), isLimited: true)
    }

    private func post(_ message: Message, isLimited: Bool) -> Bool {
        waitingSteps.add(message.stepCount, ordering: .acquiringAndReleasing)
        return queue.post(message, isLimited: isLimited) { self.work(off: &$0) }
    }

    private func work(off messages: inout ArraySlice<Message>) {
        var stepCount = 0
        let batch = messages.prefix { message in
            defer { stepCount += message.stepCount }
            return stepCount < Self.batchLimit
        }
        let isBehind = waitingStepCount > Self.pileLimit
        let (handledCount, sequence) = table.withLock { table in
            let count = table.handle(
                batch, isBehind: isBehind, deliveryLimit: deliveryLimit
            ) { output in hand(output) }
            return (count, table.snapshot.sequence)
        }
        stepCount = batch.prefix(handledCount).reduce(0) { $0 + $1.stepCount }
        messages = messages.dropFirst(handledCount)
        toldThrough.store(sequence, ordering: .releasing)
        let (before, _) = waitingSteps.subtract(stepCount, ordering: .acquiringAndReleasing)
        assert(before >= stepCount, "what was handled has waited")
        if before >= stepLimit { onRoom.withLock { $0 }() }
        waitForSinks()
    }

    /// Goes on only when the sinks have taken what was handed over, if that is much.
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
        outgoing.add(output.deliveries.count)
        if !output.deliveries.isEmpty { deliver(output.deliveries) }
        for (request, sequence) in output.behind { catchUp(request, sequence) }
    }

    /// Messages that it has not come to.
    var waitingCount: Int { queue.count }

    /// As of what was handed over last; nobody who asks waits for a batch.
    var figures: SubscriptionTable.Figures { lastFigures.withLock { $0 } }

    /// Whatever this commit and those before it lead to has been handed to `deliver`.
    var deliveredThrough: UInt64 { toldThrough.load(ordering: .acquiring) }
}

/// Deliveries that were handed over since the sinks were last waited for. Used by the queue's handler, and by
/// the task that waits.
private final class OutgoingDeliveries: Sendable {
    private let count = Atomic(0)
    private let isWaiting = Atomic(false)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isWaitedFor: Bool { isWaiting.load(ordering: .acquiring) }

    func add(_ number: Int) { count.add(number, ordering: .acquiringAndReleasing) }

    func beginWaiting() -> Bool {
        guard count.load(ordering: .acquiring) >= limit else { return false }
        isWaiting.store(true, ordering: .releasing)
        return true
    }

    func endWaiting() {
        count.store(0, ordering: .releasing)
        isWaiting.store(false, ordering: .releasing)
    }
}
