@_spi(Rooms) import RelayRecords
import Threads

/// The state that a history was asked for last: the next question is often about one nearby, and reading a checkpoint
/// takes longer than folding a few events.
///
/// Its states have one writer at a time, so histories that share it must be asked one after the other.
package final class KeptState: Sendable {
    private struct State {
        var snapshot: Snapshot?
        var isUsed = false
    }

    private let state = Lock(State())

    package init() {}

    /// - Parameter earliest: an older state than this is no use.
    func snapshot(from earliest: UInt64, through last: UInt64) -> Snapshot? {
        state.withLock { state in
            guard let snapshot = state.snapshot, earliest <= snapshot.sequence,
                snapshot.sequence <= last
            else { return nil }
            state.isUsed = true
            return snapshot
        }
    }

    func keep(_ snapshot: Snapshot) {
        state.withLock { $0 = State(snapshot: snapshot, isUsed: true) }
    }

    /// Drops the state unless it was used since the last call.
    /// - Returns: whether there still is one.
    package func dropUnused() -> Bool {
        state.withLock { state in
            if !state.isUsed { state.snapshot = nil }
            state.isUsed = false
            return state.snapshot != nil
        }
    }
}
