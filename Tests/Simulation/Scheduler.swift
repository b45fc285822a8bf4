import BoundedTesting
import DiskSimulation
import EventLog
import Synchronization
import Threads

/// Runs everything of one process on the caller's thread, one piece after the other, in an order that a seed
/// decides: the engine's tasks, the log's threads, and what waits for time to pass.
///
/// A call to the disk and a look at the clock are places where others go on: while the log's thread writes, tasks
/// run; while a task looks at the clock, the log's threads do.
final class Scheduler: TaskExecutor, LogRunner, LogClock {
    private struct State {
        var jobs: [UnownedJob] = []
        var workers: [Worker] = []
        var timers: [Timer] = []
        var timerCount = 0
        /// Nanoseconds since the simulation began.
        var time: UInt64
        var random: SeededGenerator
        var isInJob = false
        var isInWorker = false
        /// No thread gets a turn.
        var threadsRest = false
    }

    private struct Timer {
        let due: UInt64
        let number: Int
        let isOfClient: Bool
        let action: @Sendable () -> Void
    }

    private let state: Lock<State>

    init(time: UInt64, random: SeededGenerator) {
        state = Lock(State(time: time, random: random))
    }

    // MARK: What is to be run

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    func start(_ step: @escaping @Sendable () -> LogStep) -> any LogThread {
        let worker = Worker(step)
        state.withLock { $0.workers.append(worker) }
        return worker
    }

    func later(
        _ delay: Duration, isOfClient: Bool = false, _ action: @escaping @Sendable () -> Void
    ) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        state.withLock { state in
            state.timerCount += 1
            state.timers.append(
                Timer(
                    due: state.time + nanoseconds, number: state.timerCount, isOfClient: isOfClient,
                    action: action))
        }
    }

    /// Clients outlive the process: what they wait for goes on.
    func moveTimers(to other: Scheduler) {
        let timers = state.withLock { state in
            defer { state.timers = [] }
            return state.timers.filter(\.isOfClient)
        }
        other.state.withLock { state in
            for timer in timers {
                state.timerCount += 1
                state.timers.append(
                    Timer(
                        due: timer.due, number: state.timerCount, isOfClient: true,
                        action: timer.action))
            }
        }
    }

    /// Nobody goes on. Who waits for a turn or for time holds the scheduler, and would be held by it for ever.
    func stop() {
        // Released when they are out of the lock.
        let waiting = state.withLock { state in
            defer { (state.workers, state.timers) = ([], []) }
            return (state.workers, state.timers)
        }
        _ = waiting
    }

    // MARK: Time

    var now: UInt64 { state.withLock { $0.time } }

    func sleep(until moment: UInt64) -> Duration? { nil }

    func whenPassing(_ wake: @escaping @Sendable () -> Void) {}

    /// Lets time pass in small steps, in each of which the log's threads get their turn: they are never kept waiting
    /// for longer.
    func pass(milliseconds: Int) {
        for _ in 0..<max(milliseconds / Self.stepMilliseconds, 1) {
            let due = state.withLock { state in
                state.time += UInt64(Self.stepMilliseconds) * 1_000_000
                let due = state.timers.filter { $0.due <= state.time }
                state.timers.removeAll { $0.due <= state.time }
                return due.sorted { ($0.due, $0.number) < ($1.due, $1.number) }
            }
            for timer in due { timer.action() }
            while runWorker() {}
        }
    }

    static let stepMilliseconds = 5

    /// A step of time in which each thread does one thing, so that what comes fast enough keeps them busy.
    func passBusily() {
        let workers = state.withLock { state -> [Worker] in
            state.time += UInt64(Self.stepMilliseconds) * 1_000_000
            return state.workers.shuffled(using: &state.random)
        }
        for worker in workers {
            state.withLock { $0.isInWorker = true }
            _ = worker.step()
            state.withLock { $0.isInWorker = false }
        }
    }

    // MARK: Running

    /// Runs one thing. False when there is nothing to do.
    func turn() -> Bool {
        let prefersJob = state.withLock { Bool.random(using: &$0.random) }
        return prefersJob ? runJob() || runWorker() : runWorker() || runJob()
    }

    /// Tasks go on, and no thread does: the disk takes its time.
    func whileThreadsRest(_ body: () -> Void) {
        state.withLock { $0.threadsRest = true }
        body()
        state.withLock { $0.threadsRest = false }
    }

    /// Runs until there is nothing to do.
    func settle() { while turn() {} }

    /// What others do while somebody waits for the disk, or is just about to do something.
    func pause() {
        let (isInJob, isInWorker, count) = state.withLock { state in
            (state.isInJob, state.isInWorker, Int.random(in: 0...3, using: &state.random))
        }
        for _ in 0..<count {
            if isInWorker, !isInJob { _ = runJob() }
            if isInJob, !isInWorker { _ = runWorker() }
        }
    }

    private func runJob() -> Bool {
        let job = state.withLock { state -> UnownedJob? in
            guard !state.isInJob, !state.jobs.isEmpty else { return nil }
            state.isInJob = true
            return state.jobs.remove(
                at: Int.random(in: state.jobs.indices, using: &state.random))
        }
        guard let job else { return false }
        job.runSynchronously(on: asUnownedTaskExecutor())
        state.withLock { $0.isInJob = false }
        return true
    }

    private func runWorker() -> Bool {
        let workers = state.withLock { state -> [Worker] in
            if state.isInWorker || state.threadsRest { return [] }
            state.workers.removeAll(where: \.isEnded)
            return state.workers.shuffled(using: &state.random)
        }
        for worker in workers {
            state.withLock { $0.isInWorker = true }
            defer { state.withLock { $0.isInWorker = false } }
            if worker.step() { return true }
        }
        return false
    }
}

/// A thread of the log's, in steps.
private final class Worker: LogThread {
    private let stepping: @Sendable () -> LogStep
    private let ended = Atomic(false)

    init(_ step: @escaping @Sendable () -> LogStep) { stepping = step }

    var isEnded: Bool { ended.load(ordering: .relaxed) }

    /// - Returns: whether there was something to do.
    func step() -> Bool {
        if isEnded { return false }
        switch stepping() {
        case .worked: return true
        case .idle: return false
        case .ended:
            ended.store(true, ordering: .relaxed)
            return true
        }
    }

    func join() {
        while !isEnded {
            precondition(step(), "a thread that is waited for, and waits itself, waits for ever")
        }
    }
}
