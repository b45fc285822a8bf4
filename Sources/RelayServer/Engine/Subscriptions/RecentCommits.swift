@_spi(Rooms) import RelayRecords
import Threads

/// The newest commits, each with the state after it: whoever was away for a moment gets from here what was
/// missed, and the log need not be read.
///
/// States share their memory, so that what is kept is about what the commits wrote. Bounded by number and by
/// bytes; older commits are found in the log.
final class RecentCommits: Sendable {
    private struct State {
        /// The state before the first of the commits.
        var base: Snapshot
        var commits: [Commit] = []
        /// Those before it are dropped already.
        var first = 0
        var byteCount = 0

        /// The place of the first commit behind an event.
        func firstIndex(after sequence: UInt64) -> Int {
            var low = first
            var high = commits.count
            while low < high {
                let middle = (low + high) / 2
                if commits[middle].snapshot.sequence <= sequence {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low
        }
    }

    private let commitLimit: Int
    private let byteLimit: Int
    /// Events among the commits that have brought another schema, rising. There are none behind those that it begins
    /// with: a server that runs keeps its schema.
    private let schemaChanges: [UInt64]
    private let state: Lock<State>

    init(
        after base: Snapshot, schemaChanges: [UInt64] = [], commitLimit: Int = 4_096,
        byteLimit: Int = 16 << 20
    ) {
        self.schemaChanges = schemaChanges
        self.commitLimit = commitLimit
        self.byteLimit = byteLimit
        state = Lock(State(base: base))
    }

    /// The state before the first commit that is kept.
    var base: Snapshot { state.withLock { $0.base } }

    /// The newest event that the publisher has taken.
    var end: UInt64 {
        state.withLock { ($0.commits.last?.snapshot ?? $0.base).sequence }
    }

    func append(_ commit: Commit) {
        state.withLock { state in
            assert(
                (state.commits.last?.snapshot ?? state.base).sequence < commit.snapshot.sequence,
                "commits come in log order")
            state.commits.append(commit)
            state.byteCount += commit.byteCount
            while state.commits.count - state.first > 1,
                state.commits.count - state.first > commitLimit || state.byteCount > byteLimit
            {
                let oldest = state.commits[state.first]
                state.base = oldest.snapshot
                state.byteCount -= oldest.byteCount
                state.first += 1
            }
            if state.first > 64, state.first * 2 > state.commits.count {
                state.commits.removeFirst(state.first)
                state.first = 0
            }
        }
    }

    /// Every commit after an event; nil when not all of them are kept.
    func commits(after sequence: UInt64) -> ArraySlice<Commit>? {
        state.withLock { state -> ArraySlice<Commit>? in
            guard state.base.sequence <= sequence else { return nil }
            return state.commits[state.firstIndex(after: sequence)...]
        }
    }

    /// The state after an event; nil when it is not kept, or not there yet. Kept are the states after commits: one that
    /// has the same records, and another schema, is not.
    func snapshot(at sequence: UInt64) -> Snapshot? {
        let snapshot = latestSnapshot(at: sequence)
        guard let snapshot,
            schemaChanges.contains(where: { snapshot.sequence < $0 && $0 <= sequence })
        else { return snapshot }
        return nil
    }

    /// The state after the last commit up to an event.
    private func latestSnapshot(at sequence: UInt64) -> Snapshot? {
        state.withLock { state -> Snapshot? in
            let last = state.commits.last?.snapshot.sequence ?? state.base.sequence
            guard state.base.sequence <= sequence, sequence <= last else { return nil }
            let next = state.firstIndex(after: sequence)
            return next == state.first ? state.base : state.commits[next - 1].snapshot
        }
    }
}

extension Commit {
    /// About what it takes to keep it.
    fileprivate var byteCount: Int {
        intent.argumentBytes.count + response.writes.bytes.count + (response.answer?.count ?? 0)
            + 512
    }
}
