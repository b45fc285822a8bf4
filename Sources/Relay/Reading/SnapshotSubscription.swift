import Foundation
import RelayStore

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// One subscriber to a selector. What it does not ask for in time it never sees: only the newest state
/// waits for it.
final class SnapshotSubscription<Data: ReadableRecord>: Subscription, @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var subscriber: AnySubscriber<Snapshot<Data>, Never>?
    private let first: Snapshot<Data>
    private var newest: Snapshot<Data>?
    private var demand = Subscribers.Demand.none
    private var isDelivering = false
    private var following: StoreSubscription?

    init(_ subscriber: AnySubscriber<Snapshot<Data>, Never>, _ snapshot: Snapshot<Data>) {
        self.subscriber = subscriber
        first = snapshot
    }

    func begin(_ store: Store) {
        let following = store.subscribe(first.read) { [weak self, first] read in
            self?.take(first.with(read))
        }
        lock.withLock { if subscriber != nil { self.following = following } }
    }

    func request(_ more: Subscribers.Demand) {
        lock.withLock { demand += more }
        deliver()
    }

    func cancel() {
        let following = lock.withLock {
            subscriber = nil
            newest = nil
            defer { self.following = nil }
            return self.following
        }
        following?.cancel()
    }

    private func take(_ snapshot: Snapshot<Data>) {
        lock.withLock { newest = snapshot }
        deliver()
    }

    private func deliver() {
        lock.lock()
        guard !isDelivering else { return lock.unlock() }
        isDelivering = true
        while let subscriber, let snapshot = newest, demand > .none {
            newest = nil
            demand -= 1
            lock.unlock()
            let more = subscriber.receive(snapshot)
            lock.lock()
            demand += more
        }
        isDelivering = false
        lock.unlock()
    }
}
