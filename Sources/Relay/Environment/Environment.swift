@_spi(Rooms) public import RelayStore

/// Changes records of the store after an operation's result was written to it. The data is nil if the
/// result could not be read, or if there is none yet. Throwing leaves the records as they were.
public typealias SelectorStoreUpdater =
    (inout any RecordSourceSelectorProxy, SelectorData?) throws -> Void

/// What a program needs to work with one GraphQL service: the network to reach it, and the store that
/// holds its data.
///
/// Keep one for the lifetime of the program. Any thread may use it; results are delivered on the
/// network's delivery thread, and nothing needs a main run loop.
public class Environment: @unchecked Sendable {
    // Unchecked: a network is any class of the program (`protocol Network` does not require `Sendable`,
    // or the simplest ones would not compile). Its `execute` is called from whichever thread subscribes,
    // as with every publisher. Everything else here is constant, or behind a lock.

    /// How operations reach the server.
    public let network: any Network
    /// What is known of the service's data.
    public let store: Store
    let tracker = OperationTracker()
    let transactions = MutationIDs()
    let queries = SharedQueries()
    let scheduler: any Scheduling
    let log: ExecutionLog
    let outbox = Outbox()
    let others = OthersRecords()
    let kept: KeptQueries
    private let gaps: GapRecovery

    /// - Parameters:
    ///   - network: how operations reach the server.
    ///   - store: what is known of the service's data.
    ///   - handlerProvider: what `@connection` and the like do with their fields.
    public convenience init(
        network: any Network, store: Store,
        handlerProvider: any HandlerProvider = DefaultHandlerProvider()
    ) {
        self.init(
            network: network, store: store, handlerProvider: handlerProvider,
            scheduler: DispatchScheduler())
    }

    init(
        network: any Network, store: Store, handlerProvider: any HandlerProvider,
        scheduler: any Scheduling
    ) {
        self.network = network
        self.store = store
        store.use(handlerProvider)
        self.scheduler = scheduler
        log = ExecutionLog(store)
        gaps = GapRecovery(store)
        kept = KeptQueries(store)
    }

    /// Whether a request like this one is being executed.
    public func isActive(request: RequestDescriptor) -> Bool { tracker.isActive(request) }

    /// What to do when a stream goes on over a new connection and its server reports missed events: what the
    /// store shows may be out of date. By default, the store is made stale and the retained queries are
    /// fetched again.
    public var gapPolicy: GapPolicy {
        get { gaps.policy }
        set { gaps.policy = newValue }
    }

    /// What to do with a mutation whose intent the store's journal rejects. By default it is held back.
    public var unkeptMutations: UnkeptMutationPolicy {
        get { outbox.policy }
        set { outbox.policy = newValue }
    }

    /// A stream has missed events.
    func missedEvents() { gaps.begin(self) }

    /// Whether a notice of missed events would make what is in the store stale.
    var isNextNoticeNew: Bool { gaps.isNextNoticeNew }
}
