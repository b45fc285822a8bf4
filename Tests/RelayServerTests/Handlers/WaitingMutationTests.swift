import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import StoreEngine

/// Mutations whose handlers wait: in the log before they start, and ended by a response or a revocation.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct WaitingMutationTests {
    private let journal = GatedJournal()
    private let upstream = Upstream()
    private let engine: EngineUnderTest

    init() async throws {
        var handlers = HandlerSchema.handlers()
        handlers.mutation(
            "fetchItem",
            waitingFor: { [upstream] variables, _, _ in
                let text = try await upstream.answer()
                return { records, variables, _ in
                    let item = records.create(typeName: "Item")
                    item["text"] = text
                    item["done"] = false
                    let list = variables.input?["listId"]?.stringValue.flatMap {
                        records[DataID($0)]
                    }
                    list?.connection("items")?.insert(item, edgeType: "ItemEdge", at: .end)
                    return item.dataID
                }
            })
        engine = try await EngineUnderTest(
            journal: journal, sdl: HandlerSchema.base, handlers: handlers,
            seed: HandlerSchema.seed, limits: { $0.waitingHandlers = 3 })
    }

    @Test func soManyHandlersWaitAndNoMore() async throws {
        let answers = try (0..<3).map { _ in try engine.post(Self.fetch) }
        try await eventually("three handlers") { upstream.timesAsked == 3 ? true : nil }
        #expect(try await engine.run(Self.fetch).firstErrorCode == "OVERLOADED")
        upstream.give("at last")
        for answer in answers { #expect(try await answer.get().firstErrorCode == nil) }
        async let next = engine.run(Self.fetch)
        try await upstream.isAsked()
        upstream.give("again")
        #expect(try await next.firstErrorCode == nil)
    }

    @Test func anIDIsItsMutationsWhileTheHandlerWaits() async throws {
        let first = try engine.post(Self.fetch, mutationID: "c:1")
        try await upstream.isAsked()
        let other = Self.fetch.replacing("asked for", with: "something else")
        #expect(
            try await engine.run(other, mutationID: "c:1").firstErrorCode == "MUTATION_ID_REUSED")
        upstream.give("once")
        #expect(try await first.get().firstErrorCode == nil)
    }

    private static let fetch = """
        mutation { fetchItem(input: {text: "asked for", listId: "one"}) {
            item { id text done } itemEdge { node { id } } } }
        """

    private static let expected: JSONValue = [
        "fetchItem": [
            "item": ["id": "client:1", "text": "expected", "done": true],
            "itemEdge": ["node": ["id": "client:1"]],
        ]
    ]

    private func kinds() async throws -> [String] {
        var kinds: [String] = []
        for try await event in journal.events(from: 2) {
            kinds.append("\(event.body)".prefix { $0 != "(" }.description)
            if kinds.count == engine.eventCount - 1 { break }
        }
        return kinds
    }

    @Test func otherMutationsGoOnWhileOneWaitsAndItWritesOnTheNewestState() async throws {
        async let answer = engine.run(
            Self.fetch, relay: ["optimisticResponse": Self.expected])
        try await upstream.isAsked()
        // The intent is durable, with what the client expects, and nobody sees it confirmed.
        let pending = try #require(engine.service.snapshot.pending.first)
        #expect(pending.intent.field == "fetchItem")
        #expect(pending.intent.optimistic?.recordIDs == ["client:1", "l1"])
        _ = try await engine.run(
            #"mutation { addItem(input: {text: "meanwhile", listId: "l1"}) { item { id } } }"#)

        upstream.give("fetched")
        let result = try await answer
        #expect(
            result["data"]?["fetchItem"]?["item"]
                == ["id": "Item-2", "text": "fetched", "done": false], "\(result)")
        let list = try await engine.run(
            #"{ list(name: "one") { items { edges { node { text } } } } }"#)
        let texts = list["data"]?["list"]?["items"]?["edges"]?.array?.map { $0["node"]?["text"] }
        #expect(texts == ["a", "b", "meanwhile", "fetched"])
        #expect(engine.service.snapshot.pending.isEmpty)
        #expect(try await kinds() == ["mutation", "mutation", "response", "response"])
    }

    /// With ids, by which objects are known.
    private static let list = """
        query @live { list(name: "one") { id name size items { edges { node { id text done } } } } }
        """

    private func unconfirmed(_ result: JSONValue) -> JSONValue? {
        result.relay?["optimisticRecords"]
    }

    @Test func whatIsNotConfirmedIsNamed() async throws {
        let sinks = try [
            engine.subscribe(Self.list, relay: ["optimistic": true]),
            engine.subscribe(Self.list, relay: ["optimistic": true, "records": true]),
            // Without an id nobody knows what is meant.
            engine.subscribe(Self.live, relay: ["optimistic": true]),
        ]
        for sink in sinks { _ = try await engine.results(of: sink, count: 1) }
        async let answer = engine.run(Self.fetch, optimisticResponse: Self.expected)
        try await upstream.isAsked()
        let named: [JSONValue] = [["client:1", "l1"], ["client:1", "l1"], []]
        for (sink, named) in zip(sinks, named) {
            let shown = try await engine.results(of: sink, count: 2)
            #expect(unconfirmed(shown[0]) == nil)
            #expect(unconfirmed(shown[1]) == named)
            #expect(shown[1].relay?["optimistic"] == true)
        }
        // Whoever comes now is told, too; and what others do is confirmed.
        let late = try engine.subscribe(Self.list, relay: ["optimistic": true])
        #expect(unconfirmed(try await engine.results(of: late, count: 1)[0]) == ["client:1", "l1"])
        _ = try await engine.run(
            #"mutation { addItem(input: {text: "meanwhile", listId: "l1"}) { item { id } } }"#)
        #expect(unconfirmed(try await engine.results(of: late, count: 2)[1]) == ["client:1", "l1"])
        upstream.give("fetched")
        _ = try await answer
        for (sink, count) in zip(sinks + [late], [4, 4, 4, 3]) {
            let last = try await engine.results(of: sink, count: count)[count - 1]
            #expect(unconfirmed(last) == nil && last.relay?["optimistic"] == nil)
        }
    }

    /// Of several mutations each names its own, and takes them back with it.
    @Test func whatIsConfirmedOrRevokedIsNamedNoMore() async throws {
        func expected(_ id: String, _ text: String) -> JSONValue {
            ["fetchItem": ["item": ["id": .string(id), "text": .string(text), "done": true]]]
        }
        let sink = try engine.subscribe(Self.list, relay: ["optimistic": true])
        let first = try engine.post(
            Self.fetch, relay: ["optimisticResponse": expected("i1", "A")])
        try await upstream.isAsked()
        #expect(unconfirmed(try await engine.results(of: sink, count: 2)[1]) == ["i1"])
        let second = try engine.post(
            Self.fetch, relay: ["optimisticResponse": expected("i2", "B")])
        #expect(unconfirmed(try await engine.results(of: sink, count: 3)[2]) == ["i1", "i2"])
        try await eventually("both handlers") { upstream.timesAsked == 2 ? true : nil }
        upstream.fail(HandlerError("The upstream is down."))
        _ = try await (first.get(), second.get())
        try await engine.everyPublication()
        let last = try #require(engine.resultsSoFar(of: sink).last)
        #expect(unconfirmed(last) == nil && last.relay?["optimistic"] == nil)
    }

    /// What is expected is what there is: nothing is shown that is not confirmed.
    @Test func whatIsExpectedAsItIsIsConfirmed() async throws {
        let sink = try engine.subscribe(Self.list, relay: ["optimistic": true])
        _ = try await engine.results(of: sink, count: 1)
        let answer = try engine.post(
            Self.fetch,
            relay: [
                "optimisticResponse": [
                    "fetchItem": ["item": ["id": "i1", "text": "a", "done": true]]
                ]
            ])
        try await upstream.isAsked()
        try await engine.everyPublication()
        #expect(engine.resultsSoFar(of: sink).count == 1)
        upstream.fail(HandlerError("The upstream is down."))
        _ = try await answer.get()
    }

    static let live = "subscription { listed(name: \"one\") { items { edges { node { text } } } } }"

    private func texts(_ result: JSONValue) -> [String] {
        result["data"]?["listed"]?["items"]?["edges"]?.array?.compactMap {
            $0["node"]?["text"]?.string
        } ?? []
    }

    @Test func whoAsksForItSeesWhatIsExpectedMarkedUntilTheResponse() async throws {
        let curious = try engine.subscribe(Self.live, relay: ["optimistic": true])
        let patched = try engine.subscribe(
            Self.live, relay: ["optimistic": true, "records": true])
        let others = try engine.subscribe(Self.live)
        async let answer = engine.run(Self.fetch, optimisticResponse: Self.expected)
        try await upstream.isAsked()
        let shown = try await engine.results(of: curious, count: 2)
        #expect(texts(shown[0]) == ["a", "b"])
        #expect(shown[0].relay?["optimistic"] == nil)
        #expect(texts(shown[1]) == ["a", "b", "expected"])
        #expect(shown[1].relay?["optimistic"] == true)
        // What others do meanwhile stands below it.
        _ = try await engine.run(
            #"mutation { addItem(input: {text: "meanwhile", listId: "l1"}) { item { id } } }"#)
        let rebased = try await engine.results(of: curious, count: 3)[2]
        #expect(texts(rebased) == ["a", "b", "meanwhile", "expected"])
        upstream.give("fetched")
        _ = try await answer

        let last = try await engine.results(of: curious, count: 4)[3]
        #expect(texts(last) == ["a", "b", "meanwhile", "fetched"])
        #expect(last.relay?["optimistic"] == nil)
        let confirmed = try await engine.results(of: others, count: 3)
        #expect(
            confirmed.map(texts) == [
                ["a", "b"], ["a", "b", "meanwhile"], ["a", "b", "meanwhile", "fetched"],
            ])
        #expect(confirmed.allSatisfy { $0.relay?["optimistic"] == nil })
        let patches = try await engine.results(of: patched, count: 4)
        #expect(patches.map { $0.relay?["optimistic"] == true } == [false, true, true, false])
        #expect(patches.dropFirst().allSatisfy { $0["data"] == .null })
    }

    @Test func whatWasExpectedIsTakenBackWhenTheHandlerFails() async throws {
        let curious = try engine.subscribe(Self.live, relay: ["optimistic": true])
        _ = try await engine.results(of: curious, count: 1)
        async let answer = engine.run(Self.fetch, optimisticResponse: Self.expected)
        try await upstream.isAsked()
        _ = try await engine.results(of: curious, count: 2)
        upstream.fail(HandlerError("The upstream is down."))
        _ = try await answer
        let last = try await engine.results(of: curious, count: 3)[2]
        #expect(texts(last) == ["a", "b"])
        #expect(last.relay?["optimistic"] == nil)
    }

    @Test func aHandlerThatFailsRevokesTheIntent() async throws {
        async let answer = engine.run(Self.fetch)
        try await upstream.isAsked()
        upstream.fail(HandlerError("The upstream is down.", code: "UPSTREAM"))
        let result = try await answer
        #expect(result["data"] == ["fetchItem": .null])
        #expect(result["errors"]?.array?.first?["message"] == "The upstream is down.")
        #expect(result["errors"]?.array?.first?["extensions"]?["code"] == "UPSTREAM")
        #expect(engine.service.snapshot.pending.isEmpty)
        #expect(try await kinds() == ["mutation", "revocation"])
    }

    @Test func aRepeatedMutationWaitsForTheFirstAndGetsItsAnswer() async throws {
        async let first = engine.run(Self.fetch, mutationID: "c:1")
        try await upstream.isAsked()
        async let second = engine.run(Self.fetch, mutationID: "c:1")
        // The queue is in order: when this is done, the repeated one has had its turn.
        _ = try await engine.run(
            #"mutation { addItem(input: {text: "x", listId: "l1"}) { item { id } } }"#)
        upstream.give("once")
        let results = try await [first, second]
        #expect(results[0] == results[1])
        #expect(results[0]["data"]?["fetchItem"]?["item"]?["text"] == "once")
        #expect(upstream.timesAsked == 1)
        #expect(engine.eventCount == 5)
    }

    @Test func soManyRepeatsWaitForOneHandlerAndNoMore() async throws {
        let first = try engine.post(Self.fetch, mutationID: "c:1")
        try await upstream.isAsked()
        let repeats = try (0..<PendingHead.joinLimit).map { _ in
            try engine.post(Self.fetch, mutationID: "c:1")
        }
        let refused = try await engine.run(Self.fetch, mutationID: "c:1")
        #expect(refused.firstErrorCode == "OVERLOADED")
        #expect(upstream.timesAsked == 1)
        upstream.give("once")
        let answer = try await first.get()
        #expect(answer.firstErrorCode == nil)
        for other in repeats { #expect(try await other.get() == answer) }
        #expect(try await engine.run(Self.fetch, mutationID: "c:1") == answer)
    }

    /// The intent that they have joined never comes to be.
    @Test func repeatsOfAMutationWhoseIntentCannotBeWrittenAreRefusedWithIt() async throws {
        journal.hold()
        let first = try engine.post(Self.fetch, mutationID: "c:1")
        try await eventually("the append") { journal.heldCount == 1 ? true : nil }
        let repeats = try (0..<3).map { _ in try engine.post(Self.fetch, mutationID: "c:1") }
        try await engine.everyTurn()
        #expect(journal.heldCount == 1, "they have joined the first")
        journal.release(failing: JournalError(code: .storageFull, message: "The disk is full."))
        for answer in [first] + repeats {
            #expect(try await answer.get().firstErrorCode == "STORAGE_FULL")
        }
        #expect(([first] + repeats).allSatisfy { $0.count == 1 })
        #expect(upstream.timesAsked == 0)
        // The id is free again.
        let again = try engine.post(Self.fetch, mutationID: "c:1")
        try await upstream.isAsked()
        upstream.give("now")
        #expect(try await again.get()["data"]?["fetchItem"]?["item"]?["text"] == "now")
    }

    /// The intent is in the log, and how it ends is not.
    @Test func repeatsOfAMutationWhoseEndCannotBeWrittenAreRefusedWithIt() async throws {
        let first = try engine.post(Self.fetch, mutationID: "c:1")
        try await upstream.isAsked()
        let repeats = try (0..<3).map { _ in try engine.post(Self.fetch, mutationID: "c:1") }
        try await engine.everyTurn()
        journal.hold()
        upstream.give("lost")
        try await eventually("the append") { journal.heldCount == 1 ? true : nil }
        journal.release(failing: JournalError(code: .storageFull, message: "The disk is full."))
        for answer in [first] + repeats {
            #expect(try await answer.get().firstErrorCode == "STORAGE_FULL")
        }
        #expect(upstream.timesAsked == 1)
    }

    @Test func aMutationThatWaitsStandsAlone() async throws {
        let result = try await engine.run(
            """
            mutation { fetchItem(input: {text: "", listId: "l1"}) { item { id } }
                addItem(input: {text: "x", listId: "l1"}) { item { id } } }
            """)
        #expect(result["errors"]?.array?.first?["extensions"]?["code"] == "BAD_USER_INPUT")
        #expect(engine.eventCount == 1)
        #expect(upstream.timesAsked == 0)
    }

    @Test func whenTheIntentCannotBeWrittenTheHandlerDoesNotStart() async throws {
        journal.hold()
        async let answer = engine.run(Self.fetch)
        try await eventually("the append") { journal.heldCount > 0 ? true : nil }
        journal.release(failing: JournalError(code: .storageFull, message: "The disk is full."))
        let result = try await answer
        #expect(result["errors"]?.array?.first?["extensions"]?["code"] == "STORAGE_FULL")
        #expect(upstream.timesAsked == 0)
        #expect(engine.service.snapshot.pending.isEmpty)
    }

    @Test func anIntentWhoseEndCannotBeWrittenIsRevokedWithTheNextMutation() async throws {
        async let answer = engine.run(Self.fetch)
        try await upstream.isAsked()
        journal.hold()
        upstream.give("lost")
        try await eventually("the append") { journal.heldCount > 0 ? true : nil }
        journal.release(failing: JournalError(code: .storageFull, message: "The disk is full."))
        #expect(
            try await answer["errors"]?.array?.first?["extensions"]?["code"] == "STORAGE_FULL")
        #expect(engine.service.snapshot.pending.count == 1)
        _ = try await engine.run(
            #"mutation { addItem(input: {text: "x", listId: "l1"}) { item { id } } }"#)
        #expect(engine.service.snapshot.pending.isEmpty)
        #expect(try await kinds() == ["mutation", "revocation", "mutation", "response"])
    }

    @Test func anIntentWhoseEndCannotBeWrittenIsRevokedInTimeWithoutAnotherMutation() async throws {
        async let answer = engine.run(Self.fetch)
        try await upstream.isAsked()
        journal.hold()
        upstream.give("lost")
        try await eventually("the append") { journal.heldCount > 0 ? true : nil }
        journal.release(failing: JournalError(code: .storageFull, message: "The disk is full."))
        _ = try await answer
        try await eventually("something to be postponed") { engine.passTime() ? true : nil }
        try await eventually("the revocation") { engine.eventCount == 3 ? true : nil }
        #expect(try await kinds() == ["mutation", "revocation"])
        #expect(engine.service.snapshot.pending.isEmpty)
    }
}

/// Something far away that answers when the test says so.
final class Upstream: Sendable {
    private let asked = Lock<[CheckedContinuation<String, any Error>]>([])
    private let count = Numbers()

    var timesAsked: Int { count.count }

    func answer() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            asked.withLock { $0.append(continuation) }
            _ = count.next()
        }
    }

    func isAsked() async throws {
        try await eventually("the handler") { asked.withLock { $0.isEmpty } ? nil : true }
    }

    func give(_ text: String) { take { $0.resume(returning: text) } }

    func fail(_ error: any Error) { take { $0.resume(throwing: error) } }

    private func take(_ body: (CheckedContinuation<String, any Error>) -> Void) {
        let waiting = asked.withLock { asked in
            defer { asked = [] }
            return asked
        }
        for continuation in waiting { body(continuation) }
    }
}
