@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// Something that a store did; for observers.
package enum StoreEvent: Sendable {
    /// Readers see other records from now on.
    /// - Parameter records: how many differ from before.
    case published(records: Int)
    case notifyStarted
    /// - Parameter subscriptions: how many were notified.
    case notifyCompleted(subscriptions: Int)
    case collectionStarted
    /// - Parameter records: how many were dropped.
    case collectionEnded(records: Int)
    /// An old snapshot, or an updater's proxy, is still held, so no number of an id or a storage key is reused.
    /// Reported whenever they have doubled.
    /// - Parameter symbols: how many have a number.
    case snapshotKept(symbols: Int)
    /// An optimistic updater threw when it ran again on other records. It shows nothing until one of the records it
    /// looked at changes again.
    case updaterFailed(_ operation: String?, MutationID?, any Error)
    /// Observers or subscribers were slower than events.
    /// - Parameter events: how many are not reported.
    case dropped(events: Int)
}

/// The observers of a store; usually none.
final class StoreObservers: Sendable {
    typealias Tell = @Sendable (StoreEvent) -> Void

    private let state = Lock((observers: [UInt64: Tell](), count: UInt64(0)))
    private let isEmptyNow = Atomic(true)

    var isEmpty: Bool { isEmptyNow.load(ordering: .relaxed) }

    func add(_ tell: @escaping Tell) -> Retention {
        let number = state.withLock { state in
            state.count += 1
            state.observers[state.count] = tell
            isEmptyNow.store(false, ordering: .relaxed)
            return state.count
        }
        return Retention { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: UInt64) {
        state.withLock { state in
            state.observers[number] = nil
            isEmptyNow.store(state.observers.isEmpty, ordering: .relaxed)
        }
    }

    func tell(_ event: StoreEvent) {
        for tell in state.withLock({ Array($0.observers.values) }) { tell(event) }
    }
}
