import BoundedTesting
import EventStore
import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing
import Threads

@testable import StoreEngine

/// Servers that share a journal: one appends, the others follow.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct FollowingTests {
    static let count = "subscription { user { totalCount } }"

    @Test func aFollowerSeesWhatTheLeaderDid() async throws {
        let cluster = try Cluster(2)
        let (leader, follower) = (cluster.nodes[0], cluster.nodes[1])
        let live = try follower.subscribe(Self.count)
        let events = try follower.subscribe("subscription { todoAdded { todo { text } } }")
        _ = try await follower.results(of: live, count: 1)
        _ = try await leader.run(EngineUnderTest.addTodo("one"))
        try follower.pull()
        let results = try await follower.results(of: live, count: 2)
        #expect(results[1]["data"]?.text == #"{"user":{"totalCount":3}}"#)
        let added = try await follower.results(of: events, count: 1)
        #expect(added[0]["data"]?.text == #"{"todoAdded":{"todo":{"text":"one"}}}"#)
        #expect(added[0].cursor == results[1].cursor)
        #expect(follower.service.snapshot.stateHash == leader.service.snapshot.stateHash)
    }

    /// Whoever asks the follower after the answer sees what the mutation did.
    @Test func aMutationIsHandedOnAndAnsweredWhenItIsSeenHere() async throws {
        let cluster = try Cluster(2)
        let (leader, follower) = (cluster.nodes[0], cluster.nodes[1])
        let answer = try follower.post(EngineUnderTest.addTodo("one"))
        try await eventually("the mutation") { leader.service.snapshot.sequence == 3 ? true : nil }
        #expect(answer.now == nil)
        try follower.pull()
        let response = try await answer.get()
        #expect(response["data"]?["addTodo"]?["user"]?["totalCount"] == 3)
        let seen = try await follower.run("{ user { totalCount } }")
        #expect(seen["data"]?["user"]?["totalCount"] == 3)
        #expect(answer.count == 1)
    }

    @Test func aQueryWaitsForTheStateThatItAsksFor() async throws {
        let cluster = try Cluster(2)
        let (leader, follower) = (cluster.nodes[0], cluster.nodes[1])
        let cursor = try #require(try await leader.run(EngineUnderTest.addTodo("one")).cursor)
        let relay: JSONObject = ["atLeast": .string(cursor)]
        let query = try follower.post("{ user { totalCount } }", relay: relay)
        let live = try follower.subscribe(Self.count, relay: relay)
        #expect(query.now == nil)
        try follower.pull()
        #expect(try await query.get()["data"]?["user"]?["totalCount"] == 3)
        let first = try await follower.results(of: live, count: 1)
        #expect(first[0]["data"]?["user"]?["totalCount"] == 3)
        // What is reached is answered at once.
        #expect(try follower.post("{ user { totalCount } }", relay: relay).now != nil)
    }

    @Test func aStateThatDoesNotComeIsAnError() async throws {
        let cluster = try Cluster(1)
        let node = cluster.nodes[0]
        let cursor = StreamCursor(storeID: "test", epoch: 7, sequence: 99).text
        let query = try node.post("{ user { totalCount } }", relay: ["atLeast": .string(cursor)])
        let live = try node.subscribe(Self.count, relay: ["atLeast": .string(cursor)])
        #expect(query.now == nil)
        node.passTime()
        #expect(try await query.get().refusalCode == "BEHIND")
        let told = try await node.results(of: live, count: 1)
        #expect(told[0].refusalCode == "BEHIND")
        for (text, code) in [
            (StreamCursor(storeID: "other", epoch: 7, sequence: 1).text, "BAD_USER_INPUT"),
            (StreamCursor(storeID: "test", epoch: 8, sequence: 1).text, "BAD_USER_INPUT"),
            ("x", "BAD_USER_INPUT"),
        ] {
            let answer = try await node.run("{ __typename }", relay: ["atLeast": .string(text)])
            #expect(answer.refusalCode == code, "\(text)")
        }
    }

    @Test func soManyRequestsWaitForAStateAndNoMore() async throws {
        let cluster = try Cluster(2)
        let (leader, follower) = (cluster.nodes[0], cluster.nodes[1])
        let cursor = try #require(try await leader.run(EngineUnderTest.addTodo("one")).cursor)
        let relay: JSONObject = ["atLeast": .string(cursor)]
        let waiting = try (0..<DurableHead.waiterLimit).map { _ in
            try follower.post("{ user { totalCount } }", relay: relay)
        }
        #expect(waiting.allSatisfy { $0.count == 0 })
        let refused = try await follower.run("{ user { totalCount } }", relay: relay)
        #expect(refused.refusalCode == "OVERLOADED")
        try follower.pull()
        for answer in waiting {
            #expect(try await answer.get()["data"]?["user"]?["totalCount"] == 3)
        }
        #expect(try await follower.run("{ user { totalCount } }", relay: relay)["data"] != nil)
    }

    /// Its append is refused by the journal: the lease may be over, the fence is not.
    @Test func whoWasOvertakenAppendsNothing() async throws {
        let cluster = try Cluster(2)
        let (old, new) = (cluster.nodes[0], cluster.nodes[1])
        _ = try await old.run(EngineUnderTest.addTodo("one"))
        cluster.shared.setLeader(1)
        let refused = try await old.run(EngineUnderTest.addTodo("lost"), mutationID: "c:1")
        #expect(refused.refusalCode == "OVERLOADED")
        #expect(refused["data"] == nil)
        try cluster.lead(1)
        _ = try await new.run(EngineUnderTest.addTodo("two"))
        try old.pull()
        // Now it is handed on, under the same id.
        let answer = try old.post(EngineUnderTest.addTodo("lost"), mutationID: "c:1")
        try await eventually("the mutation") { new.service.snapshot.sequence == 7 ? true : nil }
        try old.pull()
        #expect(try await answer.get()["data"]?["addTodo"]?["user"]?["totalCount"] == 5)
        #expect(old.service.snapshot.stateHash == new.service.snapshot.stateHash)
    }

    @Test func aSubscriptionGoesOnAtAnotherServer() async throws {
        let cluster = try Cluster(3)
        let added = "subscription { todoAdded { todo { text } } }"
        let first = try cluster.nodes[1].subscribe(added)
        for number in 0..<6 {
            _ = try await cluster.nodes[0].run(EngineUnderTest.addTodo("\(number)"))
        }
        try cluster.nodes[1].pull()
        let told = try await cluster.nodes[1].results(of: first, count: 6)
        let cursor = try #require(told[2].cursor)
        try cluster.lead(2)
        _ = try await cluster.nodes[2].run(EngineUnderTest.addTodo("6"))
        let second = try cluster.nodes[2].subscribe(added, relay: ["resume": .string(cursor)])
        let results = try await cluster.nodes[2].results(of: second, count: 5)
        #expect(results[0].recovered == true)
        #expect(results.dropFirst().map { $0.text(of: "todoAdded") } == ["3", "4", "5", "6"])
    }

    /// The cursor of another server may be newer than what this one has.
    @Test func aStreamWaitsForTheEventThatItResumesBehind() async throws {
        let cluster = try Cluster(2)
        let (leader, follower) = (cluster.nodes[0], cluster.nodes[1])
        let answer = try await leader.run(EngineUnderTest.addTodo("one"))
        let cursor = try #require(answer["extensions"]?["relay"]?["cursor"])
        let sink = try follower.subscribe(
            "query @live { user { totalCount } }", relay: ["resume": cursor])
        follower.passTime()
        #expect(try await follower.results(of: sink, count: 1)[0].refusalCode == "BEHIND")
        let again = try follower.subscribe(
            "query @live { user { totalCount } }", relay: ["resume": cursor])
        try follower.pull()
        let first = try await follower.results(of: again, count: 1)[0]
        #expect(first["extensions"]?["relay"]?["recovered"] == true)
    }

    /// No mutation has followed on the new schema.
    @Test func aStreamMovesAfterANewSchema() async throws {
        let cluster = try Cluster(2)
        let schema = cluster.nodes[0].service.snapshot.schema + "\n# newer"
        cluster.shared.append([.schema(schema)])
        try cluster.nodes[1].pull()
        let answer = try await cluster.nodes[1].run("{ user { totalCount } }")
        let cursor = try #require(answer["extensions"]?["relay"]?["cursor"])
        let sink = try cluster.nodes[1].subscribe(Self.count, relay: ["resume": cursor])
        #expect(try await cluster.nodes[1].results(of: sink, count: 1)[0].recovered == true)
        #expect(cluster.nodes[1].service.deliveryLag == 0)
    }

    /// Whoever asks the follower afterwards sees what the mutation did, whatever its answer was.
    @Test func whatWasAppliedIsSeenBeforeThatIsTold() async throws {
        let cluster = try Cluster(2)
        let (leader, follower) = (cluster.nodes[0], cluster.nodes[1])
        // An answer that is too long to be kept.
        let long = String(repeating: "x", count: 1 << 20)
        let text =
            "mutation M($text: String!) { addTodo(input: { text: $text }) { todo { text } } }"
        let variables: JSONObject = ["text": .string(long)]
        let first = try leader.post(text, variables, mutationID: "c:1")
        #expect(try await first.get()["data"] != nil)
        let again = try follower.post(text, variables, mutationID: "c:1")
        try await eventually("it waits") { follower.service.durable.waitingCount == 1 ? true : nil }
        #expect(again.now == nil)
        try follower.pull()
        let answer = try await again.get()
        #expect(answer.refusalCode == "ALREADY_APPLIED")
        let cursor = StreamCursor(
            storeID: "test", epoch: 7, sequence: leader.service.snapshot.sequence)
        let error = answer["errors"]?.array?.first
        #expect(error?["extensions"]?["cursor"] == .string(cursor.text))
    }

    /// The first one's outcome is open: that nobody leads now says nothing of it.
    @Test func aRepeatDoesNotKnowWhatBecameOfTheFirst() async throws {
        try await withHandler(mutationID: "c:1") { cluster, first, end in
            let node = cluster.nodes[0]
            let again = try node.post(Self.rename("two"), mutationID: "c:1")
            _ = try await node.run(EngineUnderTest.addTodo("behind it"))
            cluster.shared.setLeader(-1)
            node.follow(cluster)
            // Nobody leads; it is handed on as soon as time passes.
            #expect(
                try await again.get(passingTimeOf: node).refusalCode == "OUTCOME_UNKNOWN")
            cluster.shared.setLeader(0)
            try await eventually("it is aside") { node.service.isAside ? true : nil }
            node.service.lead()
            end()
            #expect(try await first.get()["data"]?["renameTodo"]?["todo"]?["text"] == "two")
        }
    }

    /// Whoever took it over and over has perhaps carried it out.
    @Test(arguments: [true, false])
    func whatWasHandedBackTooOften(_ mayBeDone: Bool) async throws {
        let cluster = try Cluster(2)
        let follower = cluster.nodes[1]
        follower.service.followOthers { _, answer in answer(.overtaken(mayBeDone: mayBeDone)) }
        let answer = try follower.post(EngineUnderTest.addTodo("one"), mutationID: "c:1")
        let code = try await answer.get(passingTimeOf: follower).refusalCode
        #expect(code == (mayBeDone ? "OUTCOME_UNKNOWN" : "OVERLOADED"))
    }

    /// Nothing was changed, so whoever leads then carries it out.
    @Test func whatWasOvertakenIsHandedOn() async throws {
        let cluster = try Cluster(2)
        let (old, new) = (cluster.nodes[0], cluster.nodes[1])
        old.follow(cluster)
        try await eventually("it is aside") { old.service.isAside ? true : nil }
        old.service.lead()
        // It does not know yet that it is the other one's turn.
        cluster.shared.setLeader(1)
        new.service.lead()
        let answer = try old.post(EngineUnderTest.addTodo("one"))
        try await eventually("it is refused") {
            cluster.shared.refusals > 0 ? true : nil
        }
        try cluster.lead(1)
        try await eventually("the mutation") {
            old.passTime()
            return new.service.snapshot.sequence == 3 ? true : nil
        }
        try await eventually("it is aside") { old.service.isAside ? true : nil }
        try old.pull()
        #expect(try await answer.get()["data"]?["addTodo"] != nil)
    }

    /// Leaders change at random; what each server tells its subscriptions is the same, and so are the states.
    @Test func everyServerTellsTheSame() async throws {
        let seed = UInt64.random(in: 1...1_000_000)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5 {
            let cluster = try Cluster(3)
            let sinks = try cluster.nodes.map {
                try $0.subscribe("subscription { todoAdded { todo { text } user { totalCount } } }")
            }
            var texts: [String] = []
            for number in 0..<40 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: try cluster.lead(Int.random(in: 0..<3, using: &random))
                case 1, 2: try cluster.nodes[Int.random(in: 0..<3, using: &random)].pull()
                default:
                    let answer = try await cluster.leader.run(
                        EngineUnderTest.addTodo("\(number)"), mutationID: "c:\(number)")
                    #expect(answer["errors"] == nil, "seed \(seed)")
                    texts.append("\(number)")
                }
            }
            for node in cluster.nodes { try node.pull() }
            var all: [[JSONValue]] = []
            for (node, sink) in zip(cluster.nodes, sinks) {
                all.append(try await node.results(of: sink, count: texts.count))
            }
            #expect(all[0].map { $0.text(of: "todoAdded") } == texts, "seed \(seed)")
            #expect(all[1] == all[0], "seed \(seed)")
            #expect(all[2] == all[0], "seed \(seed)")
            let hashes = Set(cluster.nodes.map { $0.service.snapshot.stateHash })
            #expect(hashes.count == 1, "seed \(seed)")
        }
    }

    // MARK: Mutations whose handlers wait

    @Test func whatWaitedElsewhereIsRevokedAtAFailover() async throws {
        let cluster = try Cluster(2)
        let (old, new) = (cluster.nodes[0], cluster.nodes[1])
        // Its handler never ends.
        cluster.shared.append(
            [
                .mutation(
                    MutationIntent(
                        field: "addTodo", arguments: ["input": ["text": "waits"]],
                        mutationID: MutationID("c:9")))
            ])
        try old.pull()
        try new.pull()
        #expect(new.service.snapshot.pending.count == 1)
        try cluster.lead(1)
        try await eventually("the end") { new.service.snapshot.pending.isEmpty ? true : nil }
        try old.pull()
        #expect(old.service.snapshot.pending.isEmpty)
        #expect(old.service.snapshot.stateHash == new.service.snapshot.stateHash)
    }

    // MARK: Handlers that work when the leader changes

    private static func rename(_ text: String) -> String {
        "mutation { renameTodo(input: { id: \"VG9kbzox\", text: \"\(text)\" }) { todo { text } } }"
    }

    /// Two servers, the first of which leads, and its handler works.
    private func withHandler(
        mutationID: String? = nil,
        _ body: (Cluster, _ answer: Answer, _ end: () -> Void) async throws -> Void
    ) async throws {
        let gate = Lock<[CheckedContinuation<Void, Never>]>([])
        var handlers = Handlers()
        handlers.mutation(
            "renameTodo",
            waitingFor: { _, _, _ in
                await withCheckedContinuation { continuation in
                    gate.withLock { $0.append(continuation) }
                }
                return { records, variables, _ in
                    let id = variables.input?["id"]?.stringValue.map { DataID($0) }
                    let todo = id.flatMap { records[$0] }
                    todo?["text"] = variables.input?["text"]?.stringValue
                    return todo?.dataID
                }
            })
        let cluster = try Cluster(2, handlers)
        _ = try await cluster.nodes[0].run(EngineUnderTest.addTodo("one"))
        let answer = try cluster.nodes[0].post(Self.rename("two"), mutationID: mutationID)
        try await eventually("the handler") { gate.withLock { $0.isEmpty } ? nil : true }
        try await body(cluster, answer) {
            let waiting = gate.withLock { gate in
                defer { gate = [] }
                return gate
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    @Test func aHandlerThatEndsAfterItsMutationWasRevokedWritesNothing() async throws {
        try await withHandler { cluster, answer, end in
            let (old, new) = (cluster.nodes[0], cluster.nodes[1])
            try cluster.lead(1)
            try await eventually("it is revoked") {
                new.service.snapshot.pending.isEmpty ? true : nil
            }
            try await eventually("it is aside") { old.service.isAside ? true : nil }
            try cluster.lead(0)
            end()
            #expect(try await answer.get().refusalCode == "OUTCOME_UNKNOWN")
            _ = try await old.run(EngineUnderTest.addTodo("three"))
            try await eventually("it is aside") { new.service.isAside ? true : nil }
            // What is in the journal can be folded.
            try new.pull()
            #expect(old.service.snapshot.stateHash == new.service.snapshot.stateHash)
        }
    }

    @Test func aHandlerThatEndsWhileAnotherServerLeadsWritesNothing() async throws {
        try await withHandler { cluster, answer, end in
            let (old, new) = (cluster.nodes[0], cluster.nodes[1])
            try cluster.lead(1)
            end()
            #expect(try await answer.get().refusalCode == "OUTCOME_UNKNOWN")
            try await eventually("it is revoked") {
                new.service.snapshot.pending.isEmpty ? true : nil
            }
            try await eventually("it is aside") { old.service.isAside ? true : nil }
            try old.pull()
            #expect(old.service.snapshot.stateHash == new.service.snapshot.stateHash)
        }
    }

    /// The journal refuses its end, before this server knows why.
    @Test func aHandlerWhoseEndIsOvertakenIsNotRunAgain() async throws {
        try await withHandler { cluster, answer, end in
            cluster.shared.setLeader(1)
            end()
            #expect(try await answer.get().refusalCode == "OUTCOME_UNKNOWN")
            try cluster.lead(1)
            try await eventually("it is revoked") {
                cluster.nodes[1].service.snapshot.pending.isEmpty ? true : nil
            }
            #expect(cluster.nodes[1].service.snapshot.sequence == 5)
        }
    }

    /// Nobody else led meanwhile: its mutation is still its own.
    @Test func aHandlerGoesOnIfItsServerLeadsAgain() async throws {
        try await withHandler { cluster, answer, end in
            let old = cluster.nodes[0]
            old.follow(cluster)
            try await eventually("it is aside") { old.service.isAside ? true : nil }
            try cluster.lead(0)
            end()
            #expect(
                try await answer.get()["data"]?["renameTodo"]?["todo"]?["text"] == "two")
            #expect(old.service.snapshot.pending.isEmpty)
        }
    }
}

extension Answer {
    fileprivate func get(passingTimeOf node: Node) async throws -> JSONValue {
        try await eventually("an answer") {
            node.passTime()
            return now
        }
    }
}

extension JSONValue {
    fileprivate var refusalCode: String? {
        self["errors"]?.array?.first?["extensions"]?["code"]?.string
    }
}

/// Servers in one process on one journal in memory.
private final class Cluster: Sendable {
    let shared: SharedEvents
    let nodes: [Node]
    private let leading = Lock(0)

    var leader: Node { nodes[leading.withLock { $0 }] }

    init(_ count: Int, _ handlers: Handlers = Handlers()) throws {
        let shared = SharedEvents()
        let text = try Example.text("todo.graphql") + EngineUnderTest.open
        let schema = try ServiceSchema(text, handlers: handlers, logger: ServiceSchema.noLogger)
        let seed = try SeedFile.read(
            Array(try Example.text("todo.seed.ndjson").utf8), for: schema, timeMicroseconds: 0)
        shared.append([.genesis(schema: text, seed: seed.writes)])
        self.shared = shared
        nodes = try (0..<count).map { try Node($0, shared, text, handlers) }
        for node in nodes.dropFirst() { node.follow(self) }
        shared.setLeader(0)
    }

    /// What a failover does: the journal refuses the others from now on; then the new one reads what there is.
    func lead(_ number: Int) throws {
        shared.setLeader(number)
        leading.withLock { $0 = number }
        for node in nodes where node !== nodes[number] { node.follow(self) }
        try nodes[number].pull()
        nodes[number].service.lead()
    }
}

/// The journal that all share: pieces that were appended together.
private final class SharedEvents: Sendable {
    private struct State {
        var pieces: [[Event]] = []
        var last: UInt64 = 0
        var leader = -1
        var refusals = 0
    }

    /// Appends that were refused.
    var refusals: Int { state.withLock { $0.refusals } }

    private let state = Lock(State())

    func setLeader(_ number: Int) { state.withLock { $0.leader = number } }

    func pieces(behind sequence: UInt64) -> [[Event]] {
        state.withLock { $0.pieces.filter { $0[0].sequence > sequence } }
    }

    func append(_ bodies: [EventBody]) {
        state.withLock { state in
            Self.append(bodies.map { NewEvent(timeMicroseconds: 0, body: $0) }, to: &state)
        }
    }

    func append(
        _ events: [NewEvent], expecting sequence: UInt64, by number: Int
    ) -> Result<UInt64, JournalError> {
        state.withLock { state in
            guard state.leader == number, state.last == sequence else {
                state.refusals += 1
                return .failure(
                    JournalError(code: .overtaken(by: state.last), message: "Overtaken."))
            }
            Self.append(events, to: &state)
            return .success(state.last)
        }
    }

    private static func append(_ events: [NewEvent], to state: inout State) {
        let first = state.last + 1
        state.pieces.append(
            events.enumerated().map { place, event in
                Event(
                    sequence: first + UInt64(place), timeMicroseconds: event.timeMicroseconds,
                    body: event.body)
            })
        state.last += UInt64(events.count)
    }
}

/// What one server knows of the journal.
private final class NodeJournal: EventJournal {
    let epoch: UInt64 = 7
    private let number: Int
    private let shared: SharedEvents
    private let copy = InMemoryJournal(epoch: 7)
    private let order = Lock<Void>(())

    init(_ number: Int, _ shared: SharedEvents) {
        self.number = number
        self.shared = shared
    }

    func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        order.withLock { _ in
            let result = shared.append(events, expecting: sequence, by: number)
            if case .success = result { copy.append(events, expecting: sequence) { _ in } }
            completion(result)
        }
    }

    func adopt(_ events: [Event]) {
        copy.append(
            events.map { NewEvent(timeMicroseconds: $0.timeMicroseconds, body: $0.body) },
            expecting: copy.last
        ) { _ in }
    }

    func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        copy.events(from: sequence)
    }
}

