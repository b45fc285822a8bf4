import RelayJSON
import Testing

@testable import StoreEngine

/// `extensions.relay.at`: a query answered from the past.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct PastQueryTests {
    static let count = "{ user { totalCount } }"
    static let recentCommits: [Int] = [4_096, 1]

    @Test(arguments: recentCommits)
    func everyStateOfThePastCanBeQueried(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        for number in 0..<4 { _ = try await engine.addTodo("\(number)") }
        // Each mutation takes two sequences; its intent alone changes nothing.
        for (sequence, expected) in [(1, 2), (2, 2), (3, 3), (5, 4), (8, 5), (9, 6), (4, 3)] {
            let result = try await engine.run(
                Self.count, relay: ["at": .int(Int64(sequence))])
            #expect(result["data"]?["user"]?["totalCount"] == .int(Int64(expected)))
            #expect(result.cursor == engine.cursor(UInt64(sequence)))
        }
    }

    @Test func aTimeMeansTheLastEventAtOrBeforeIt() async throws {
        let engine = try await EngineUnderTest()
        _ = try await engine.addTodo("a")
        let result = try await engine.run(Self.count, relay: ["at": "2026-01-01T00:00:00Z"])
        #expect(result["data"]?["user"]?["totalCount"] == 3)
        let early = try await engine.run(Self.count, relay: ["at": "1969-01-01T00:00:00Z"])
        #expect(early.firstErrorCode == "BAD_USER_INPUT")
    }

    static let wrongPoints: [JSONValue] = [0, -1, 99, "soon", true, "99"]

    @Test(arguments: wrongPoints)
    func aPointThatTheLogDoesNotHaveIsRefused(_ point: JSONValue) async throws {
        let engine = try await EngineUnderTest()
        let result = try await engine.run(Self.count, relay: ["at": point])
        #expect(result.firstErrorCode == "BAD_USER_INPUT")
        #expect(result["data"] == nil)
    }

    /// It may be readable later; nothing is wrong with the request.
    @Test(arguments: [["at": 2], ["at": "2026-01-01T00:00:00Z"], ["explain": 3]] as [JSONObject])
    func aPastThatCannotBeReadIsTheServersFault(_ relay: JSONObject) async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        engine.journal.failReads(.max)
        let result = try await engine.run(Self.count, relay: relay)
        #expect(result.firstErrorCode == "OVERLOADED")
    }

    /// What a time means is read from the log, so that is bounded, too.
    @Test(arguments: [["at": 2], ["at": "2026-01-01T00:00:00Z"]] as [JSONObject])
    func soManyQueriesOfThePastWaitAndNoMore(_ relay: JSONObject) async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        engine.journal.holdReads()
        var answers = [try engine.post(Self.count, relay: relay)]
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        for _ in 0..<PastQueries.Limits().waiting {
            answers.append(try engine.post(Self.count, relay: relay))
        }
        let refused = try await engine.run(Self.count, relay: relay)
        #expect(refused.firstErrorCode == "OVERLOADED")
        #expect(engine.journal.heldReadCount == 1, "one after the other")
        engine.journal.releaseReads()
        for answer in answers { #expect(try await answer.get().firstErrorCode == nil) }
    }

    @Test func whoLooksBackTwiceFindsTheState() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        for _ in 0..<2 { _ = try await engine.run(Self.count, relay: ["at": 3]) }
        #expect(engine.journal.stateCount == 1)
        // Until it was not asked for during a minute.
        for _ in 0..<2 {
            try await eventually("something to be postponed") { engine.passTime() ? true : nil }
        }
        _ = try await engine.run(Self.count, relay: ["at": 3])
        #expect(engine.journal.stateCount == 2)
    }

    @Test func moreEventsThanTheBudgetAreNotFolded() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1, pastEvents: 5)
        for number in 0..<10 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        let near = try await engine.run(Self.count, relay: ["at": 5])
        #expect(near["data"]?["user"]?["totalCount"] == 4)
        let far = try await engine.run(Self.count, relay: ["at": 6])
        #expect(far.firstErrorCode == "LIMIT_EXCEEDED")
    }
}
