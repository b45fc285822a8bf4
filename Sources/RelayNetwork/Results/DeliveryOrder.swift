import Relay
import Threads

/// Runs work items one after another, in order, on the concurrent pool: the responses of one network
/// reach their subscribers in order of arrival, whichever operations they are for.
///
/// Responses that arrive during a delivery form one burst: they are written to the store in one step.
final class DeliveryOrder: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Lock(State())

    func perform(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task { self.run() } }
    }

    private func run() {
        while true {
            let batch = state.withLock { state in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return state.waiting
            }
            if batch.isEmpty { return }
            ResponseBurst.gather { for work in batch { work() } }
        }
    }
}
