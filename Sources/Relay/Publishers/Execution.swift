import Foundation
import Publishing
@_spi(Rooms) import Threads

/// One piece of work that starts with its first subscriber, is shared by all of them, and is
/// cancelled when the last of them leaves.
///
/// - While it runs, a later subscriber gets the newest value and what follows.
/// - Once it has finished, failed or been cancelled, the next subscriber restarts it, as subscribers to a
///   `dataTaskPublisher` do; so `retry` and `repeat` work as usual.
final class Execution<Output>: @unchecked Sendable {
    // Unchecked: everything is behind the lock; outputs cross threads as publishers' values always do.

    /// Does the work. Called outside the lock, once for each start.
    /// - Returns: what ends it early.
    typealias Start = (Run) -> AnyCancellable

    /// How the work of one start reports.
    struct Run {
        fileprivate let execution: Execution
        fileprivate let number: Int

        fileprivate var ending: () -> Void = {}

        /// Whether it still has a subscriber.
        var isWanted: Bool { execution.isRunning(number) }

        func send(_ value: Output) { execution.send(value, from: number) }

        func complete(_ completion: Subscribers.Completion<any Error>) {
            ending()
            execution.complete(completion, from: number)
        }

        /// The same, with something to be done before the completion is sent.
        func before(completion ending: @escaping () -> Void) -> Run {
            var run = self
            run.ending = ending
            return run
        }
    }

    private let start: Start
    private let lock = NSLock()
    private var state = ExecutionState<Output>()
    private var work: AnyCancellable?

    init(_ start: @escaping Start) { self.start = start }

    func attach<S: Subscriber>(_ subscriber: S)
    where S.Input == Output, S.Failure == any Error {
        let subscription = ExecutionSubscription(AnySubscriber(subscriber), execution: self)
        subscriber.receive(subscription: subscription)
        let (starts, run) = lock.withLock { () -> (Bool, Int) in
            // It may have been cancelled when it was received.
            (subscription.isActive && state.attach(subscription), state.runNumber)
        }
        guard starts else { return subscription.deliver() }
        let started = start(Run(execution: self, number: run))
        // It may have ended while it was starting: finished at once, or cancelled by the receiver of the first value.
        let wasCancelled = lock.withLock {
            if state.isRunning(run) { work = started }
            return state.wasCancelled(run)
        }
        if wasCancelled { started.cancel() }
    }

    fileprivate func detach(_ subscription: ExecutionSubscription<Output>) {
        let ended = lock.withLock { () -> AnyCancellable? in
            guard state.detach(subscription) else { return nil }
            defer { work = nil }
            return work
        }
        ended?.cancel()
    }

    private func isRunning(_ run: Int) -> Bool { lock.withLock { state.isRunning(run) } }

    private func send(_ value: Output, from run: Int) {
        let subscriptions = lock.withLock { state.send(value, from: run) }
        for subscription in subscriptions { subscription.deliver() }
    }

    private func complete(_ completion: Subscribers.Completion<any Error>, from run: Int) {
        let (subscriptions, ended) = lock.withLock {
            let subscriptions = state.complete(completion, from: run)
            defer { if !state.isRunning(state.runNumber) { work = nil } }
            return (subscriptions, work)
        }
        for subscription in subscriptions { subscription.deliver() }
        // Released here, outside the lock; the work has ended by itself.
        withExtendedLifetime(ended) {}
    }
}

/// The states of an ``Execution``, without its lock.
struct ExecutionState<Output> {
    private enum Phase {
        /// Not started, or the last run has ended.
        case idle
        case running
    }

    private var phase = Phase.idle
    private var newest: Output?
    private var subscriptions: [ExecutionSubscription<Output>] = []
    /// Counts starts, so that late reports of an ended run are ignored.
    private(set) var runNumber = 0
    private var cancelledRun = 0

    /// - Returns: whether the work must be started.
    mutating func attach(_ subscription: ExecutionSubscription<Output>) -> Bool {
        switch phase {
        case .idle:
            phase = .running
            runNumber += 1
            newest = nil
            subscriptions = [subscription]
            return true
        case .running:
            subscriptions.append(subscription)
            if let newest { subscription.enqueue(newest) }
        }
        return false
    }

