import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

@Suite(.bounded) struct SubscriptionTableTests {
    @Test(arguments: [1, 3, 50, 400, 1_000])
    func theCostliestAreFoundAmongMany(limit: Int) {
        let times = (0..<1_000).map { _ in Duration.milliseconds(Int.random(in: 0..<200)) }
        #expect(times.largest(limit, by: { $0 }) == Array(times.sorted(by: >).prefix(limit)))
    }

    @Test func aCommitIsNotExecutedForThoseThatHaveGone() async throws {
        let engine = try await EngineUnderTest()
        let sinks = try (0..<4).map {
            try engine.subscribe("subscription { todoAdded { todo { a\($0): text } } }")
        }
        try await eventually("all") {
            engine.service.subscriptionCounts.groups == 4 ? true : nil
        }
        // Their plans.
        #expect(engine.service.subscriptionByteCount > 4 * 1_024)
        for sink in sinks.dropFirst() { sink.leave() }
        _ = try await engine.addTodo("x")
        try await engine.everyPublication()
        #expect(engine.service.subscriptionExecutions.run == 1)
        for sink in sinks { engine.service.unsubscribe(sink) }
        try await eventually("nothing to be kept") {
            engine.service.subscriptionByteCount == 0 ? true : nil
        }
    }

    /// What clients expect is worked out once for several steps that were appended together. Who joins between them is
    /// shown what was expected before, under the cursor of that state.
    @Test func aResultHasTheCursorOfTheStateThatItShows() throws {
        let schema = try ServiceSchema(Example.text("todo.graphql"))
        var state = Snapshot(indexes: schema.indexes)
        let service = SchemaService(schema, symbols: state.symbols)
        let identity = StoreIdentity(storeID: "test", epoch: 7, earliest: 0)
        var table = SubscriptionTable(
            service, identity, snapshot: state, recent: RecentCommits(after: state))
        func beginMutation() -> Publication {
            var writes = WriteSetWriter()
            writes.write(
                DataID("todo"), type: "Todo",
                fields: [(key: "text", value: FieldValue.string("after \(state.sequence)"))])
            var intent = MutationIntent(field: "addTodo", arguments: [:])
            intent.optimistic = writes.writeSet
            return .began(state.begin(intent), state)
        }
        let first = beginMutation()
        let expected = Step(publication: first, expected: .current(ExpectedState(of: state)))
        let second = Step(publication: beginMutation(), expected: .later)
        let request = GraphQLRequest(query: "subscription { todo(id: \"todo\") { text } }")
        let subscription = try OperationCache(schema: service.executable).prepare(
            SubscriptionRequest(
                request: request, sink: TestSink(), sendsRecords: false, showsOptimistic: true,
                start: .now))
        var told: [Response] = []
        table.handle(
            [.step(expected), .step(second), .subscribe(subscription)], isBehind: false
        ) { output in
            for delivery in output.deliveries {
                if case .latest(let response) = delivery.event { told.append(response) }
            }
        }
        #expect(told.map(\.cursor) == [identity.cursor(1).text])
        let result = try told.first.map { try JSONValue(parsing: $0.bytes) }
        #expect(result?["data"]?["todo"]?["text"] == "after 0")
    }
}
