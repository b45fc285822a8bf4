import Synchronization

/// Somebody who wants to be told; until ``cancel()``, or until nobody holds it any more.
package final class StoreSubscription: Sendable {
    let tell: @Sendable (SelectorSnapshot) -> Void
    private let isCancelled = Atomic(false)
    private let end: @Sendable () -> Void

    init(
        _ tell: @escaping @Sendable (SelectorSnapshot) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.tell = tell
        self.end = end
    }

    deinit { cancel() }

    /// Nobody is told any more, also of what has happened already. May be called anywhere, more than once.
    package func cancel() {
        if !isCancelled.exchange(true, ordering: .acquiringAndReleasing) { end() }
    }

    var isLive: Bool { !isCancelled.load(ordering: .acquiring) }
}
