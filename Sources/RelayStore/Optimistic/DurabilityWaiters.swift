@_spi(Rooms) import RelayRecords
import Threads

/// Those who wait until what they have changed is durable.
///
/// They are told in the order in which they came, one after the other, outside all locks: each has been told
/// completely before the next one is.
final class DurabilityWaiters: Sendable {
    fileprivate struct State {
        /// With the number of changes that each waits for, in the order in which they came: the numbers rise.
        var waiting: [(changes: UInt64, waiter: DurabilityWaiter)] = []
        /// Whether some thread is telling them.
        var isTelling = false
    }

    private let state = Lock(State())

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// - Parameter changes: how many there are by now; asked under the lock.
    func add(_ waiter: DurabilityWaiter, behind changes: () -> UInt64) {
        state.withLock { $0.waiting.append((changes(), waiter)) }
    }

    /// One does not wait any longer, and is not told. Without effect when it has been.
    func remove(_ waiter: DurabilityWaiter) {
        state.withLock { state in
            // Most often of a mutation that has just begun.
            if let place = state.waiting.lastIndex(where: { $0.waiter === waiter }) {
                state.waiting.remove(at: place)
            }
        }
    }

    /// Tells those who need not wait any longer. If another thread does, it does it for these too; if the caller
    /// is being told something, they come next.
    /// - Parameter durable: how many changes are durable, and what the journal says; asked under the lock.
    func tell(_ durable: () -> (changes: UInt64, status: JournalStatus)) {
        var isContinuing = false
        while true {
            let calls = state.withLock { state -> [@Sendable () -> Void] in
                if state.isTelling, !isContinuing { return [] }
                let calls = state.takeCalls(durable())
                state.isTelling = !calls.isEmpty
                return calls
            }
            if calls.isEmpty { return }
            isContinuing = true
            for call in calls { call() }
        }
    }
}

/// One who waits until what it has changed is durable.
package final class DurabilityWaiter: Sendable {
    /// Whether a journal that refuses for now is waited for. One that has stopped is not.
    let waitsOutRefusals: Bool
    let tell: @Sendable (Result<Void, any Error>) -> Void

    init(waitsOutRefusals: Bool, tell: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        self.waitsOutRefusals = waitsOutRefusals
        self.tell = tell
    }
}

extension DurabilityWaiters.State {
    /// Strikes off those who need not wait any longer, and gives what they are to be told.
    fileprivate mutating func takeCalls(
        _ durable: (changes: UInt64, status: JournalStatus)
    ) -> [@Sendable () -> Void] {
        var calls: [@Sendable () -> Void] = []
        waiting.removeAll { changes, waiter in
            let result: Result<Void, any Error>
            switch durable.status {
            case _ where changes <= durable.changes: result = .success(())
            case .stopped(let error): result = .failure(error)
            case .retrying(let error) where !waiter.waitsOutRefusals: result = .failure(error)
            case .keeping, .retrying: return false
            }
            calls.append { waiter.tell(result) }
            return true
        }
        return calls
    }
}
