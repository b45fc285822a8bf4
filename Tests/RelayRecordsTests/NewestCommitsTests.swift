import RelayJSON
import Testing

@testable @_spi(Rooms) import RelayRecords

@Suite(.bounded) struct NewestCommitsTests {
    private struct Commit: CommitWithState {
        let intent: MutationIntent
        let response: MutationResponse
        let snapshot: Snapshot
        /// Lives as long as the commit is kept.
        let life = Life()

        init(_ sequence: UInt64, size: Int) {
            intent = MutationIntent(
                field: "rename", arguments: ["text": .string(.init(repeating: "x", count: size))])
            response = MutationResponse(
                mutation: sequence, writes: WriteSetWriter().writeSet, result: nil)
            var snapshot = Snapshot()
            snapshot.sequence = sequence
            self.snapshot = snapshot
        }
    }

    private final class Life: Sendable {}

    @Test func theOldestGoFirstByNumber() {
        var newest = NewestCommits<Commit>(after: Snapshot(), countLimit: 3, byteLimit: .max)
        for sequence in 1...200 { newest.append(Commit(UInt64(sequence), size: 1)) }
        #expect(newest.kept.map(\.snapshot.sequence) == [198, 199, 200])
        #expect(newest.base.sequence == 197 && newest.head.sequence == 200)
        #expect(newest.after(196) == nil && newest.after(198)?.count == 2)
        #expect(newest.snapshot(at: 196) == nil && newest.snapshot(at: 201) == nil)
        #expect(newest.snapshot(at: 199)?.sequence == 199)
    }

    /// What has gone is let go of, too: 64 mutations of 4 MB must not stay for want of a 65th.
    @Test func whatIsHeldIsBoundedByBytes() {
        var newest = NewestCommits<Commit>(after: Snapshot(), countLimit: .max, byteLimit: 10_000)
        weak var first: Life?
        for sequence in 1...8 {
            let commit = Commit(UInt64(sequence), size: 4_000)
            if sequence == 1 { first = commit.life }
            newest.append(commit)
        }
        #expect(newest.kept.map(\.snapshot.sequence) == [7, 8])
        #expect(newest.base.sequence == 6)
        #expect(first == nil)
    }

    @Test func theNewestStaysWhateverItsSize() {
        var newest = NewestCommits<Commit>(after: Snapshot(), countLimit: 8, byteLimit: 100)
        newest.append(Commit(1, size: 1_000))
        newest.append(Commit(2, size: 1_000))
        #expect(newest.kept.map(\.snapshot.sequence) == [2])
    }
}
