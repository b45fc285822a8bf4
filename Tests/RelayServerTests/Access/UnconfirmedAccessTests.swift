import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// What a live result says of what others expect is only what its viewer may see.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct UnconfirmedAccessTests {
    private static let schema = """
        interface Node { id: ID! }
        type Person implements Node @access(read: { viewer: true }) { id: ID! }
        type Doc implements Node @access(
          read: { any: [{ field: { owner: "$viewer" } }, { field: { isPublic: true } }] }
          create: { viewer: true }
          update: { viewer: true }
        ) {
          id: ID!
          title: String
          isPublic: Boolean
          secret: String @access(read: { field: { owner: "$viewer" } })
          owner: Person
        }
        type Query { node(id: ID!): Node docs: [Doc!] @list(type: "Doc") }
        type Mutation { change(input: ChangeInput!): ChangePayload }
        input ChangeInput { docId: ID! }
        type ChangePayload { doc: Doc }
        """

    private static let seed = """
        {"id":"ann","type":"Person"}
        {"id":"bob","type":"Person"}
        {"id":"open","type":"Doc","fields":{"title":"Open","isPublic":true,"secret":"s","owner":{"ref":"ann"}}}
        {"id":"shut","type":"Doc","fields":{"title":"Shut","isPublic":false,"owner":{"ref":"ann"}}}
        """

    private let upstream = Upstream()
    private let engine: EngineUnderTest

    init() async throws {
        var handlers = Handlers()
        handlers.mutation(
            "change",
            waitingFor: { [upstream] _, _, _ in
                _ = try await upstream.answer()
                return { _, _, _ in nil }
            })
        engine = try await EngineUnderTest(
            sdl: Self.schema, handlers: handlers, seed: Self.seed)
    }

    /// What ann's and bob's newest results name while something is expected of a document; "nothing": none was sent.
    private func named(
        _ id: String, _ expected: JSONObject, records: Bool
    ) async throws -> [JSONValue] {
        let query = "query @live { docs { id title secret owner { id } } }"
        let sinks = try ["ann", "bob"].map {
            try engine.subscribe(
                query, as: Identity($0), relay: ["optimistic": true, "records": .bool(records)])
        }
        for sink in sinks { _ = try await engine.results(of: sink, count: 1) }
        var doc = expected
        doc["id"] = .string(id)
        let answer = try engine.post(
            "mutation { change(input: { docId: \"\(id)\" }) { doc { id title secret isPublic } } }",
            relay: ["optimisticResponse": ["change": ["doc": .object(doc)]]])
        try await upstream.isAsked()
        try await engine.everyPublication()
        let shown = sinks.map { engine.resultsSoFar(of: $0) }
        upstream.fail(HandlerError("not now"))
        _ = try await answer.get()
        for sink in sinks { engine.service.unsubscribe(sink) }
        return shown.map { results in
            results.count == 1
                ? "nothing" : results.last?.relay?["optimisticRecords"] ?? "unknown"
        }
    }

    @Test(arguments: [false, true])
    func whatIsHiddenIsNotNamed(records: Bool) async throws {
        #expect(
            try await named("open", ["title": "New"], records: records) == [["open"], ["open"]])
        #expect(
            try await named("shut", ["title": "New"], records: records) == [["shut"], "nothing"])
        // A field that bob may not read, of a document that he sees.
        #expect(
            try await named("open", ["secret": "new"], records: records) == [["open"], "nothing"])
        // A field that nobody asks for, and a rule looks at: what is expected opens and closes nothing for bob.
        #expect(
            try await named("shut", ["isPublic": true], records: records) == ["nothing", "nothing"])
    }

    /// Closing is what anybody may expect; it names nothing either.
    @Test(arguments: [false, true])
    func whatIsExpectedToBecomeHiddenIsNotNamed(records: Bool) async throws {
        #expect(
            try await named("open", ["isPublic": false], records: records) == ["nothing", []])
    }

    @Test func ofSeveralThoseThatAreSeenAreNamed() async throws {
        let sink = try engine.subscribe(
            "query @live { docs { id title } }", as: Identity("bob"), relay: ["optimistic": true])
        _ = try await engine.results(of: sink, count: 1)
        let answers = try ["shut", "open"].map { id in
            try engine.post(
                "mutation { change(input: { docId: \"\(id)\" }) { doc { id title } } }",
                relay: [
                    "optimisticResponse": ["change": ["doc": ["id": .string(id), "title": "x"]]]
                ])
        }
        try await eventually("both handlers") { upstream.timesAsked == 2 ? true : nil }
        try await engine.everyPublication()
        let last = try #require(engine.resultsSoFar(of: sink).last)
        #expect(last.relay?["optimisticRecords"] == ["open"])
        #expect(!last.text.contains("shut"))
        upstream.fail(HandlerError("not now"))
        for answer in answers { _ = try await answer.get() }
    }
}
