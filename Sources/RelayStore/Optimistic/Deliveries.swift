@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// Something that is to be told outside the writer's lock.
enum Delivery: Sendable {
    case call(@Sendable () -> Void)
    /// A subscriber's data has changed.
    case data(Listener, SelectorSnapshot)
    /// For those who watch the store.
    case event(StoreEvent)
}

/// What is to be told outside the writer's lock, in the order in which it came about.
///
/// The thread that adds something delivers everything that waits, unless another is at it; so a callback may
/// write to the store, and what comes of that is delivered after it, in order. A thread that adds nothing delivers
/// nothing: a thread that only collects garbage runs no callback of another thread's commit.
///
/// While a callback takes its time, deliveries wait. Beyond the limit those are dropped that newer ones stand in for:
/// of each subscriber the newest stays, and of events their number. A committing thread does not wait for a callback:
/// it may hold a lock that the callback needs.
final class Deliveries: Sendable {
    private struct State {
        var waiting: [Delivery] = []
        /// So many wait at most before some are dropped.
        var limit: Int
        var isDelivering = false
    }

    private let state: Lock<State>
    private let limit: Int
    /// Whether deliveries may wait: most commits leave none, and ask no lock then.
    private let mayWait = Atomic(false)
    private let observers: StoreObservers

    /// - Parameter limit: deliveries that may wait.
    init(_ observers: StoreObservers, limit: Int) {
        self.observers = observers
        self.limit = limit
        state = Lock(State(limit: limit))
    }

    /// Adds deliveries behind those that wait. Must be called under the writer's lock, which gives the order.
    /// - Returns: whether there were any: the caller then calls ``deliver()``, with no lock held.
    func add(_ deliveries: [Delivery]) -> Bool {
        if deliveries.isEmpty { return false }
        state.withLock { state in
            state.waiting += deliveries
            mayWait.store(true, ordering: .releasing)
            guard state.waiting.count > state.limit else { return }
            state.waiting = Self.newest(of: state.waiting)
            // Where so many subscribe that all that is left is more than may wait, the next look is a while off.
            state.limit = max(limit, 2 * state.waiting.count)
        }
        return true
    }

    /// Without what newer deliveries stand in for.
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

    /// Delivers what waits, with no lock held.
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