private final class Node: Sendable {
    let service: GraphQLService
    private let shared: SharedEvents
    private let journal: NodeJournal
    private let inbox = Inbox()
    private let later = Later()

    private final class Later: Sendable {
        private let actions = Lock<[@Sendable () -> Void]>([])

        func add(_ action: @escaping @Sendable () -> Void) {
            actions.withLock { $0.append(action) }
        }

        func run() {
            let due = actions.withLock { actions in
                defer { actions = [] }
                return actions
            }
            for action in due { action() }
        }
    }

    init(
        _ number: Int, _ shared: SharedEvents, _ text: String, _ handlers: Handlers
    ) throws {
        let schema = try ServiceSchema(text, handlers: handlers, logger: ServiceSchema.noLogger)
        self.shared = shared
        journal = NodeJournal(number, shared)
        var snapshot = Snapshot(indexes: schema.indexes)
        for events in shared.pieces(behind: 0) {
            journal.adopt(events)
            var changes = ChangeSet()
            for event in events { try snapshot.fold(event, changes: &changes) }
        }
        let ids = Numbers()
        service = GraphQLService(
            SchemaService(schema, symbols: snapshot.symbols), journal: journal, storeID: "test",
            snapshot: snapshot,
            inputs: EngineInputs(
                now: { 0 }, makeID: { DataID("\($0)-\(number)-\(ids.next())") },
                tasks: EngineTasks(later: { [later] _, action in later.add(action) })),
            deliver: { [inbox] in inbox.take($0) })
    }

