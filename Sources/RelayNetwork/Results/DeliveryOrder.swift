import Relay
import Threads

/// Runs what is handed over one after the other, in order, on the concurrent pool: the responses of one
/// network reach their subscribers in the order in which they came, whichever operations they are for.
///
/// What has come while something was handed over is one burst: it is written to the store in one step.
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
