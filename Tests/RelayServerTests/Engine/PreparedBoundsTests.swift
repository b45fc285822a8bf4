import BoundedTesting
import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import RelayServer
@testable import StoreEngine

/// What is prepared for subscriptions is bounded in bytes wherever it waits, or runs.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct PreparedBoundsTests {
    /// Documents of about 10,000 bytes, which differ.
    private static func text(_ number: Int, _ subscription: String) -> String {
        "subscription { \(subscription) } # \(number) " + String(repeating: "x", count: 10_000)
    }

    /// Telling waits at the gate, so that subscriptions wait to begin.
    private static func stopTelling(_ engine: EngineUnderTest, _ gate: Gate) async throws {
        let sink = try engine.subscribe("subscription { todoAdded { todo { text } } }")
        try await eventually("the first subscription") {
            engine.service.subscriptionCounts.subscriptions == 1 ? true : nil
        }
        let before = gate.waitingCount
        _ = try await engine.addTodo("told")
        _ = try await engine.results(of: sink, count: 1)
        try await eventually("telling to wait") { gate.waitingCount == before + 1 ? true : nil }
        try await eventually("nothing to wait") {
            engine.service.unpublishedCount == 0 ? true : nil
        }
    }

    @Test func soManyBytesOfSubscriptionsWaitToBeginAndNoMore() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 2
            // Each has a request, and equal ones have one document.
            $0.beginningBytes = 60_000
        }
        try await Self.stopTelling(engine, gate)
        func subscribe(_ number: Int) throws {
            try engine.subscribe(
                Self.text(number, "user { id totalCount }"), relay: ["records": true])
        }
        for _ in 0..<3 { try subscribe(1) }
        try subscribe(2)
        let errors = #expect(throws: ExecutionErrors.self) { try subscribe(3) }
        #expect(errors?.errors.first?.code == .overloaded)
        gate.open()
        try await eventually("all subscriptions") {
            engine.service.subscriptionCounts.subscriptions == 5 ? true : nil
        }
        try await eventually("room") { try? subscribe(3) }
    }

    /// Their connections count what is open; the queue has what was ended, too.
    @Test func requestsThatWereEndedCountUntilTheirTurn() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 2
            $0.beginningBytes = 20_000
        }
        try await Self.stopTelling(engine, gate)
        func subscribeAndEnd() throws {
            let large = JSONValue.string(String(repeating: "x", count: 10_000))
            let request = GraphQLRequest(
                query: "subscription { user { id } }", extensions: ["large": large])
            let sink = TestSink()
            try engine.service.subscribe(
                try engine.service.prepare(request), request, sink: sink)
            engine.service.unsubscribe(sink)
        }
        for _ in 0..<2 { try subscribeAndEnd() }
        let errors = #expect(throws: ExecutionErrors.self) { try subscribeAndEnd() }
        #expect(errors?.errors.first?.code == .overloaded)
        gate.open()
        try await eventually("room") { try? subscribeAndEnd() }
    }

    @Test func whatIsRefusedByCountTakesUpNothing() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(settling: gate) {
            $0.undeliveredResults = 2
            $0.beginningBytes = 40_000
            $0.beginningSubscriptions = 1
        }
        try await Self.stopTelling(engine, gate)
        func subscribe(_ number: Int) throws {
            _ = try engine.subscribe(Self.text(number, "user { id }"))
        }
        // Small, so that there is room for those that are refused.
        _ = try engine.subscribe("subscription { user { id } }")
        for number in 1...9 {
            let errors = #expect(throws: ExecutionErrors.self) { try subscribe(number) }
            #expect(errors?.errors.first?.code == .overloaded)
        }
        gate.open()
        try await eventually("room") { try? subscribe(10) }
    }

    /// Those that have been caught up go on as the publisher gets to them.
    @Test func whatIsCaughtUpIsPreparedWhenThereIsRoom() async throws {
        let gate = Gate()
        defer { gate.open() }
        let engine = try await EngineUnderTest(recentCommits: 1, settling: gate) {
            $0.undeliveredResults = 2
            $0.beginningBytes = 40_000
        }
        for number in 0..<40 { _ = try await engine.addTodo("\(number)") }
        try await engine.everyPublication()
        engine.journal.holdReads()
        defer { engine.journal.releaseReads() }
        var sinks: [TestSink] = []
        for number in 0..<6 {
            sinks.append(
                try engine.subscribe(
                    Self.text(number, "todoRemoved { deletedTodoId }"),
                    relay: ["resume": .string(engine.cursor(1))]))
            try await eventually("it to be behind") {
                engine.service.unpublishedCount == 0 ? true : nil
            }
        }
        try await eventually("the log to be read") {
            engine.service.unpublishedCount == 0 && engine.journal.heldReadCount == 1
                ? true : nil
        }
        try await Self.stopTelling(engine, gate)
        engine.journal.releaseReads()
        try await eventually("a pass to wait") {
            engine.service.passesWithoutRoom == 1 ? true : nil
        }
        #expect(engine.service.unpublishedCount == 2)
        // One is ended while it waits.
        let ended = sinks.removeLast()
        ended.leave()
        engine.service.unsubscribe(ended)
        gate.open()
        try await eventually("the other subscriptions") {
            engine.service.subscriptionCounts.subscriptions == 6 ? true : nil
        }
        _ = try await engine.run(
            "mutation { removeTodo(input: {id: \"VG9kbzow\"}) { deletedTodoId } }")
        for sink in sinks {
            let results = try await engine.results(of: sink, count: 2)
            #expect(results[0].recovered == true)
            #expect(results[1]["data"]?["todoRemoved"]?["deletedTodoId"] == "VG9kbzow")
        }
    }

    @Test func soManyBytesOfSequencesAreOpenAndNoMore() async throws {
        let sequence = EndlessSequence()
        defer { sequence.end() }
        var handlers = HandlerSchema.handlers()
        handlers.subscription("numbers") { _ in sequence }
        let engine = try await EngineUnderTest(
            sdl: HandlerSchema.base, handlers: handlers, seed: HandlerSchema.seed
        ) { $0.sequenceBytes = 20_000 }
        func subscribe(_ number: Int) throws -> TestSink {
            try engine.subscribe(Self.text(number, "numbers(upTo: 3)"))
        }
        // Equal ones have one document.
        for _ in 0..<3 { _ = try subscribe(1) }
        _ = try subscribe(2)
        let errors = #expect(throws: ExecutionErrors.self) { try subscribe(3) }
        #expect(errors?.errors.first?.code == .overloaded)
        sequence.end()
        try await eventually("room") { try? subscribe(3) }
    }

    /// Their results are always sent whole.
    @Test func sequencesHaveNoNormalization() async throws {
        let engine = try await EngineUnderTest(
            sdl: HandlerSchema.base, handlers: HandlerSchema.handlers(), seed: HandlerSchema.seed)
        func hasNormalization(_ text: String) throws -> Bool {
            let request = GraphQLRequest(
                query: text, extensions: ["relay": ["records": true]])
            let ready = try engine.service.ready(try engine.service.prepare(request), request)
            return ready.normalization != nil
        }
        #expect(try !hasNormalization("subscription { items(upTo: 2) { id text } }"))
        #expect(try hasNormalization("subscription { listed(name: \"one\") { id size } }"))
    }

    /// It takes time that loops do not have, so a loop must see that it is asked for.
    @Test func nullForAnExplanationAsksForNone() {
        func asks(_ relay: JSONObject) -> Bool {
            RelayExtensions.needsRecords(
                GraphQLRequest(query: "", extensions: ["relay": .object(relay)]))
        }
        #expect(asks(["records": true]) && asks(["records": true, "explain": nil]))
        #expect(!asks(["records": true, "explain": 1]) && !asks(["records": nil]))
    }

    /// Several that ask for the same at the same time get one operation: by it, equal subscriptions are one group, which
    /// is executed once for all of them.
    @Test func whoAsksAtTheSameTimeGetsTheSameOperation() async throws {
        let service = try ServiceUnderTest.todo().service
        for round in 0..<50 {
            let cache = OperationCache(schema: service.executable)
            let request = GraphQLRequest(
                query: "subscription { user { todos { edges { node { id text } } } } } # \(round)")
            let operations = await withTaskGroup(of: ObjectIdentifier?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        (try? cache.operation(for: request, storedRecords: 1))
                            .map(ObjectIdentifier.init)
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(operations.count == 1)
            #expect(!operations.contains(nil))
        }
    }

    /// The estimate grows with the store.
    @Test func aStreamThatWasAcceptedIsNotMeasuredAgain() throws {
        let schema = try ServiceSchema(Example.text("todo.graphql"))
        let service = SchemaService(schema, symbols: Snapshot(indexes: schema.indexes).symbols)
        var limits = DocumentLimits()
        limits.complexity = 1
        let cache = OperationCache(schema: service.executable, limits: limits)
        let request = GraphQLRequest(query: "subscription { user { id totalCount } }")
        #expect(throws: ExecutionErrors.self) {
            try cache.operation(for: request, storedRecords: 0)
        }
        let accepted = SubscriptionRequest(
            request: request, sink: TestSink(), sendsRecords: false, showsOptimistic: false,
            start: .now)
        #expect(try cache.prepare(accepted).operation.isStream)
    }
}
