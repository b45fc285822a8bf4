import Foundation

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// Fetches a query again and again, each time so many seconds after the one before has ended.
final class Polling: @unchecked Sendable {
    // Unchecked: what changes is behind the lock.

    private let environment: Environment
    private let operation: OperationDescriptor
    private let cacheConfig: CacheConfig
    private let run: Execution<GraphQLResponse>.Run
    private let lock = NSLock()
    private var current: AnyCancellable?
    private var isCancelled = false

    init(
        _ environment: Environment, _ operation: OperationDescriptor, _ cacheConfig: CacheConfig,
        _ run: Execution<GraphQLResponse>.Run
    ) {
        self.environment = environment
        self.operation = operation
        self.cacheConfig = cacheConfig
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
        let request = environment.execute(operation: operation, cacheConfig: once).sink(
            receiveCompletion: { [self] completion in
                switch completion {
                case .failure: run.complete(completion)
                case .finished: wait()
                }
            },
            receiveValue: { [self] in run.send($0) })
        hold(request)
    }

    private func wait() {
        hold(
            environment.scheduler.schedule(after: cacheConfig.poll ?? 0) { [self] in
                if !lock.withLock({ isCancelled }) { fetch(force: true) }
            })
    }

    private func hold(_ next: AnyCancellable) {
        let isOver = lock.withLock {
            if !isCancelled { current = next }
            return isCancelled
        }
        if isOver { next.cancel() }
    }

    private func cancel() {
        let current = lock.withLock {
            isCancelled = true
            defer { self.current = nil }
            return self.current
        }
        current?.cancel()
    }
}
