import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import StoreEngine

/// What a stream that was broken off gets when it is resumed: DESIGN's `resume` and `recovered`.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ResumeTests {
    static let todoAdded = "subscription { todoAdded { todo { text } user { totalCount } } }"

    /// How many commits the engine keeps in memory: all that a test makes, or next to none.
    static let recentCommits: [Int] = [4_096, 1]

    @Test(arguments: recentCommits)
    func anEventStreamGetsExactlyWhatItMissedEachAtItsOwnSequence(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        let first = try engine.subscribe(Self.todoAdded)
        for number in 0..<5 { _ = try await engine.addTodo("\(number)") }
        let before = try await engine.results(of: first, count: 5)
        engine.service.unsubscribe(first)
        for number in 5..<20 { _ = try await engine.addTodo("\(number)") }

        let cursor = try #require(before[2].cursor)
        let second = try engine.subscribe(Self.todoAdded, relay: ["resume": .string(cursor)])
        _ = try await engine.results(of: second, count: 18)
        _ = try await engine.addTodo("live")
        let results = try await engine.results(of: second, count: 19)

        #expect(results[0]["data"] == .null)
        #expect(results[0].cursor == cursor)
        #expect(results[0].recovered == true)
        let texts = results.dropFirst().map { $0.text(of: "todoAdded") }
        #expect(texts == (3..<20).map { "\($0)" } + ["live"])
        // Two todos are there at the start; each event sees itself counted and no later one.
        let counts = results.dropFirst().map { $0["data"]?["todoAdded"]?["user"]?["totalCount"] }
        #expect(counts == (3...20).map { .int(Int64($0 + 3)) })
        #expect(results.dropFirst().allSatisfy { $0.recovered == nil })
        let cursors = results.compactMap(\.cursor)
        #expect(cursors == cursors.sorted())
        #expect(Set(cursors).count == cursors.count)
    }

    @Test(arguments: recentCommits)
    func resumingAmidCommitsHasNeitherGapNorOverlap(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        _ = try await engine.addTodo("first")
        let start = engine.cursor(1)
        let writing = Task {
            for number in 0..<150 { _ = try await engine.addTodo("\(number)") }
        }
        var sinks: [TestSink] = []
        for _ in 0..<10 {
            sinks.append(try engine.subscribe(Self.todoAdded, relay: ["resume": .string(start)]))
            await Task.yield()
        }
        try await writing.value
        let expected = ["first"] + (0..<150).map { "\($0)" }
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 152)
            #expect(results.dropFirst().map { $0.text(of: "todoAdded") } == expected)
        }
        try await eventually("all of them to be live") {
            engine.service.subscriptionCounts.subscriptions == 10 ? true : nil
        }
    }

    @Test(arguments: recentCommits)
    func onlyMatchingEventsAreRecovered(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        let start = engine.cursor(1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        let sink = try engine.subscribe(
            "subscription { todoAdded(userId: \"nobody\") { todo { text } } }",
            relay: ["resume": .string(start)])
        _ = try await engine.results(of: sink, count: 1)
        try await eventually("it to be live") {
            engine.service.subscriptionCounts.subscriptions == 1 ? true : nil
        }
        #expect(engine.resultsSoFar(of: sink).count == 1)
    }

    static let strangeCursors = [
        "nonsense", "", "other-0000000000000007-0000000000000001",
        "test-0000000000000006-0000000000000001", "test-0000000000000007-00000000000000ff",
    ]

    @Test(arguments: strangeCursors)
    func aCursorOfAnotherHistoryIsSaidToBeLostAndEventsGoOnFromNow(_ cursor: String) async throws {
        let engine = try await EngineUnderTest()
        _ = try await engine.addTodo("missed")
        let sink = try engine.subscribe(Self.todoAdded, relay: ["resume": .string(cursor)])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("new")
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[0]["data"] == .null)
        #expect(results[0].recovered == false)
        #expect(results[0].cursor == engine.cursor(3))
        #expect(results[1].text(of: "todoAdded") == "new")
    }

    @Test func aCursorFromBeforeACompactionIsLost() async throws {
        let engine = try await EngineUnderTest(journal: GatedJournal(earliestState: 3))
        _ = try await engine.addTodo("missed")
        _ = try await engine.addTodo("missed too")
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        let results = try await engine.results(of: sink, count: 1)
        #expect(results[0].recovered == false)
    }

    static let liveCursors: [(String, Bool)] = [
        ("test-0000000000000007-0000000000000001", true), ("elsewhere", false),
    ]

    @Test(arguments: liveCursors)
    func aLiveStreamGetsTheStateAsOfNowOnce(_ cursor: String, _ isRecovered: Bool) async throws {
        let engine = try await EngineUnderTest()
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        let sink = try engine.subscribe(
            "subscription { user { totalCount } }", relay: ["resume": .string(cursor)])
        _ = try await engine.results(of: sink, count: 2)
        _ = try await engine.addTodo("live")
        let results = try await engine.results(of: sink, count: 3)
        #expect(results[0]["data"] == .null)
        #expect(results[0].recovered == isRecovered)
        #expect(
            results.dropFirst().map { $0["data"]?["user"]?["totalCount"] } == [.int(5), .int(6)])
    }

    @Test(arguments: recentCommits)
    func whoTakesNothingIsNotSentMoreUntilThereIsRoom(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        let start = engine.cursor(1)
        for number in 0..<200 { _ = try await engine.addTodo("\(number)") }
        let sink = TestSink()
        sink.fill()
        try engine.subscribe(Self.todoAdded, relay: ["resume": .string(start)], sink: sink)
        try await eventually("the sink to be waited for") { sink.isAwaited ? true : nil }
        let count = engine.resultsSoFar(of: sink).count
        #expect(count < 100)
        sink.drain()
        let results = try await engine.results(of: sink, count: 201)
        #expect(
            results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<200).map { "\($0)" })
        #expect(results.filter { $0.recovered != nil }.count == 1)
    }

    /// What was delivered and not taken counts, however quickly one result follows the other. Told by the publisher,
    /// from memory, and from the log.
    @Test(arguments: [(20, 4_096), (100, 4_096), (100, 1)], [1, 7])
    func noMoreIsOnItsWayThanThereIsRoomFor(_ missed: (Int, Int), _ room: Int) async throws {
        let (count, kept) = missed
        let engine = try await EngineUnderTest(recentCommits: kept)
        let start = engine.cursor(1)
        for number in 0..<count { _ = try await engine.addTodo("\(number)") }
        let sinks = [TestSink(), TestSink()]
        for sink in sinks {
            sink.makeRoom(room)
            try engine.subscribe(Self.todoAdded, relay: ["resume": .string(start)], sink: sink)
        }
        var told = 0
        while told < count + 1 {
            told = min(told + room, count + 1)
            for sink in sinks {
                let results = try await engine.results(of: sink, count: told)
                if told == count + 1 { break }
                try await eventually("the sink to be waited for") { sink.isAwaited ? true : nil }
                #expect(results.count == told)
                #expect(engine.resultsSoFar(of: sink).count == told)
            }
            for sink in sinks { sink.makeRoom(room) }
        }
        _ = try await engine.addTodo("live")
        for sink in sinks {
            sink.drain()
            let results = try await engine.results(of: sink, count: count + 2)
            #expect(
                results.dropFirst().map { $0.text(of: "todoAdded") }
                    == (0..<count).map { "\($0)" } + ["live"])
        }
    }

    @Test func equalOnesWhoMissedMuchAreToldFromMemoryByOneExecution() async throws {
        let engine = try await EngineUnderTest()
        let start = engine.cursor(1)
        for number in 0..<100 { _ = try await engine.addTodo("\(number)") }
        let before = engine.service.subscriptionExecutions.run
        let sinks = try (0..<20).map { _ in
            try engine.subscribe(Self.todoAdded, relay: ["resume": .string(start)])
        }
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 101)
            #expect(
                results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<100).map { "\($0)" })
        }
        // Neither one by one in the publisher, which would keep everybody else waiting, nor from the log.
        #expect(engine.service.subscriptionExecutions.run == before)
        #expect(engine.journal.stateCount == 0)
    }

    /// Under a steady load there is always a newer commit. A pass over memory ends all the same, so that others have their
    /// turn.
    @Test func aPassOverMemoryEndsUnderLoad() async throws {
        let hook = SettleHook()
        let engine = try await EngineUnderTest(onSettle: hook)
        let start = engine.cursor(1)
        for number in 0..<100 { _ = try await engine.addTodo("\(number)") }
        let relay: JSONObject = ["resume": .string(start)]
        let second = TestSink()
        let settles = Lock((all: 0, untilSecond: Int?.none))
        hook.set { [weak engine] in
            guard let engine else { return }
            let count = settles.withLock { settles in
                settles.all += 1
                return settles.all
            }
            if count == 1 {
                _ = try? engine.subscribe(Self.todoAdded, relay: relay, sink: second)
            } else if !engine.resultsSoFar(of: second).isEmpty {
                settles.withLock { $0.untilSecond = $0.untilSecond ?? count }
                return hook.set(nil)
            }
            guard count < 300 else { return }
            _ = try? await engine.addTodo("more")
            // Until memory has it, too.
            try? await engine.everyPublication()
        }
        let first = try engine.subscribe(Self.todoAdded, relay: relay)
        for sink in [first, second] {
            let results = try await engine.results(of: sink, count: 101)
            #expect(
                results[1...100].map { $0.text(of: "todoAdded") } == (0..<100).map { "\($0)" })
        }
        // 100 commits are four settles, and the second is told in the pass behind it.
        #expect(try #require(settles.withLock { $0.untilSecond }) < 20)
    }

    /// A pass over memory ends where the head was when it began, however many commits come meanwhile. They are told by
    /// another pass, and not by the publisher to one after the other.
    @Test func whatComesDuringAPassIsToldByTheNext() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate)
        let start = engine.cursor(1)
        for number in 0..<100 { _ = try await engine.addTodo("\(number)") }
        let before = engine.service.subscriptionExecutions.run
        let relay: JSONObject = ["resume": .string(start)]
        var sinks = [try engine.subscribe(Self.todoAdded, relay: relay)]
        // Its pass waits for the sink, and so much comes that it is far behind again.
        try await eventually("the pass to wait") { gate.waitingCount == 1 ? true : nil }
        sinks += try (0..<20).map { _ in try engine.subscribe(Self.todoAdded, relay: relay) }
        for number in 100..<200 { _ = try await engine.addTodo("\(number)") }
        gate.open()
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 201)
            #expect(
                results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<200).map { "\($0)" })
        }
        #expect(engine.service.subscriptionExecutions.run == before)
    }

    @Test func whoComesBackGoesOnWithoutTheLogBeingFoldedAnew() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        let start = engine.cursor(1)
        for number in 0..<300 { _ = try await engine.addTodo("\(number)") }
        let sink = TestSink()
        sink.fill()
        try engine.subscribe(Self.todoAdded, relay: ["resume": .string(start)], sink: sink)
        for _ in 0..<4 {
            try await eventually("the sink to be waited for") { sink.isAwaited ? true : nil }
            sink.makeRoom(40)
        }
        sink.drain()
        let results = try await engine.results(of: sink, count: 301)
        #expect(
            results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<300).map { "\($0)" })
        #expect(engine.journal.stateCount == 1)
    }

    @Test func whoComesBackWithTheSameCursorPaysForNothingTwice() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<30 { _ = try await engine.addTodo("\(number)") }
        for _ in 0..<3 {
            let sink = try engine.subscribe(
                Self.todoAdded, relay: ["resume": .string(engine.cursor(21))])
            let results = try await engine.results(of: sink, count: 21)
            #expect(
                results.dropFirst().map { $0.text(of: "todoAdded") }
                    == (10..<30).map { "\($0)" })
            engine.service.unsubscribe(sink)
        }
        #expect(engine.journal.stateCount == 1)
    }

    /// More aliases than are allowed where nothing else is said.
    @Test func resumingGoesByTheLimitsThatWereConfigured() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.document.aliases = 1_000 }
        let start = engine.cursor(1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        let aliases = (0..<600).map { "t\($0): text" }.joined(separator: " ")
        let sink = try engine.subscribe(
            "subscription { todoAdded { todo { text \(aliases) } } }",
            relay: ["resume": .string(start)])
        let results = try await engine.results(of: sink, count: 4)
        #expect(results[0].recovered == true, "\(results[0])")
        #expect(results.last?.text(of: "todoAdded") == "2")
        let query = "{ user { \((0..<600).map { "t\($0): totalCount" }.joined(separator: " ")) } }"
        let past = try await engine.run(query, relay: ["at": 3])
        #expect(past["data"]?["user"]?["t599"] == 3, "\(past)")
    }

    @Test func whoWasAwayForMoreThanMayBeFoldedIsToldThatTheCursorIsTooOld() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1, resumeEvents: 20)
        for number in 0..<15 { _ = try await engine.addTodo("\(number)") }
        let tooOld = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        let young = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(15))])
        _ = try await engine.results(of: tooOld, count: 1)
        _ = try await engine.results(of: young, count: 9)
        _ = try await engine.addTodo("new")
        let lost = try await engine.results(of: tooOld, count: 2)
        #expect(lost[0].recovered == false)
        #expect(lost[0].cursor == engine.cursor(31))
        #expect(lost[1].text(of: "todoAdded") == "new")
        let recovered = try await engine.results(of: young, count: 10)
        #expect(recovered[0].recovered == true)
        #expect(
            recovered.dropFirst().map { $0.text(of: "todoAdded") }
                == (7..<15).map { "\($0)" } + ["new"])
    }

    /// The hash is forgotten while the stream is caught up; the request keeps what it stood for.
    @Test func aStreamWhoseDocumentIsForgottenGoesOn() async throws {
        let persisted = PersistedOperations(registeredBytes: 200)
        let engine = try await EngineUnderTest(recentCommits: 1, persisted: persisted)
        for number in 0..<80 { _ = try await engine.addTodo("\(number)") }
        var request = GraphQLRequest(query: Self.todoAdded)
        request.documentID = .sha256(PersistedOperations.hash(of: Self.todoAdded))
        _ = try engine.service.prepare(request)
        request.query = ""
        request.extensions = ["relay": ["resume": .string(engine.cursor(1))]]
        let sink = TestSink()
        sink.fill()
        try engine.service.subscribe(engine.service.prepare(request), request, sink: sink)
        try await eventually("the sink to be waited for") { sink.isAwaited ? true : nil }
        for number in 0..<4 {
            var other = GraphQLRequest(query: "{ user { id name\(number): totalCount } } ")
            other.query += String(repeating: "#", count: 100)
            other.documentID = .sha256(PersistedOperations.hash(of: other.query))
            _ = try engine.service.prepare(other)
        }
        #expect(throws: ExecutionErrors.self) { _ = try engine.service.prepare(request) }
        sink.drain()
        let results = try await engine.results(of: sink, count: 81)
        #expect(
            results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<80).map { "\($0)" })
    }

    /// What is kept of an earlier pass is no reason to fold what a checkpoint has.
    @Test func aStateThatIsFarAwayIsNotGoneOnFromUnaskedTheJournal() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.nearEvents = 10 }
        for number in 0..<30 { _ = try await engine.addTodo("\(number)") }
        for (cursor, asked) in [(3, 1), (13, 1), (41, 2)] as [(UInt64, Int)] {
            let sink = try engine.subscribe(
                Self.todoAdded, relay: ["resume": .string(engine.cursor(cursor))])
            let missed = Int(cursor / 2)..<30
            let results = try await engine.results(of: sink, count: missed.count + 1)
            #expect(
                results.dropFirst().map { $0.text(of: "todoAdded") } == missed.map { "\($0)" })
            #expect(engine.journal.stateCount == asked, "\(cursor)")
        }
    }

    @Test func soManyStreamsWaitForWhatTheyHaveMissedAndNoMore() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.resumingSubscriptions = 2 }
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        let relay: JSONObject = ["resume": .string(engine.cursor(1))]
        engine.journal.holdReads()
        var sinks = [try engine.subscribe(Self.todoAdded, relay: relay)]
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        for _ in 0..<2 { sinks.append(try engine.subscribe(Self.todoAdded, relay: relay)) }
        let refused = try engine.subscribe(Self.todoAdded, relay: relay)
        let results = try await engine.results(of: refused, count: 1)
        #expect(results[0].firstErrorCode == "OVERLOADED")
        engine.journal.releaseReads()
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 4)
            #expect(results.dropFirst().map { $0.text(of: "todoAdded") } == ["0", "1", "2"])
        }
    }

    /// Lets time pass until a stream has been told so much.
    private func results(
        of sink: TestSink, count: Int, passing engine: EngineUnderTest
    ) async throws -> [JSONValue] {
        try await eventually("\(count) results") {
            _ = engine.passTime()
            return engine.resultsSoFar(of: sink).count >= count ? true : nil
        }
        return try await engine.results(of: sink, count: count)
    }

    /// A process may have no descriptor left for a moment. The log has what was missed all the same.
    @Test(arguments: [1, FailedReadings.retryLimit])
    func aReadThatFailsIsTriedAgain(_ failures: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        engine.journal.failReads(failures)
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        let results = try await results(of: sink, count: 4, passing: engine)
        #expect(results[0]["extensions"]?["relay"]?["recovered"] == true)
        #expect(results.dropFirst().map { $0.text(of: "todoAdded") } == ["0", "1", "2"])
    }

    /// In the middle of what it was told, too.
    @Test func aReadThatFailsLaterIsTriedAgain() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        engine.journal.failEvents(behind: 20)
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        let results = try await results(of: sink, count: 41, passing: engine)
        #expect(
            results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<40).map { "\($0)" })
    }

    /// A stream that was told nothing begins anew.
    @Test func aLogThatStaysUnreadableIsAGap() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        engine.journal.failReads(.max)
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        let results = try await results(of: sink, count: 1, passing: engine)
        #expect(results[0]["extensions"]?["relay"]?["recovered"] == false)
    }

    /// Damage does not go away: it is not read again and again.
    @Test func damageIsAGapAtOnce() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        engine.journal.failReads(2, with: Damage())
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        // No time passes.
        let results = try await engine.results(of: sink, count: 1)
        #expect(results[0]["extensions"]?["relay"]?["recovered"] == false)
    }

    /// Others of the same pass that have missed nothing before it go on with a later state.
    @Test func damageInTheMiddleEndsOnlyThoseWhoHaveMissedIt() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.nearEvents = 0 }
        for number in 0..<30 { _ = try await engine.addTodo("\(number)") }
        engine.journal.keep(engine.service.snapshot)
        for number in 30..<40 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        func resume(_ sequence: UInt64) throws -> TestSink {
            try engine.subscribe(
                Self.todoAdded, relay: ["resume": .string(engine.cursor(sequence))])
        }
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        // Those that come while the first one is served are served together.
        let first = try resume(75)
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        let (far, near) = (try resume(1), try resume(65))
        try await eventually("both to wait") { engine.service.unpublishedCount == 0 ? true : nil }
        engine.journal.releaseHeldReads()
        _ = try await engine.results(of: first, count: 4)
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        engine.journal.failEvents(behind: 20, with: Damage())
        engine.journal.releaseReads()
        let told = try await engine.results(of: near, count: 9)
        #expect(
            told.dropFirst().map { $0.text(of: "todoAdded") } == (32..<40).map { "\($0)" })
        try await eventually("the end") { engine.resultsSoFar(of: far).last?.firstErrorCode }
    }

    /// A stream that has been told that it goes on ends at the damage; then the gap is told.
    @Test func damageInTheMiddleIsAGapForTheNextResume() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        engine.journal.failEvents(behind: 20, with: Damage())
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        try await eventually("the end") {
            engine.resultsSoFar(of: sink).last?.firstErrorCode
        }
        let told = engine.resultsSoFar(of: sink)
        let cursor = try #require(
            told.last { $0["data"] != nil }?["extensions"]?["relay"]?["cursor"]?.string)
        let next = try engine.subscribe(Self.todoAdded, relay: ["resume": .string(cursor)])
        let results = try await engine.results(of: next, count: 1)
        #expect(results[0]["extensions"]?["relay"]?["recovered"] == false)
    }

    private struct Damage: EventReadError {
        let isLasting = true
    }

    /// One that was told that it goes on ends; its last cursor is still good.
    @Test func aLogThatBecomesUnreadableEndsAStream() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1)
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        engine.journal.failEvents(behind: 20)
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        _ = try await engine.results(of: sink, count: 2)
        engine.journal.failReads(.max)
        try await eventually("the end") {
            _ = engine.passTime()
            return engine.resultsSoFar(of: sink).last?.firstErrorCode
        }
        let told = engine.resultsSoFar(of: sink)
        #expect(told.last?.firstErrorCode == "OVERLOADED")
        #expect(
            told.dropFirst().dropLast().map { $0.text(of: "todoAdded") }
                == (0..<told.count - 2).map { "\($0)" })
    }

    /// Their requests would stay in memory until it is their turn, however many the client ends and begins anew.
    @Test func streamsThatHaveEndedDoNotWait() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.resumingSubscriptions = 20 }
        for number in 0..<3 { _ = try await engine.addTodo("\(number)") }
        let relay: JSONObject = ["resume": .string(engine.cursor(1))]
        engine.journal.holdReads()
        _ = try engine.subscribe(Self.todoAdded, relay: relay)
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        for _ in 0..<100 {
            let sink = try engine.subscribe(Self.todoAdded, relay: relay)
            sink.leave()
            engine.service.unsubscribe(sink)
        }
        let last = try engine.subscribe(Self.todoAdded, relay: relay)
        engine.journal.releaseReads()
        let results = try await engine.results(of: last, count: 4)
        #expect(results.dropFirst().map { $0.text(of: "todoAdded") } == ["0", "1", "2"])
    }

    @Test(arguments: recentCommits)
    func soMuchOfWhatWasMissedIsOnItsWayAndNoMore(_ kept: Int) async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(recentCommits: kept, settling: gate)
        for number in 0..<100 { _ = try await engine.addTodo("\(number)") }
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        try await eventually("telling to wait") { gate.waitingCount == 1 ? true : nil }
        // The first says that it goes on.
        #expect(engine.resultsSoFar(of: sink).count == 1 + CatchUp.settleInterval)
        gate.open()
        let results = try await engine.results(of: sink, count: 101)
        #expect(
            results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<100).map { "\($0)" })
    }

    /// One result waits for a client without room; that of another stream is made when its client has room. None ends.
    @Test(arguments: recentCommits)
    func soMuchOfWhatWasMissedWaitsForClientsAndNoMore(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept) { $0.heldResultBytes = 1 }
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        let sinks = try ["id text", "text"].map { fields in
            let sink = TestSink()
            sink.fill()
            return try engine.subscribe(
                "subscription { todoAdded { todo { \(fields) } } }",
                relay: ["resume": .string(engine.cursor(1))], sink: sink)
        }
        // Each is told that it goes on.
        for sink in sinks { _ = try await engine.results(of: sink, count: 1) }
        try await eventually("both to wait") { sinks.allSatisfy(\.isAwaited) ? true : nil }
        // Both results would have more.
        let held = engine.service.heldResultBytes
        #expect((1..<300).contains(held))
        let third = try engine.subscribe(
            "subscription { todoAdded { todo { complete text } } }",
            relay: ["resume": .string(engine.cursor(1))])
        _ = try await engine.results(of: third, count: 41)
        for sink in sinks {
            #expect(engine.resultsSoFar(of: sink).count == 1)
            sink.drain()
        }
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 41)
            #expect(
                results.dropFirst().map { $0.text(of: "todoAdded") } == (0..<40).map { "\($0)" })
        }
    }

    @Test(arguments: recentCommits)
    func subscriptionsForWhichOnePassHasNoRoomAreServedByTheNext(_ kept: Int) async throws {
        let (operations, equal) = (5, 8)
        let engine = try await EngineUnderTest(recentCommits: kept) { $0.catchUpPassBytes = 0 }
        let (sinks, reads) = try await resume(
            engine, (0..<operations * equal).map { (operation: $0 % operations, variables: [:]) })
        #expect(sinks.count == operations * equal)
        // Equal ones are in one pass. Not all may have come in time for the first.
        if kept == 1 { #expect((operations...2 * operations).contains(reads)) }
    }

    /// One that a pass had no room for is in the next, before those that came later and have missed more.
    @Test func whoIsLeftOverIsNotOvertaken() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.catchUpPassBytes = 0 }
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        func resume(_ operation: Int, after sequence: UInt64) throws -> TestSink {
            try engine.subscribe(
                "subscription { todoAdded { todo { a\(operation): id text } } }",
                relay: ["resume": .string(engine.cursor(sequence))])
        }
        func everyoneToWait() async throws {
            try await eventually("all to wait") {
                engine.service.unpublishedCount == 0 && engine.journal.heldReadCount == 1
                    ? true : nil
            }
        }
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        let first = try resume(0, after: 1)
        try await everyoneToWait()
        let (second, left) = (try resume(1, after: 1), try resume(2, after: 21))
        try await everyoneToWait()
        try await eventually("the first to be told, and the third to be left over") {
            if !engine.resultsSoFar(of: left).isEmpty { return true }
            engine.journal.releaseHeldReads()
            return nil
        }
        #expect(engine.resultsSoFar(of: first).count == 41)
        let late = try resume(3, after: 1)
        try await eventually("the last one to begin") {
            if engine.resultsSoFar(of: late).count > 1 { return true }
            engine.journal.releaseHeldReads()
            return nil
        }
        #expect(engine.resultsSoFar(of: second).count == 41)
        #expect(engine.resultsSoFar(of: left).count == 31)
    }

    /// Their plan is the same, so it is counted once.
    @Test func subscriptionsThatDifferInVariablesAreServedTogether() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.catchUpPassBytes = 60_000 }
        let (_, reads) = try await resume(
            engine, (0..<40).map { (operation: 0, variables: ["n": .int($0 + 1)]) })
        #expect((1...3).contains(reads))
    }

    /// Resumes subscriptions after the first event, while reads of the log are held.
    /// - Returns: their sinks, which have all results, and how often the log was read.
    private func resume(
        _ engine: EngineUnderTest, _ asked: [(operation: Int, variables: JSONObject)]
    ) async throws -> (sinks: [TestSink], reads: Int) {
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        engine.journal.holdReads()
        let sinks = try asked.map { asked in
            try engine.subscribe(
                """
                subscription($n: Int) { todoAdded { todo { a\(asked.operation): id text }
                  user { todos(last: $n) { edges { node { id } } } } } }
                """, asked.variables,
                relay: [
                    "resume": .string(engine.cursor(1)), "records": .bool(asked.operation % 2 == 0),
                ])
        }
        try await eventually("all to wait") { engine.service.unpublishedCount == 0 ? true : nil }
        let before = engine.service.counters.now.resumedEvents
        engine.journal.releaseReads()
        for sink in sinks { #expect(try await engine.results(of: sink, count: 41).count == 41) }
        // Each pass reads the 80 events.
        return (sinks, (Int(engine.service.counters.now.resumedEvents - before) + 79) / 80)
    }

    /// What is in memory does not wait for those whose past is read from the log.
    @Test func whoIsToldFromMemoryDoesNotWaitForTheLog() async throws {
        let engine = try await EngineUnderTest(recentCommits: 50)
        for number in 0..<100 { _ = try await engine.addTodo("\(number)") }
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        let far = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(1))])
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        let near = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(121))])
        let results = try await engine.results(of: near, count: 41)
        #expect(
            results.dropFirst().map { $0.text(of: "todoAdded") } == (60..<100).map { "\($0)" })
        #expect(engine.resultsSoFar(of: far).isEmpty)
        engine.journal.releaseReads()
        _ = try await engine.results(of: far, count: 101)
    }

    /// The pass for who is near does not begin where somebody else has stopped long ago.
    @Test func whoHasMissedLittleDoesNotWaitForWhoHasMissedMuch() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) { $0.nearEvents = 0 }
        for number in 0..<300 { _ = try await engine.addTodo("\(number)") }
        func resume(_ sequence: UInt64) throws -> TestSink {
            try engine.subscribe(
                Self.todoAdded, relay: ["resume": .string(engine.cursor(sequence))])
        }
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        // Those that come while the first one is served are served together.
        let first = try resume(1)
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        let (far, near) = (try resume(3), try resume(591))
        try await eventually("both to wait") { engine.service.unpublishedCount == 0 ? true : nil }
        engine.journal.releaseHeldReads()
        _ = try await engine.results(of: first, count: 301)
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        engine.journal.releaseHeldReads()
        _ = try await engine.results(of: near, count: 6)
        #expect(engine.resultsSoFar(of: far).isEmpty)
        engine.journal.releaseReads()
        _ = try await engine.results(of: far, count: 300)
        #expect(
            engine.resultsSoFar(of: near).dropFirst().map { $0.text(of: "todoAdded") }
                == (295..<300).map { "\($0)" })
    }

    @Test func aCursorThatIsFarFromAnyStateIsTooOld() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1, resumeEvents: 20)
        for number in 0..<15 { _ = try await engine.addTodo("\(number)") }
        // This journal has no state but that before the first event.
        let sink = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(27))])
        let results = try await engine.results(of: sink, count: 1)
        #expect(results[0].recovered == false)
    }

    /// Who is served with one that cannot be is told all the same, if a later state leads there.
    @Test(arguments: [false, true])
    func whoIsTooFarFromAnyStateTakesNobodyAlong(isGone: Bool) async throws {
        let engine = try await EngineUnderTest(recentCommits: 1, resumeEvents: isGone ? 1_000 : 20)
        { $0.nearEvents = 0 }
        for number in 0..<30 { _ = try await engine.addTodo("\(number)") }
        engine.journal.keep(engine.service.snapshot)
        if isGone { engine.journal.forgetBeginning() }
        for number in 30..<35 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        func resume(_ sequence: UInt64) throws -> TestSink {
            try engine.subscribe(
                Self.todoAdded, relay: ["resume": .string(engine.cursor(sequence))])
        }
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        // Those that come while the first one is served are served together.
        let first = try resume(61)
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        let (far, near) = (try resume(55), try resume(65))
        try await eventually("both to wait") { engine.service.unpublishedCount == 0 ? true : nil }
        engine.journal.releaseReads()
        let told = try await engine.results(of: near, count: 4)
        #expect(told[0].recovered == true)
        #expect(told.dropFirst().map { $0.text(of: "todoAdded") } == ["32", "33", "34"])
        #expect(try await engine.results(of: far, count: 1)[0].recovered == false)
        #expect(try await engine.results(of: first, count: 6).count == 6)
    }

    /// It has a place already, as a subscription of its connection.
    @Test func whoGoesOnIsNotRefusedForThoseWhoWait() async throws {
        let engine = try await EngineUnderTest(recentCommits: 1) {
            ($0.resumingSubscriptions, $0.nearEvents) = (1, 0)
        }
        for number in 0..<5 { _ = try await engine.addTodo("\(number)") }
        let relay: JSONObject = ["resume": .string(engine.cursor(1))]
        let slow = TestSink()
        slow.makeRoom(1)
        try engine.subscribe(Self.todoAdded, relay: relay, sink: slow)
        try await eventually("the slow one to leave") { slow.isAwaited ? true : nil }
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        // Two states are in memory: those after events 1 and 3.
        let served = try engine.subscribe(
            Self.todoAdded, relay: ["resume": .string(engine.cursor(5))])
        try await eventually("a read") { engine.journal.heldReadCount == 1 ? true : nil }
        let waiting = try engine.subscribe(Self.todoAdded, relay: relay)
        let refused = try engine.subscribe(Self.todoAdded, relay: relay)
        #expect(try await engine.results(of: refused, count: 1)[0].firstErrorCode == "OVERLOADED")
        slow.drain()
        engine.journal.releaseReads()
        for (sink, missed) in [(slow, 0..<5), (served, 2..<5), (waiting, 0..<5)] {
            let told = try await engine.results(of: sink, count: 1 + missed.count).dropFirst()
            #expect(told.map { $0.text(of: "todoAdded") } == missed.map { "\($0)" })
        }
    }

    @Test func whoIsNoLongerWantedDoesNotBecomeASubscriber() async throws {
        let engine = try await EngineUnderTest()
        let sink = TestSink()
        sink.leave()
        try engine.subscribe(Self.todoAdded, sink: sink)
        let other = try engine.subscribe("subscription { user { totalCount } }")
        _ = try await engine.results(of: other, count: 1)
        #expect(engine.service.subscriptionCounts.subscriptions == 1)
    }

    static let wrongRequests: [(String, JSONObject)] = [
        ("{ user { id } }", ["resume": "x"]), (todoAdded, ["resume": 7]),
        (todoAdded, ["at": 1]), ("query @live { user { id } }", ["at": 1]),
        (todoAdded, ["records": "yes"]), (todoAdded, ["explain": 0]),
        (todoAdded, ["explain": "3"]), (todoAdded, ["explain": 9_223_372_036_854_775_807]),
        ("{ user { id } }", ["explain": 1, "at": 1]),
        ("mutation { addTodo(input: {text: \"\"}) { todo { id } } }", ["explain": 1]),
    ]

    @Test(arguments: wrongRequests)
    func whatDoesNotGoTogetherIsRefused(_ query: String, _ relay: JSONObject) async throws {
        let engine = try await EngineUnderTest()
        let result = try await engine.runOrSubscribe(query, relay: relay)
        #expect(result.firstErrorCode == "BAD_USER_INPUT")
    }
}

extension JSONValue {
    var relay: JSONValue? { self["extensions"]?["relay"] }
    var cursor: String? { relay?["cursor"]?.string }
    var recovered: Bool? { if case .bool(let value)? = relay?["recovered"] { value } else { nil } }

    func text(of field: String) -> String? { self["data"]?[field]?["todo"]?["text"]?.string }
}
