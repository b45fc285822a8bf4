@_spi(Rooms) import RelayRecords
import Threads

/// The newest commits, for catch-up: a subscriber that was away for a moment gets the missed commits from
/// here, without reading the log. Older commits are only in the log.
package final class RecentCommits: Sendable {
    /// Limit on the bytes written by the kept commits.
    package static let byteLimit = 16 << 20

    /// Events among the commits that changed the schema, in ascending order. A running server keeps its schema, but
    /// another one that appends to the same journal may have another.
    private let schemaChanges: Lock<[UInt64]>
    private let state: Lock<NewestCommits>

    init(
        after base: Snapshot, schemaChanges: [UInt64] = [], commitLimit: Int = 4_096,
        byteLimit: Int = RecentCommits.byteLimit
    ) {
        self.schemaChanges = Lock(schemaChanges)
        state = Lock(NewestCommits(after: base, countLimit: commitLimit, byteLimit: byteLimit))
    }

    /// The state before the first kept commit.
    var base: Snapshot { state.withLock { $0.base } }

    /// The newest event taken by the publisher.
    var end: UInt64 { state.withLock { $0.head.sequence } }

    /// Another server has changed the schema. Those before all commits that are kept are forgotten.
    func noteSchemaChange(at sequence: UInt64) {
        let start = base.sequence
        schemaChanges.withLock { changes in
            changes.removeAll { $0 <= start }
            changes.append(sequence)
        }
    }

    func append(_ commit: MutationCommit) { state.withLock { $0.append(commit) } }

    /// Every commit after an event, and the state before the first of them; nil when not all of them are kept.
    func missed(
        after sequence: UInt64
    ) -> (before: Snapshot, commits: ArraySlice<MutationCommit>)? {
        state.withLock { $0.missed(after: sequence) }
    }

    /// The state after an event; nil when it is not kept or does not exist yet. Only states after commits are
    /// kept. A state with the same records but another schema is not.
    func snapshot(at sequence: UInt64) -> Snapshot? {
        guard let snapshot = state.withLock({ $0.snapshot(at: sequence) }),
            !schemaChanges.withLock({ changes in
                changes.contains { snapshot.sequence < $0 && $0 <= sequence }
            })
        else { return nil }
        return snapshot
    }
}
