@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// A notification to be made outside the writer's lock.
enum Delivery: Sendable {
    case call(@Sendable () -> Void)
    /// A subscriber's data has changed.
    case data(Listener, SelectorSnapshot)
    /// For the store's observers.
    case event(StoreEvent)
}

/// Notifications to be made outside the writer's lock, in the order of their causes.
///
/// The thread that adds something delivers everything that waits, unless another is already doing so. So a callback may
/// write to the store; the resulting notifications come after it, in order. A thread that adds nothing delivers
/// nothing: a thread that only collects garbage runs no callback of another thread's commit.
///
/// Deliveries wait while a callback runs. Over the limit, those superseded by newer ones are dropped: each subscriber
/// keeps the newest, and events are reduced to a count. There is no back-pressure: a committing thread may hold a lock
/// that the callback needs, so it does not wait.
final class Deliveries: Sendable {
    private struct State {
        var waiting: [Delivery] = []
        /// How many may wait before some are dropped.
        var limit: Int
        var isDelivering = false
    }

    private let state: Lock<State>
    private let limit: Int
    /// Whether deliveries may be waiting: most commits leave none, and then take no lock.
    private let mayWait = Atomic(false)
    private let observers: StoreObservers

    /// - Parameter limit: how many deliveries may wait.
    init(_ observers: StoreObservers, limit: Int) {
        self.observers = observers
        self.limit = limit
        state = Lock(State(limit: limit))
    }

    /// Queues deliveries after those waiting. Must be called under the writer's lock, which sets the order.
    /// - Returns: whether there were any: the caller then calls ``deliver()``, with no lock held.
    func add(_ deliveries: [Delivery]) -> Bool {
        if deliveries.isEmpty { return false }
        state.withLock { state in
            state.waiting += deliveries
            mayWait.store(true, ordering: .releasing)
            guard state.waiting.count > state.limit else { return }
            state.waiting = Self.newest(of: state.waiting)
            // If there are so many subscribers that what is left exceeds the limit, put off the next check.
            state.limit = max(limit, 2 * state.waiting.count)
        }
        return true
    }

    /// Drops what newer deliveries supersede.
    private static func newest(of deliveries: [Delivery]) -> [Delivery] {
        var newest: [Delivery] = []
        var listeners: Set<ObjectIdentifier> = []
        var eventCount = 0
        for delivery in deliveries.reversed() {
            switch delivery {
            case .call: newest.append(delivery)
            case .data(let listener, _):
                if listeners.insert(ObjectIdentifier(listener)).inserted { newest.append(delivery) }
            case .event(.dropped(let count)): eventCount += count
            case .event: eventCount += 1
            }
        }
        if eventCount > 0 { newest.append(.event(.dropped(events: eventCount))) }
        return newest.reversed()
    }

    /// Delivers what is waiting, with no lock held.
    func deliver() {
        while mayWait.load(ordering: .acquiring) {
            let deliveries = state.withLock { state -> [Delivery] in
                if state.isDelivering { return [] }
                if state.waiting.isEmpty {
                    mayWait.store(false, ordering: .relaxed)
                    return []
                }
                state.isDelivering = true
                defer {
                    state.waiting = []
                    state.limit = limit
                }
                return state.waiting
            }
            if deliveries.isEmpty { return }
            for delivery in deliveries { perform(delivery) }
            state.withLock { $0.isDelivering = false }
        }
    }

    private func perform(_ delivery: Delivery) {
        switch delivery {
        case .call(let call): call()
        case .data(let listener, let snapshot): listener.tell(snapshot)
        case .event(let event): observers.tell(event)
        }
    }
}
