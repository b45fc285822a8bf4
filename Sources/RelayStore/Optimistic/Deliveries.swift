import Synchronization
import Threads

/// What is to be told outside the writer's lock, in the order in which it came about.
///
/// Whoever adds something delivers everything that waits, unless somebody is at it; so a callback may
/// write to the store, and what comes of that is delivered after it, in order.
final class Deliveries: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isDelivering = false
    }

    private let state = Lock(State())
    /// Whether calls may wait: most commits leave none, and ask no lock then.
    private let mayWait = Atomic(false)

    /// Adds calls behind those that wait. Must be called under the writer's lock, which gives the order.
    func add(_ calls: [@Sendable () -> Void]) {
        if calls.isEmpty { return }
        state.withLock { state in
            state.waiting += calls
            mayWait.store(true, ordering: .releasing)
        }
    }

    /// Makes the calls that wait, with no lock held.
    func deliver() {
        while mayWait.load(ordering: .acquiring) {
            let calls = state.withLock { state -> [@Sendable () -> Void] in
                if state.isDelivering { return [] }
                if state.waiting.isEmpty {
                    mayWait.store(false, ordering: .relaxed)
                    return []
                }
                state.isDelivering = true
                defer { state.waiting = [] }
                return state.waiting
            }
            if calls.isEmpty { return }
            for call in calls { call() }
            state.withLock { $0.isDelivering = false }
        }
    }
}
