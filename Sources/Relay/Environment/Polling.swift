import Foundation
import Publishing

/// Fetches a query repeatedly, each time a number of seconds after the previous fetch has ended.
final class Polling: @unchecked Sendable {
    // Unchecked: what changes is behind the lock.

    private let environment: Environment
    private let operation: OperationDescriptor
    private let cacheConfig: CacheConfig
    private let updater: SelectorStoreUpdater?
    private let run: Execution<GraphQLResponse>.Run
    private let lock = NSLock()
    private var request: AnyCancellable?
    private var timer: AnyCancellable?
    private var isCancelled = false
    /// Counts requests. Whatever belongs to an earlier one is over and replaces nothing.
    private var round = 0

    init(
        _ environment: Environment, _ operation: OperationDescriptor, _ cacheConfig: CacheConfig,
        _ updater: SelectorStoreUpdater?, _ run: Execution<GraphQLResponse>.Run
    ) {
        self.environment = environment
        self.operation = operation
        self.cacheConfig = cacheConfig
        self.updater = updater
        self.run = run
    }

    func begin() -> AnyCancellable {
        fetch(force: cacheConfig.force)
        return AnyCancellable { [self] in cancel() }
    }

    private func fetch(force: Bool) {
        var once = cacheConfig
        once.poll = nil
        once.force = force
        let round = lock.withLock {
            self.round += 1
            return self.round
        }
        let request = environment.execute(
            operation: operation, cacheConfig: once, updater: updater
        ).sink(
            receiveCompletion: { [self] completion in
                switch completion {
                case .failure: run.complete(completion)
                case .finished: wait(behind: round)
                }
            },
            receiveValue: { [self] in run.send($0) })
        hold(request, at: \.request, of: round)
    }

    private func wait(behind round: Int) {
        hold(
            environment.scheduler.schedule(after: max(cacheConfig.poll ?? 0, 0.01)) { [self] in
                if !lock.withLock({ isCancelled }) { fetch(force: true) }
            }, at: \.timer, of: round)
    }

    /// Holds what can be cancelled; a network that answers at once has the timer set before the request
    /// gets here, so each has its own slot. The timer may even have fired.
    private func hold(
        _ next: AnyCancellable, at place: ReferenceWritableKeyPath<Polling, AnyCancellable?>,
        of round: Int
    ) {
        let isOver = lock.withLock {
            if !isCancelled, round == self.round { self[keyPath: place] = next }
            return isCancelled
        }
        if isOver { next.cancel() }
    }

    private func cancel() {
        let (request, timer) = lock.withLock {
            isCancelled = true
            defer { (self.request, self.timer) = (nil, nil) }
            return (self.request, self.timer)
        }
        request?.cancel()
        timer?.cancel()
    }
}
