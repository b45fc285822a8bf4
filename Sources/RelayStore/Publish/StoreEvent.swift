@_spi(Rooms) import RelayRecords
import Synchronization
import Threads

/// Something that a store did; for observers.
package enum StoreEvent: Sendable {
    /// Other records can be read from now on.
    /// - Parameter records: those that differ from before.
    case published(records: Int)
    case notifyStarted
    /// - Parameter subscriptions: those that were told.
    case notifyCompleted(subscriptions: Int)
    case collectionStarted
    /// - Parameter records: those that were forgotten.
    case collectionEnded(records: Int)
    /// An old snapshot, or a proxy of an updater, is kept, so that no number of an id or a storage key is given
    /// again. Told whenever they have doubled.
    /// - Parameter symbols: those that have a number.
    case snapshotKept(symbols: Int)
    /// An optimistic updater threw when it ran again on other records. It shows nothing until one of those that it
    /// looked at changes again.
    case updaterFailed(_ operation: String?, MutationID?, any Error)
    /// Observers, or subscribers, were slower than what happened.
    /// - Parameter events: those that are not told.
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
