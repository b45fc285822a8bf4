import Foundation
import Publishing
@_spi(Rooms) import RelayStore

/// One subscriber to a selector. It never sees states that it does not request in time: only the
/// newest one waits for it.
final class SnapshotSubscription<Data: ReadableRecord>: Subscription, @unchecked Sendable {
    // Unchecked: everything is behind the lock.

    private let lock = NSLock()
    private var subscriber: AnySubscriber<Snapshot<Data>, Never>?
    private let first: Snapshot<Data>
    private let log: ExecutionLog
    /// Becomes data when it is handed over: most of a busy store's states are replaced before that.
    private var newest: SelectorSnapshot?
    private var demand = Subscribers.Demand.none
    private var isDelivering = false
    private var following: Retention?

    init(
        _ subscriber: AnySubscriber<Snapshot<Data>, Never>, _ snapshot: Snapshot<Data>,
        _ log: ExecutionLog
    ) {
        self.subscriber = subscriber
        first = snapshot
        self.log = log
    }

    func begin(_ store: Store) {
        // Inside an updater, it begins when the updater has ended; it is then notified of changes made meanwhile.
        let me = WeakSubscription(subscription: self)
        store.outsideUpdaters { me.subscription?.follow(store) }
    }

    private func follow(_ store: Store) {
        if lock.withLock({ subscriber == nil }) { return }
        let me = WeakSubscription(subscription: self)
        let following = try? store.subscribe(first.read) { me.subscription?.take($0) }
        // If it was cancelled meanwhile, it is released and thereby ended.
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
        lock.withLock { newest = read }
        deliver()
    }

    private func deliver() {
        lock.lock()
        guard !isDelivering else { return lock.unlock() }
        isDelivering = true
        while let subscriber, let read = newest, demand > .none {
            newest = nil
            demand -= 1
            lock.unlock()
            let more = subscriber.receive(first.with(read))
            lock.lock()
            demand += more
        }
        isDelivering = false
        lock.unlock()
    }
}

/// A subscription that a store does not keep alive.
private struct WeakSubscription<Data: ReadableRecord>: @unchecked Sendable {
    // Unchecked: the subscription has a lock.
    weak var subscription: SnapshotSubscription<Data>?
}
