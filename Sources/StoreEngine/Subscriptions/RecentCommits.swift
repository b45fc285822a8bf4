@_spi(Rooms) import RelayRecords
import Threads

/// The newest commits, for all who catch up: a subscriber that was away for a moment gets from here what was missed, and the log
/// need not be read. Older commits are found there.
package final class RecentCommits: Sendable {
    /// What the commits that are kept have written, at most.
    package static let byteLimit = 16 << 20

    /// Events among the commits that have brought another schema, rising. There are none behind those that it begins
    /// with: a server that runs keeps its schema.
    private let schemaChanges: [UInt64]
    private let state: Lock<NewestCommits>

    init(
        after base: Snapshot, schemaChanges: [UInt64] = [], commitLimit: Int = 4_096,
        byteLimit: Int = RecentCommits.byteLimit
    ) {
        self.schemaChanges = schemaChanges
        state = Lock(NewestCommits(after: base, countLimit: commitLimit, byteLimit: byteLimit))
    }

    /// The state before the first commit that is kept.
    var base: Snapshot { state.withLock { $0.base } }

    /// The newest event that the publisher has taken.
    var end: UInt64 { state.withLock { $0.head.sequence } }

    func append(_ commit: MutationCommit) { state.withLock { $0.append(commit) } }

    /// Every commit after an event; nil when not all of them are kept.
    func commits(after sequence: UInt64) -> ArraySlice<MutationCommit>? {
        state.withLock { $0.after(sequence) }
    }

    /// The state after an event; nil when it is not kept, or not there yet. Kept are the states after commits: one that
    /// has the same records, and another schema, is not.
    func snapshot(at sequence: UInt64) -> Snapshot? {
        guard let snapshot = state.withLock({ $0.snapshot(at: sequence) }),
            !schemaChanges.contains(where: { snapshot.sequence < $0 && $0 <= sequence })
        else { return nil }
        return snapshot
    }
}
