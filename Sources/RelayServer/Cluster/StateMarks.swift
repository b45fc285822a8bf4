import EventLog
import EventStore
import RelayRecords
import StoreEngine
import Threads

/// Hashes of a server's state, of the kind that other servers of the cluster make at the same events: equal ones show that
/// the servers have the same.
///
/// A state that stands still is hashed; of one that moves on, the state after the roundest number in memory. Hashing visits
/// all records, so it takes at most a fiftieth of one processor's time.
final class StateMarks: Sendable {
    private struct State {
        var mark: CheckpointMark?
        var lastHead: UInt64 = 0
        var isHashing = false
        var restUntil = ContinuousClock.now
    }

    private let service: GraphQLService
    private let state = Lock(State())

    init(of service: GraphQLService) { self.service = service }

    /// The newest hash. Begins another one if it is time; does not wait for it.
    func newest() -> CheckpointMark? {
        let head = service.snapshot
        let isStill = state.withLock { state in
            defer { state.lastHead = head.sequence }
            return state.lastHead == head.sequence
        }
        let target = isStill ? head : service.roundSnapshot()
        if let target, begins(target.sequence) {
            Task.detached(priority: .background) {
                do {
                    try await onThreadOfItsOwn { self.hash(target) }
                } catch {
                    // No thread could be made. Next time, perhaps.
                    self.state.withLock { $0.isHashing = false }
                }
            }
        }
        return state.withLock { $0.mark }
    }

    private func begins(_ sequence: UInt64) -> Bool {
        state.withLock { state in
            guard !state.isHashing, sequence > 0, sequence != state.mark?.sequence,
                ContinuousClock.now >= state.restUntil
            else { return false }
            state.isHashing = true
            return true
        }
    }

    private func hash(_ snapshot: Snapshot) {
        let clock = ContinuousClock()
        let start = clock.now
        let mark = CheckpointMark(
            sequence: snapshot.sequence, stateHash: snapshot.stateHash.bytes)
        state.withLock { state in
            state.mark = mark
            state.isHashing = false
            state.restUntil = clock.now + start.duration(to: clock.now) * 50
        }
    }
}

extension GraphQLService {
    /// The state after the event with the most zeros at its number's end, in binary, that is in memory.
    fileprivate func roundSnapshot() -> Snapshot? {
        let (oldest, newest) = (snapshotForNextStart.sequence, snapshot.sequence)
        var bit: UInt64 = 1 << 62
        while bit > 0 {
            let round = newest / bit * bit
            if round > oldest, let snapshot = recentSnapshot(at: round) { return snapshot }
            bit >>= 1
        }
        return nil
    }
}