    /// - Returns: whether that was the last one of a running execution, whose work must end.
    mutating func detach(_ subscription: ExecutionSubscription<Output>) -> Bool {
        subscriptions.removeAll { $0 === subscription }
        guard case .running = phase, subscriptions.isEmpty else { return false }
        phase = .idle
        cancelledRun = runNumber
        return true
    }

    mutating func send(_ value: Output, from run: Int) -> [ExecutionSubscription<Output>] {
        guard isRunning(run) else { return [] }
        newest = value
        for subscription in subscriptions { subscription.enqueue(value) }
        return subscriptions
    }

    mutating func complete(
        _ completion: Subscribers.Completion<any Error>, from run: Int
    ) -> [ExecutionSubscription<Output>] {
        guard isRunning(run) else { return [] }
        phase = .idle
        newest = nil
        for subscription in subscriptions { subscription.enqueue(completion) }
        defer { subscriptions = [] }
        return subscriptions
    }

    func isRunning(_ run: Int) -> Bool {
        if case .running = phase { run == runNumber } else { false }
    }

    func wasCancelled(_ run: Int) -> Bool { run == cancelledRun }
}

/// One subscriber to an ``Execution``: buffers values without demand.
final class ExecutionSubscription<Output>: Subscription, @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    /// How many values wait for a subscriber without demand; beyond that it fails.
    static var pendingLimit: Int { 1_024 }

    private let lock = NSLock()
    private var subscriber: AnySubscriber<Output, any Error>?
    /// Held while the subscriber is sent values.
    private var execution: Execution<Output>?
    private var demand = Subscribers.Demand.none
    private var pending = FIFO<Output>()
    private var completion: Subscribers.Completion<any Error>?
    /// Whether some thread is delivering values: values keep their order.
    private var isDelivering = false

    init(_ subscriber: AnySubscriber<Output, any Error>, execution: Execution<Output>) {
        self.subscriber = subscriber
        self.execution = execution
    }

    /// Whether the subscriber still wants something.
    var isActive: Bool { lock.withLock { subscriber != nil } }

    func request(_ more: Subscribers.Demand) {
        lock.withLock { demand += more }
        deliver()
    }

    func cancel() {
        let execution = lock.withLock { () -> Execution<Output>? in
            guard subscriber != nil else { return nil }
            subscriber = nil
            pending = FIFO()
            defer { self.execution = nil }
            return self.execution
        }
        execution?.detach(self)
    }

    /// Queues a value for ``deliver()``; the execution does so under its lock, which keeps all
    /// subscribers' values in one order.
    func enqueue(_ value: Output) {
        lock.withLock {
            guard subscriber != nil, completion == nil else { return }
            if pending.count < Self.pendingLimit {
                pending.append(value)
            } else {
                completion = .failure(SlowSubscriberError())
            }
        }
    }

    func enqueue(_ completion: Subscribers.Completion<any Error>) {
        lock.withLock { if self.completion == nil { self.completion = completion } }
    }

    /// Delivers what the subscriber has requested. Called without locks.
    func deliver() {
        lock.lock()
        guard !isDelivering else { return lock.unlock() }
        isDelivering = true
        while let subscriber {
            if demand > .none, let value = pending.popFirst() {
                demand -= 1
                lock.unlock()
                let more = subscriber.receive(value)
                lock.lock()
                demand += more
            } else if completion != nil, let execution {
                // Nothing more is kept for it, so it must not keep the work running, even while values wait.
                self.execution = nil
                lock.unlock()
                execution.detach(self)
                lock.lock()
            } else if pending.isEmpty, let completion {
                self.subscriber = nil
                lock.unlock()
                subscriber.receive(completion: completion)
                lock.lock()
            } else {
                break
            }
        }
        isDelivering = false
        lock.unlock()
    }
}

/// A subscriber requested no values while more than 1,024 arrived.
public struct SlowSubscriberError: SentenceError, Hashable, Sendable {
    public var errorDescription: String? {
        "The subscriber requested no values while more than 1,024 arrived; none follow those that are waiting."
    }
}

/// The publisher of an ``Execution``.
struct ExecutionPublisher<Output>: Publisher {
    typealias Failure = any Error

    let execution: Execution<Output>

    init(_ start: @escaping Execution<Output>.Start) { execution = Execution(start) }

    func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == any Error {
        execution.attach(subscriber)
    }
}
