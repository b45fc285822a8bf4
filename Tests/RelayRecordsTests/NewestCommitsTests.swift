import RelayJSON
import Testing

@testable @_spi(Rooms) import RelayRecords

@Suite(.bounded) struct NewestCommitsTests {
    /// A commit with a state of its own.
    private func commit(_ sequence: UInt64, size: Int) -> MutationCommit {
        var snapshot = Snapshot()
        snapshot.sequence = sequence
        return MutationCommit(
            intent: MutationIntent(
                field: "rename", arguments: ["text": .string(.init(repeating: "x", count: size))]),
            response: MutationResponse(mutation: sequence, writes: .empty, result: nil),
            snapshot: snapshot, changes: ChangeSet())
    }

    @Test func theOldestGoFirstByNumber() {
        var newest = NewestCommits(after: Snapshot(), countLimit: 3, byteLimit: .max)
        for sequence in 1...200 { newest.append(commit(UInt64(sequence), size: 1)) }
        #expect(newest.kept.map(\.snapshot.sequence) == [198, 199, 200])
        #expect(newest.base.sequence == 197 && newest.head.sequence == 200)
        #expect(newest.missed(after: 196) == nil && newest.missed(after: 198)?.commits.count == 2)
        #expect(newest.snapshot(at: 196) == nil && newest.snapshot(at: 201) == nil)
        #expect(newest.snapshot(at: 199)?.sequence == 199)
    }

    /// The state before a commit is that after the one before it, and it stays when that goes.
    @Test func commitsComeWithTheStateBeforeThem() {
        var newest = NewestCommits(after: Snapshot(), countLimit: 3, byteLimit: .max)
        for sequence: UInt64 in [2, 4, 6, 8, 10] { newest.append(commit(sequence, size: 1)) }
        #expect(newest.missed(after: 3) == nil)
        for (sequence, before, commits) in [
            (4, 4, [6, 8, 10]), (5, 4, [6, 8, 10]), (6, 6, [8, 10]), (9, 8, [10]), (10, 10, []),
        ] as [(UInt64, UInt64, [UInt64])] {
            let missed = newest.missed(after: sequence)
            #expect(missed?.before.sequence == before)
            #expect(missed?.commits.map(\.snapshot.sequence) == commits)
        }
    }

    /// What has gone is let go of, too: 64 mutations of 4 MB must not stay for want of a 65th.
    @Test func whatIsHeldIsBoundedByBytes() {
        var newest = NewestCommits(after: Snapshot(), countLimit: .max, byteLimit: 10_000)
        // Lives as long as the commit's state is kept.
        weak var first: Symbols?
        for sequence in 1...8 {
            let commit = self.commit(UInt64(sequence), size: 4_000)
            if sequence == 1 { first = commit.snapshot.symbols }
            newest.append(commit)
        }
        #expect(newest.kept.map(\.snapshot.sequence) == [7, 8])
        #expect(newest.base.sequence == 6)
        #expect(first == nil)
    }

    @Test func theNewestStaysWhateverItsSize() {
        var newest = NewestCommits(after: Snapshot(), countLimit: 8, byteLimit: 100)
        newest.append(commit(1, size: 1_000))
        newest.append(commit(2, size: 1_000))
        #expect(newest.kept.map(\.snapshot.sequence) == [2])
    }
}