    func passTime() { later.run() }

    /// Follows what others have appended.
    func pull() throws {
        for events in shared.pieces(behind: service.snapshot.sequence) {
            journal.adopt(events)
            try service.follow(events)
        }
    }

    func follow(_ cluster: Cluster) {
        service.followOthers { [weak cluster] mutation, answer in
            guard let leader = cluster?.leader, leader.service.isLeading else {
                return answer(.stopping)
            }
            let request = mutation.request
            do throws(ExecutionErrors) {
                leader.service.execute(try leader.service.prepare(request), request, answer: answer)
            } catch {
                answer(.refused(error.errors))
            }
        }
    }

    func post(
        _ query: String, _ variables: JSONObject = [:], mutationID: String? = nil,
        relay: JSONObject = [:]
    ) throws -> Answer {
        var relay = relay
        if let mutationID { relay["mutationId"] = .string(mutationID) }
        let request = GraphQLRequest(
            query: query, variables: variables, extensions: ["relay": .object(relay)])
        let answer = Answer()
        let prepared: PreparedOperation
        do throws(ExecutionErrors) {
            prepared = try service.prepare(request)
        } catch {
            answer.take(.refused(error.errors))
            return answer
        }
        service.execute(prepared, request) { answer.take($0) }
        return answer
    }

    func run(
        _ query: String, mutationID: String? = nil, relay: JSONObject = [:]
    ) async throws -> JSONValue {
        try await post(query, mutationID: mutationID, relay: relay).get()
    }

    func subscribe(_ query: String, relay: JSONObject = [:]) throws -> TestSink {
        let request = GraphQLRequest(query: query, extensions: ["relay": .object(relay)])
        let sink = TestSink()
        try service.subscribe(try service.prepare(request), request, sink: sink)
        return sink
    }

    func results(of sink: TestSink, count: Int) async throws -> [JSONValue] {
        try await eventually("\(count) results") {
            let results = inbox.results(of: sink)
            return results.count >= count ? results : nil
        }
    }
}
