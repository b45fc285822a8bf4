import Testing

@testable import RelayServer

@Suite struct MissedBacklogTests {
    @Test func whatIsOnItsWayCountsUntilThePeerHasTakenIt() {
        var backlog = MissedBacklog(limit: 100)
        #expect(!backlog.isFull(queuedBytes: 50))
        backlog.expect(51)
        #expect(backlog.isFull(queuedBytes: 0))
        backlog.take(51, queuedBytes: 0)
        #expect(backlog.isFull(queuedBytes: 51))
        #expect(!backlog.isFull(queuedBytes: 0))
    }

    @Test func missedResultsMakeNobodySlowHoweverLargeTheyAre() {
        var backlog = MissedBacklog(limit: 100)
        backlog.expect(1_000)
        backlog.take(1_000, queuedBytes: 40)
        #expect(!backlog.isSlow(queuedBytes: 1_040))
        #expect(!backlog.isSlow(queuedBytes: 1_100))
        #expect(backlog.isSlow(queuedBytes: 1_101))
    }

    @Test func whatHasBeenTakenGivesLiveResultsNoRoomAfterwards() {
        var backlog = MissedBacklog(limit: 100)
        backlog.expect(1_000)
        backlog.take(1_000, queuedBytes: 0)
        backlog.drained()
        #expect(backlog.isSlow(queuedBytes: 101))
    }

    /// What the peer has taken since gives live results no more room.
    @Test func liveResultsHaveTheWholeLimitAndNoMore() {
        var backlog = MissedBacklog(limit: 100)
        for _ in 0..<10 {
            backlog.expect(40)
            backlog.take(40, queuedBytes: 0)
        }
        #expect(!backlog.isSlow(queuedBytes: 140))
        #expect(backlog.isSlow(queuedBytes: 141))
        #expect(MissedBacklog(limit: 100).isSlow(queuedBytes: 101))
    }
}
