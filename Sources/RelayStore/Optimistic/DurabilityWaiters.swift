@_spi(Rooms) import RelayRecords
import Threads

/// Waiters for the durability of their changes.
///
/// They are called in order of arrival, one at a time, outside all locks: each call finishes before the next begins.
final class DurabilityWaiters: Sendable {
    fileprivate struct State {
        /// With the number of changes that each waits for, in order of arrival: the numbers increase.
        var waiting: [(changes: UInt64, waiter: DurabilityWaiter)] = []
        /// Whether some thread is calling them.
        var isTelling = false
    }

    private let state = Lock(State())

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// - Parameter changes: the current number of changes; called under the lock.
    func add(_ waiter: DurabilityWaiter, behind changes: () -> UInt64) {
        state.withLock { $0.waiting.append((changes(), waiter)) }
    }

    /// Removes a waiter, which is then not called. No effect if it already has been.
    func remove(_ waiter: DurabilityWaiter) {
        state.withLock { state in
            // Usually that of a mutation that has just begun.
            if let place = state.waiting.lastIndex(where: { $0.waiter === waiter }) {
                state.waiting.remove(at: place)
            }
        }
    }

    /// Calls the waiters that need wait no longer. If another thread is already doing so, it takes these on too; if the
    /// caller is itself being called, they come next.
    /// - Parameter durable: how many changes are durable, and the journal's status; called under the lock.
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

/// Waits until its change is durable.
package final class DurabilityWaiter: Sendable {
    /// Whether to wait while a journal refuses temporarily. A stopped journal is not waited for.
    let waitsOutRefusals: Bool
    let tell: @Sendable (Result<Void, any Error>) -> Void

    init(waitsOutRefusals: Bool, tell: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        self.waitsOutRefusals = waitsOutRefusals
        self.tell = tell
    }
}

extension DurabilityWaiters.State {
    /// Removes the waiters that need wait no longer, and returns the calls to make.
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
