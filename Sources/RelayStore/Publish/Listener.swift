import Synchronization

/// What the store knows about a subscription. It outlives the token until the store has removed it.
final class Listener: Sendable {
    private let callback: @Sendable (SelectorSnapshot) -> Void
    private let isStopped = Atomic(false)

    init(_ callback: @escaping @Sendable (SelectorSnapshot) -> Void) { self.callback = callback }

    func stop() { isStopped.store(true, ordering: .releasing) }

    func tell(_ snapshot: SelectorSnapshot) {
        if !isStopped.load(ordering: .acquiring) { callback(snapshot) }
    }
}
