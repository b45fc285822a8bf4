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
    private let log: ExecutionLog
    private var newest: Snapshot<Data>?
    private var demand = Subscribers.Demand.none
    private var isDelivering = false
    private var following: StoreSubscription?

    init(
        _ subscriber: AnySubscriber<Snapshot<Data>, Never>, _ snapshot: Snapshot<Data>,
        _ log: ExecutionLog
    ) {
        self.subscriber = subscriber
        first = snapshot
        self.log = log
    }

    func begin(_ store: Store) {
        // The store refuses it inside an updater only, where there is nothing to follow.
        let me = WeakTaker(take: { [weak self] in self?.take($0) })
        let following = try? store.subscribe(first.read) { me.take($0) }
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

    private func take(_ read: SelectorSnapshot) {
        log.noteFields(of: read)
        lock.withLock { newest = first.with(read) }
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

/// Hands over what a store tells, whatever the data's type.
private struct WeakTaker: @unchecked Sendable {
    // Unchecked: the closure holds one weak reference to a subscription, which has a lock.
    let take: (SelectorSnapshot) -> Void
}
