import BoundedTesting
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// A small request may ask for large texts again and again. What comes of it has a bound in bytes.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ResultSizeTests {
    private static let limit = 100_000
    private static let message = "The result has more than 100000 bytes; ask for less."

    /// With a todo whose text has 10,000 bytes.
    private func makeEngine(
        recentCommits: Int = 4_096
    ) async throws -> (engine: EngineUnderTest, todo: String) {
        let engine = try await EngineUnderTest(recentCommits: recentCommits) {
            $0.document.resultBytes = Self.limit
        }
        let answer = try await engine.run(
            "mutation ($t: String!) { addTodo(input: {text: $t}) { todo { id } } }",
            variables: ["t": .string(String(repeating: "x", count: 10_000))])
        return (engine, try #require(answer["data"]?["addTodo"]?["todo"]?["id"]?.string))
    }

    private func expectTooLarge(_ answer: JSONValue, _ comment: Comment? = nil) {
        #expect(answer["data"] == .null, comment)
        #expect(answer["errors"]?.array?.count == 1, comment)
        #expect(answer.firstErrorCode == "LIMIT_EXCEEDED", comment)
        #expect(answer.firstErrorMessage == Self.message, comment)
    }

    @Test func whatIsAskedForAgainAndAgainEndsAtTheLimit() async throws {
        let (engine, todo) = try await makeEngine()
        func nodes(_ count: Int) async throws -> JSONValue {
            try await engine.run(
                "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Todo { text } } }",
                variables: ["ids": .array(Array(repeating: .string(todo), count: count))])
        }
        #expect(try await nodes(9)["data"]?["nodes"]?.array?.count == 9)
        expectTooLarge(try await nodes(10))
        expectTooLarge(try await nodes(10_000))
        let texts = (0..<400).map { "a\($0): text" }.joined(separator: " ")
        expectTooLarge(
            try await engine.run("{ node(id: \"\(todo)\") { ... on Todo { \(texts) } } }"))
        let fields = (0..<400).map { "a\($0): node(id: \"\(todo)\") { ... on Todo { text } }" }
        expectTooLarge(try await engine.run("{ \(fields.joined(separator: " ")) }"))
    }

    /// Up to the last byte.
    @Test func aResultMayHaveAsManyBytesAsTheLimitSays() async throws {
        let (engine, todo) = try await makeEngine()
        let query = "{ node(id: \"\(todo)\") { ... on Todo { text } } }"
        let whole = "{\"data\":{\"node\":{\"text\":\"\"}}".utf8.count + 10_000
        for (limit, isTooLarge) in [(whole, false), (whole - 2, true), (0, true)] {
            let schema = try ServiceSchema(Example.text("todo.graphql"))
            let snapshot = engine.service.snapshot
            let service = SchemaService(schema, symbols: snapshot.symbols)
            var limits = DocumentLimits()
            limits.resultBytes = limit
            let operation = try OperationCache(schema: service.executable, limits: limits)
                .operation(for: GraphQLRequest(query: query), storedRecords: 3)
            var execution = Execution(
                operation.plan(for: .none), variables: .none, on: snapshot,
                schema: service.executable, identity: .unrestricted)
            let bytes = execution.response(isOpen: true)
            let isReplaced = execution.isTooLarge
            #expect(isReplaced == isTooLarge, "\(limit)")
            #expect((bytes.count == whole) == !isTooLarge, "\(limit)")
        }
    }

    @Test func errorsCountToo() async throws {
        let engine = try await EngineUnderTest(
            sdl: """
                type Query { broken: [Int] }
                """,
            handlers: {
                var handlers = Handlers()
                handlers.resolve("Query.broken") { _ in
                    Array(repeating: "no number", count: 2_000)
                }
                return handlers
            }(), seed: "", limits: { $0.document.resultBytes = Self.limit })
        expectTooLarge(try await engine.run("{ broken }"))
    }

    @Test func liveResultsAndEventsEndAtTheLimitToo() async throws {
        let (engine, todo) = try await makeEngine()
        let texts = (0..<20).map { "a\($0): text" }.joined(separator: " ")
        let live = try engine.subscribe(
            "subscription { todo(id: \"\(todo)\") { \(texts) } }")
        expectTooLarge(try await engine.results(of: live, count: 1)[0])
        let events = try engine.subscribe(
            "subscription { todoAdded { todo { text } user { todos { edges { node { \(texts) } } } } } }"
        )
        try await eventually("both") {
            engine.service.subscriptionCounts.subscriptions == 2 ? true : nil
        }
        // It depends on what it was read from, all the same.
        _ = try await engine.run(
            "mutation { renameTodo(input: {id: \"\(todo)\", text: \"short\"}) { todo { id } } }")
        let short = try await engine.results(of: live, count: 2)[1]
        #expect(short["data"]?["todo"]?["a19"] == "short")
        _ = try await engine.run(
            "mutation ($t: String!) { addTodo(input: {text: $t}) { todo { id } } }",
            variables: ["t": .string(String(repeating: "y", count: 10_000))])
        expectTooLarge(try await engine.results(of: events, count: 1)[0])
    }

    /// Those from memory, and those from the log.
    @Test(arguments: [1, 4_096])
    func theAnswersOfThePastEndThere(_ recentCommits: Int) async throws {
        let (engine, todo) = try await makeEngine(recentCommits: recentCommits)
        for _ in 0..<3 { _ = try await engine.addTodo("later") }
        try await engine.everyPublication()
        let fields = (0..<20).map { "a\($0): node(id: \"\(todo)\") { ... on Todo { text } }" }
        for point: JSONValue in [3, 2] {
            let answer = try await engine.run(
                "{ \(fields.joined(separator: " ")) }", relay: ["at": point])
            if point == 3 { expectTooLarge(answer) } else { #expect(answer["data"] != .null) }
        }
    }

    // MARK: Mutations

    /// Nothing of it is in the log, and its id is free.
    @Test func aMutationWithTooLargeAnAnswerChangesNothing() async throws {
        let (engine, _) = try await makeEngine()
        let before = engine.eventCount
        let texts = (0..<20).map { "a\($0): text" }.joined(separator: " ")
        let text: JSONObject = ["t": .string(String(repeating: "x", count: 10_000))]
        let add = { (selection: String) in
            "mutation ($t: String!) { addTodo(input: {text: $t}) { todo { \(selection) } } }"
        }
        let refused = try await engine.run(add(texts), variables: text, mutationID: "c:1")
        #expect(refused["data"] == nil)
        #expect(refused.firstErrorCode == "LIMIT_EXCEEDED")
        #expect(
            refused.firstErrorMessage
                == "The answer has more than 100000 bytes; ask for less. Nothing was changed.")
        #expect(engine.eventCount == before)
        let done = try await engine.run(add("id"), variables: text, mutationID: "c:1")
        #expect(done["data"]?["addTodo"] != nil)
    }
}
