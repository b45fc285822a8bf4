@_spi(Rooms) import RelayRecords
import Synchronization

/// A subscriber; until ``cancel()``, or until it is released.
package final class StoreSubscription: Sendable {
    private let listener: Listener
    private let end: @Sendable () -> Void

    init(_ listener: Listener, end: @escaping @Sendable () -> Void) {
        self.listener = listener
        self.end = end
    }

    deinit { cancel() }

    /// Nothing is told any more, also of what has happened already. May be called anywhere, more than once.
    package func cancel() {
        if listener.stop() { end() }
    }
}

/// What the store knows of a subscription. It outlives the token by the time that the store takes to
/// strike it off.
final class Listener: Sendable {
    private let callback: @Sendable (SelectorSnapshot) -> Void
    private let isStopped = Atomic(false)

    init(_ callback: @escaping @Sendable (SelectorSnapshot) -> Void) { self.callback = callback }

    /// - Returns: whether it had not been stopped before.
    func stop() -> Bool { !isStopped.exchange(true, ordering: .acquiringAndReleasing) }

    func tell(_ snapshot: SelectorSnapshot) {
        if !isStopped.load(ordering: .acquiring) { callback(snapshot) }
    }
}
