import Foundation
import RelayStore

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// What an environment does when a stream has missed events.
public enum GapPolicy: Hashable, Sendable {
    /// Everything that was fetched counts as stale, and the queries that somebody retains are fetched
    /// again at once.
    case refetch
    /// Everything that was fetched counts as stale: whoever asks for it next fetches it.
    case invalidate
    /// The program does what is to be done; the event `network.info` tells it.
    case ignore
}

/// Brings a store up to date after events were missed.
///
/// Many streams that go on over one new connection tell of one gap. While queries are being fetched again,
/// another gap is remembered; they are then fetched once more, because an answer may be older than it.
final class GapRecovery: @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let store: Store
    private let lock = NSLock()
    private var chosen = GapPolicy.refetch
    private var isRunning = false
    private var isDueAgain = false
    private var unanswered = 0
    private var requests: [AnyCancellable] = []

    init(_ store: Store) { self.store = store }

    var policy: GapPolicy {
        get { lock.withLock { chosen } }
        set { lock.withLock { chosen = newValue } }
    }

    func begin(_ environment: Environment) {
        let policy = policy
        if policy == .ignore { return }
        // Refused inside an updater only, where no response comes.
        try? store.commitUpdate { $0.invalidateStore() }
        guard policy == .refetch else { return }
        let starts = lock.withLock {
            if isRunning { isDueAgain = true }
            defer { isRunning = true }
            return !isRunning
        }
        if starts { fetch(environment) }
    }

    private func fetch(_ environment: Environment) {
        let operations = (try? store.retainedQueries) ?? []
        // One more, so that it is not over while requests are still being made.
        lock.withLock { unanswered = operations.count + 1 }
        for operation in operations {
            let descriptor = OperationDescriptor(
                request: RequestDescriptor(
                    node: operation.request, variables: operation.variables),
                root: operation.root)
            let request = environment.execute(
                operation: descriptor, cacheConfig: CacheConfig(force: true)
            ).sink(
                receiveCompletion: { [self, weak environment] _ in answered(environment) },
                receiveValue: { _ in })
            lock.withLock { requests.append(request) }
        }
        answered(environment)
    }

    private func answered(_ environment: Environment?) {
        let (done, again) = lock.withLock { () -> ([AnyCancellable], Bool) in
            unanswered -= 1
            guard unanswered == 0 else { return ([], false) }
            defer {
                requests = []
                isDueAgain = false
            }
            isRunning = isDueAgain
            return (requests, isDueAgain)
        }
        withExtendedLifetime(done) {}
        if again, let environment { fetch(environment) }
    }
}
