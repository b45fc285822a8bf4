/// The newest commits of a history, in log order.
///
/// States share their memory, so the cost is about what the commits wrote. Bounded by number and by bytes: the oldest
/// are dropped first, and the newest stays whatever its size.
package struct NewestCommits: Sendable {
    /// The state before the first of them.
    package private(set) var base: Snapshot
    private var commits: [MutationCommit] = []
    /// Those before it are gone; they are released in batches.
    private var first = 0
    private var byteCount = 0
    private var goneByteCount = 0
    private let countLimit: Int
    private let byteLimit: Int

    package init(after base: Snapshot, countLimit: Int, byteLimit: Int) {
        self.base = base
        self.countLimit = countLimit
        self.byteLimit = byteLimit
    }

    package var kept: ArraySlice<MutationCommit> { commits[first...] }

    /// The state after the last of them.
    package var head: Snapshot { kept.last?.snapshot ?? base }

    package mutating func append(_ commit: MutationCommit) {
        assert(head.sequence < commit.snapshot.sequence, "commits come in log order")
        commits.append(commit)
        byteCount += commit.byteCount
        while kept.count > 1, kept.count > countLimit || byteCount > byteLimit {
            let oldest = commits[first]
            base = oldest.snapshot
            byteCount -= oldest.byteCount
            goneByteCount += oldest.byteCount
            first += 1
        }
        if first > 64 && first * 2 > commits.count || goneByteCount > byteLimit {
            commits.removeFirst(first)
            first = 0
            goneByteCount = 0
        }
    }

    /// The commits after an event, and the state before the first of them; nil if not all of them are kept.
    package func missed(
        after sequence: UInt64
    ) -> (before: Snapshot, commits: ArraySlice<MutationCommit>)? {
        guard base.sequence <= sequence else { return nil }
        let next = firstIndex(after: sequence)
        return (next == first ? base : commits[next - 1].snapshot, commits[next...])
    }

    /// The state after the last commit up to an event; nil if it is not kept, or does not exist yet.
    package func snapshot(at sequence: UInt64) -> Snapshot? {
        guard base.sequence <= sequence, sequence <= head.sequence else { return nil }
        let next = firstIndex(after: sequence)
        return next == first ? base : commits[next - 1].snapshot
    }

    private func firstIndex(after sequence: UInt64) -> Int {
        (first..<commits.count).firstIndex(whereNot: { commits[$0].snapshot.sequence <= sequence })
    }
}

extension MutationCommit {
    /// The approximate cost of keeping it.
    package var byteCount: Int {
        intent.byteCount + response.writes.bytes.count + (response.answer?.count ?? 0)
    }
}

extension MutationIntent {
    /// About what it takes to keep it.
    package var byteCount: Int { argumentBytes.count + (optimistic?.bytes.count ?? 0) + 512 }
}
