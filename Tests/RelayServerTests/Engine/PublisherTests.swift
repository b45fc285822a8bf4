import GraphQLExecution
import RelayJSON
import Testing

@testable import StoreEngine

@Suite(.bounded, .timeLimit(.minutes(10)))
struct PublisherTests {
    @Test func aLiveResultComesAtOnceAndAfterEveryCommitThatChangesIt() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe("subscription { user { completedCount } }")
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("changes no completedCount")
        _ = try await engine.run(
            "mutation { changeTodoStatus(input: {id: \"VG9kbzox\", complete: true}) { todo { id } } }"
        )
        _ = try await engine.run(
            "mutation { changeTodoStatus(input: {id: \"VG9kbzox\", complete: false}) { todo { id } } }"
        )
        let results = try await engine.results(of: sink, count: 3)
        #expect(results.map { $0["data"]?["user"]?["completedCount"] } == [1, 2, 1])
    }

    @Test func anEventStreamHasTheMatchingMutationsAndNoOthers() async throws {
        let engine = try await EngineUnderTest()
        let mine = try engine.subscribe("subscription { todoAdded { todo { text } } }")
        let others = try engine.subscribe(
            "subscription { todoAdded(userId: \"nobody\") { todo { text } } }")
        for text in ["a", "b", "c"] { _ = try await engine.addTodo(text) }
        let results = try await engine.results(of: mine, count: 3)
        #expect(
            results.map { $0["data"]?["todoAdded"]?["todo"]?["text"] } == ["a", "b", "c"])
        #expect(engine.resultsSoFar(of: others) == [])
    }

    /// However many they are: nothing is executed for them.
    @Test(arguments: [0, 1, 500])
    func whoIsSubscribedToSomethingElseCostsACommitNothing(_ strangers: Int) async throws {
        let engine = try await EngineUnderTest()
        for number in 0..<strangers {
            try engine.subscribe("subscription { a\(number): todo(id: \"VG9kbzox\") { text } }")
            try engine.subscribe("subscription { a\(number): todoRemoved { deletedTodoId } }")
        }
        let live = try engine.subscribe("subscription { user { totalCount } }")
        let events = try engine.subscribe("subscription { todoAdded { todo { text } } }")
        _ = try await engine.results(of: live, count: 1)
        let before = engine.service.subscriptionExecutions.run
        for number in 1...3 {
            _ = try await engine.addTodo("\(number)")
            _ = try await engine.results(of: live, count: 1 + number)
            _ = try await engine.results(of: events, count: number)
        }
        #expect(engine.service.subscriptionExecutions.run == before + 6)
    }

    private func adding(_ count: Int) -> String {
        let fields = (1...count).map { "a\($0): addTodo(input: {text: \"\($0)\"}) { todo { id } }" }
        return "mutation { \(fields.joined(separator: " ")) }"
    }

    /// What one append brings has piled up at once.
    @Test func commitsThatPileUpAreOneLiveResultAndEachAnEvent() async throws {
        let engine = try await EngineUnderTest()
        let live = try engine.subscribe("subscription { user { totalCount } }")
        let events = try engine.subscribe("subscription { todoAdded { todo { text } } }")
        _ = try await engine.results(of: live, count: 1)
        _ = try await engine.run(adding(5))
        let each = try await engine.results(of: live, count: 6)
        #expect(each.map { $0["data"]?["user"]?["totalCount"] } == [2, 3, 4, 5, 6, 7])
        let before = engine.service.subscriptionExecutions.run

        _ = try await engine.run(adding(Publisher.pileLimit + 68))
        let all = try await engine.results(of: events, count: 105)
        #expect(all.last?["data"]?["todoAdded"]?["todo"]?["text"] == "100")
        let results = try await engine.results(of: live, count: 7)
        #expect(results.count == 7)
        #expect(results.last?["data"]?["user"]?["totalCount"] == 107)
        #expect(results.last?.relay?["cursor"] == all.last?.relay?["cursor"])
        #expect(engine.service.subscriptionExecutions.run == before + 101)
        // And each for itself again, once nothing is piled up.
        _ = try await engine.addTodo("x")
        #expect(
            try await engine.results(of: live, count: 8).last?["data"]?["user"]?["totalCount"]
                == 108)
    }

    /// One append brings all of the commits, and telling waits in the middle of it.
    @Test func soManyResultsAreOnTheirWayAndThoseOfOneCommit() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 14
        }
        // Each is told where it begins.
        let sinks = try (0..<4).map { _ in
            try engine.subscribe("subscription { todoAdded { todo { text } } }")
        }
        _ = try await engine.run(adding(25))
        try await eventually("telling to wait") { gate.waitingCount == 1 ? true : nil }
        for sink in sinks { #expect(engine.resultsSoFar(of: sink).count == 3) }
        #expect(engine.service.unpublishedCommits == 22)
        gate.open()
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 25)
            #expect(
                results.map { $0["data"]?["todoAdded"]?["todo"]?["text"]?.string }
                    == (1...25).map { "\($0)" })
        }
    }

    /// Results that are large are few.
    @Test func soManyBytesOfResultsAreOnTheirWayAndThoseOfOneCommit() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResultBytes = 250_000
        }
        let sinks = try (0..<4).map { _ in
            try engine.subscribe("subscription { todoAdded { todo { text } } }")
        }
        let text = String(repeating: "x", count: 100_000)
        let fields = (1...5).map { "a\($0): addTodo(input: {text: $t}) { todo { id } }" }
        _ = try await engine.run(
            "mutation($t: String!) { \(fields.joined(separator: " ")) }",
            variables: ["t": .string(text)])
        try await eventually("telling to wait") { gate.waitingCount == 1 ? true : nil }
        // All four get the same bytes, which count once.
        for sink in sinks { #expect(engine.resultsSoFar(of: sink).count == 3) }
        gate.open()
        for sink in sinks { _ = try await engine.results(of: sink, count: 5) }
    }

    @Test func soManyCommitsWaitToBeToldAndTheWriterWaits() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 2
            $0.unpublishedCommits = 3
        }
        let sink = try engine.subscribe("subscription { todoAdded { todo { text } } }")
        for number in 0..<4 { _ = try await engine.addTodo("\(number)") }
        // The first was told and is waited for, three wait to be told.
        try await eventually("three commits") {
            engine.service.unpublishedCommits == 3 ? true : nil
        }
        try await engine.everyTurn()
        let held = try engine.post(EngineUnderTest.addTodo("held"))
        #expect(engine.service.waitingMutations == 1)
        #expect(engine.eventCount == 1 + 4 * 2)
        gate.open()
        #expect(try await held.get().firstErrorCode == nil)
        _ = try await engine.results(of: sink, count: 5)
    }

    @Test func soManyBytesOfCommitsWaitToBeToldAndTheWriterWaits() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 2
            $0.unpublishedBytes = 20_000
        }
        let text = String(repeating: "x", count: 10_000)
        let sink = try engine.subscribe("subscription { todoAdded { todo { text } } }")
        // The first was told and is waited for; one more has the bytes of several.
        _ = try await engine.addTodo("first")
        _ = try await engine.addTodo(text)
        try await eventually("a commit that waits") {
            engine.service.unpublishedCommits == 1 ? true : nil
        }
        try await engine.everyTurn()
        let held = try engine.post(EngineUnderTest.addTodo("held"))
        #expect(engine.service.waitingMutations == 1)
        #expect(engine.eventCount == 1 + 2 * 2)
        gate.open()
        #expect(try await held.get().firstErrorCode == nil)
        _ = try await engine.results(of: sink, count: 3)
    }

    @Test func soManySubscriptionsWaitToBeginAndNoMore() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 2
            $0.beginningSubscriptions = 2
        }
        let query = "subscription { todoAdded { todo { text } } }"
        let first = try engine.subscribe(query)
        _ = try await engine.addTodo("told")
        _ = try await engine.results(of: first, count: 1)
        try await eventually("telling to wait") { gate.waitingCount == 1 ? true : nil }
        try await eventually("nothing to wait") {
            engine.service.unpublishedCount == 0 ? true : nil
        }
        let waiting = try (0..<2).map { _ in try engine.subscribe(query) }
        let errors = #expect(throws: ExecutionErrors.self) { try engine.subscribe(query) }
        #expect(errors?.errors.first?.code == .overloaded)
        gate.open()
        try await eventually("three subscriptions") {
            engine.service.subscriptionCounts.subscriptions == 3 ? true : nil
        }
        _ = try await engine.addTodo("told all")
        for sink in waiting { _ = try await engine.results(of: sink, count: 1) }
    }

    @Test func soManyBytesOfLiveResultsAreKeptAndNoMore() async throws {
        // Two groups' worth: each counts 1,024 bytes, its document, its plan, and what its result was read from.
        let engine = try await EngineUnderTest { $0.subscriptionBytes = 12_000 }
        let sinks = try ["a", "b"].map {
            try engine.subscribe("query @live { \($0): user { id } }")
        }
        for sink in sinks { _ = try await engine.results(of: sink, count: 1) }
        let counted = engine.service.subscriptionByteCount
        #expect(counted > 2 * 1_024)
        let third =
            "query @live { c: user { totalCount } d: user { todos { edges { node { text } } } } }"
        let refused = try engine.subscribe(third)
        let error = try await engine.results(of: refused, count: 1)[0]
        #expect(error.firstErrorCode == "OVERLOADED")
        #expect(engine.service.subscriptionCounts == (2, 2))
        #expect(engine.service.subscriptionByteCount == counted)
        // One that asks what is asked already takes nothing.
        let equal = try engine.subscribe("query @live { a: user { id } }")
        #expect(try await engine.results(of: equal, count: 1)[0]["data"]?["a"]?["id"] != nil)
        for sink in sinks { engine.service.unsubscribe(sink) }
        engine.service.unsubscribe(equal)
        try await eventually("nothing to be kept") {
            engine.service.subscriptionByteCount == 0 ? true : nil
        }
        let late = try engine.subscribe(third)
        #expect(try await engine.results(of: late, count: 1)[0]["data"]?["d"] != nil)
    }

    /// Whoever has no token leaves room for the others.
    @Test func nobodyGetsAQuarterOfTheBytes() async throws {
        let engine = try await EngineUnderTest { $0.subscriptionBytes = 100_000 }
        var admitted: [TestSink] = []
        for number in 0..<100 {
            let sink = try engine.subscribe("query @live { a\(number): __typename }", as: .nobody)
            let result = try await engine.results(of: sink, count: 1)[0]
            if result.firstErrorCode == "OVERLOADED" { break }
            admitted.append(sink)
        }
        #expect(admitted.count > 1 && admitted.count < 100)
        #expect((25_000..<30_000).contains(engine.service.subscriptionByteCount))
        for identity in [.unrestricted, Identity("ann")] {
            let sink = try engine.subscribe("query @live { b: __typename }", as: identity)
            #expect(try await engine.results(of: sink, count: 1)[0].firstErrorCode == nil)
        }
        engine.service.unsubscribe(try #require(admitted.first))
        let late = try engine.subscribe("query @live { c: __typename }", as: .nobody)
        #expect(try await engine.results(of: late, count: 1)[0].firstErrorCode == nil)
    }

    @Test func theLiveQueryThatGrowsBeyondTheBoundEnds() async throws {
        let engine = try await EngineUnderTest { $0.subscriptionBytes = 20_000 }
        let small = try engine.subscribe("query @live { user { totalCount } }")
        let large = try engine.subscribe(
            "query @live { user { todos { edges { node { text } } } } }")
        for sink in [small, large] { _ = try await engine.results(of: sink, count: 1) }
        _ = try await engine.addTodo(String(repeating: "x", count: 30_000))
        let told = try await engine.results(of: large, count: 2)
        #expect(told[1].firstErrorCode == "OVERLOADED")
        _ = try await engine.addTodo("short")
        let counts = try await engine.results(of: small, count: 3)
        #expect(counts.last?["data"]?["user"]?["totalCount"] == 4)
        #expect(try await engine.results(of: large, count: 2).count == 2)
        #expect(engine.service.subscriptionCounts == (1, 1))
    }

    @Test func everyResultHasTheCursorOfItsCommit() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe("subscription { user { totalCount } }")
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("a")
        let cursors = try await engine.results(of: sink, count: 2).compactMap {
            $0["extensions"]?["relay"]?["cursor"]?.string.flatMap(StreamCursor.init)
        }
        #expect(cursors.map(\.sequence) == [1, 3])
        #expect(cursors.allSatisfy { $0.storeID == "test" && $0.epoch == 7 })
        #expect(cursors[0].text < cursors[1].text)
    }

    @Test func equalSubscriptionsAreOneGroupAndEachIsTold() async throws {
        let engine = try await EngineUnderTest()
        let query = "subscription { user { totalCount } }"
        let sinks = try (0..<50).map { _ in try engine.subscribe(query) }
        for sink in sinks { _ = try await engine.results(of: sink, count: 1) }
        #expect(engine.service.subscriptionCounts == (50, 1))
        _ = try await engine.addTodo("a")
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 2)
            #expect(results.last?["data"]?["user"]?["totalCount"] == 3)
        }
        for sink in sinks { engine.service.unsubscribe(sink) }
        try await eventually("no group") {
            engine.service.subscriptionCounts == (0, 0) ? true : nil
        }
    }

    @Test func aSubscriptionThatStartsAmidCommitsHasNeitherGapNorOverlap() async throws {
        let engine = try await EngineUnderTest()
        let writing = Task {
            for number in 1...200 {
                _ = try await engine.addTodo("\(number)")
                // Or so many pile up that some results are left out.
                if !number.isMultiple(of: Publisher.pileLimit / 2) { continue }
                let reached = engine.cursor(UInt64(1 + 2 * number))
                try await eventually("they are told") {
                    engine.service.deliveredCursor == reached ? true : nil
                }
            }
        }
        var sinks: [TestSink] = []
        for _ in 0..<20 {
            sinks.append(
                try engine.subscribe(
                    "subscription { user { totalCount todos(last: 1) { edges { cursor } } } }"))
            await Task.yield()
        }
        try await writing.value
        for sink in sinks {
            let counts = try await eventually("the last state") { () -> [Int64]? in
                let counts = engine.resultsSoFar(of: sink).compactMap {
                    $0["data"]?["user"]?["totalCount"]?.int
                }
                return counts.last == 202 ? counts : nil
            }
            let first = try #require(counts.first)
            #expect(counts == Array(first...202))
        }
    }

    /// Whether others ask the same already, did a moment ago, or never did.
    @Test func whoHasAnAnswerAndSubscribesIsToldAtLeastThatState() async throws {
        let engine = try await EngineUnderTest()
        let query = "subscription { user { totalCount } }"
        let staying = try engine.subscribe(query)
        for number in 1...30 {
            _ = try await engine.addTodo("\(number)")
            let resumed: JSONObject = ["resume": .string(engine.cursor(1))]
            let asked: [(String, JSONObject)] = [
                (query, [:]), ("subscription { user { count: totalCount } }", [:]),
                (query, ["records": true]), (query, resumed),
            ]
            for (text, relay) in asked {
                let sink = try engine.subscribe(text, relay: relay)
                let first: JSONValue = try await eventually("a result") {
                    let results: [JSONValue] = engine.resultsSoFar(of: sink)
                    return results.first { (result: JSONValue) in result["data"] != .null }
                }
                let user: JSONValue? = first["data"]?["user"]
                let told: JSONValue? = user?["totalCount"] ?? user?["count"]
                let expected = JSONValue.int(Int64(2 + number))
                #expect(told == expected)
                engine.service.unsubscribe(sink)
            }
        }
        _ = try await engine.results(of: staying, count: 31)
    }
}
