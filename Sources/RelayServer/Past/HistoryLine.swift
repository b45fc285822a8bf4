import Dispatch
import EventStore
@_spi(Rooms) import Threads

/// Work on a history that waits for its turn: so much of it is done at a time, on threads of their own, and so much may
/// wait.
final class HistoryLine: Sendable {
    struct Job: Sendable {
        /// What the work may cost; given up when nobody waits for it.
        let allowance: HistoryAllowance
        let work: @Sendable () -> Void
    }

    private struct State {
        var waiting = FIFO<Job>()
        /// Of the work that is being done.
        var running: [ObjectIdentifier: HistoryAllowance] = [:]
        var isStopped = false
    }

    private let threads: Int
    private let waitingLimit: Int
    private let state = Lock(State())

    /// - Parameters:
    ///   - threads: how much is done at a time.
    ///   - waitingLimit: how much more may wait.
    init(threads: Int, waitingLimit: Int) {
        self.threads = threads
        self.waitingLimit = waitingLimit
    }

    /// - Returns: false if there is no room: then it is not done.
    func post(_ job: Job) -> Bool {
        let (isTaken, starts) = state.withLock { state in
            if state.isStopped { return (false, false) }
            if state.running.count < threads {
                state.running[ObjectIdentifier(job.allowance)] = job.allowance
                return (true, true)
            }
            guard state.waiting.count < waitingLimit else { return (false, false) }
            state.waiting.append(job)
            return (true, false)
        }
        if starts {
            DispatchQueue(label: "relay.history", qos: .utility).async { self.run(job) }
        }
        return isTaken
    }

    private func run(_ first: Job) {
        var next: Job? = first
        while let job = next {
            job.work()
            next = state.withLock { state in
                state.running[ObjectIdentifier(job.allowance)] = nil
                let next = state.waiting.popFirst()
                if let next { state.running[ObjectIdentifier(next.allowance)] = next.allowance }
                return next
            }
        }
    }

    /// Gives up whatever is being done, and waits; nothing more is taken.
    func giveUp() {
        let allowances = state.withLock { state in
            state.isStopped = true
            return state.waiting.map(\.allowance) + Array(state.running.values)
        }
        for allowance in allowances { allowance.giveUp() }
    }

    var waitingCount: Int { state.withLock { $0.waiting.count } }
}
