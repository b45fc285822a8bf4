import RelayJSON
import StoreEngine
import Testing

/// `extensions.relay.explain`: what `relay log explain` says, asked of a running server.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ExplainTests {
    private func explanation(
        _ engine: EngineUnderTest, _ sequence: Int64, _ document: String
    ) async throws -> JSONValue? {
        let result = try await engine.runOrSubscribe(document, relay: ["explain": .int(sequence)])
        #expect(result["data"] == .null, "\(result)")
        return result.relay?["explain"]
    }

    @Test(arguments: ResumeTests.recentCommits)
    func aServerSaysWhyASubscriberWasToldOrNot(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        _ = try await engine.addTodo("one")
        let told = try await explanation(engine, 3, ResumeTests.todoAdded)
        #expect(told?["told"] == true && told?["sequence"] == 3)
        // What it cannot know it says: who was ended before, and who was sent a later result.
        #expect(
            told?["reason"] == """
                the subscription tells of addTodo, and no argument keeps it away. A client that was too slow was \
                ended with SLOW_CONSUMER before, which the log does not know
                """)
        let asked = try await explanation(engine, 2, ResumeTests.todoAdded)
        #expect(asked?["told"] == false)
        let elsewhere = try await explanation(
            engine, 3, "subscription { todoAdded(userId: \"nobody\") { todo { text } } }")
        #expect(elsewhere?["told"] == false && elsewhere?["argument"] == "userId")
        let live = try await explanation(engine, 3, "query @live { user { totalCount } }")
        #expect(live?["told"] == true)
        #expect(
            live?["reason"] == """
                the result differs after it. A slow client may have been sent a later result in its \
                place (coalesced), which the log does not know
                """)
        let query = try await explanation(engine, 3, "{ user { id } }")
        #expect(query?["told"] == false)
        #expect(try await explanation(engine, 1, ResumeTests.todoAdded)?["told"] == false)
    }

    @Test func anExplainedSubscriptionEndsAndSubscribesNobody() async throws {
        let engine = try await EngineUnderTest()
        _ = try await engine.addTodo("one")
        let sink = try engine.subscribe(ResumeTests.todoAdded, relay: ["explain": 3])
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[1] == "complete")
        #expect(engine.service.subscriptionCounts.subscriptions == 0)
    }
}
