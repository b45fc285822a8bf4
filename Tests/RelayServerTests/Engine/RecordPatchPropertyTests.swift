import BoundedTesting
import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import RelayStore
import ResultPatches
import SchemaService
import Testing

@testable import StoreEngine

/// The property of `records: true`: after any history, the folded patches are byte for byte the records that
/// normalizing a fresh full result gives, and a client's store makes the same of it.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct RecordPatchPropertyTests {
    struct Question: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        var variables: JSONObject = [:]
        var engine = Engine.todos
        var patches = Patches.byChance

        enum Engine { case todos, computed, tracker }
        /// Whether a history has patches.
        enum Patches { case always, byChance, never }

        var testDescription: String { name }
    }

    static let questions: [Question] =
        [nil, true, false].map { status in
            Question(
                name: "lists, filter \(status.map { "\($0)" } ?? "none")",
                text: """
                    query Todos($status: Boolean) @live {
                      user { id totalCount completedCount
                        all: todos(first: 100) { edges { cursor node { __typename id text complete } } }
                        todos(complete: $status, first: 5) { edges { node { ...Item } } pageInfo { hasNextPage } }
                      }
                    }
                    fragment Item on Todo { id label: text ... on Node { id } }
                    """,
                variables: ["status": status.map(JSONValue.bool) ?? .null], patches: .always)
        } + [
            Question(
                name: "one record by several ways",
                text: """
                    query @live { user { id
                      firsts: todos(first: 3) { edges { node { id text complete } } }
                      lasts: todos(last: 3) { edges { cursor node { ... on Node { id } } }
                        pageInfo { startCursor endCursor } }
                      open: todos(complete: false) { edges { node { id } } } } }
                    """, patches: .always),
            Question(
                name: "records without ids",
                text: """
                    subscription { user(id: "me") { totalCount
                      todos { edges { cursor node { text complete } } } } }
                    """, patches: .always),
            Question(
                name: "a list of an interface",
                text: """
                    query @live { nodes(ids: ["VG9kbzow", "VXNlcjptZQ==", "VG9kbzox"]) {
                      __typename ... on Todo { text complete } ... on User { id totalCount } } }
                    """),
            Question(
                name: "one record", text: #"subscription { todo(id: "VG9kbzow") { text id } }"#),
            Question(
                name: "lists of leaves and of links, by ids",
                text: """
                    subscription($key: ID!) { project(key: $key) { __typename id title openIssues
                      open: issues(open: true) { edges { node {
                        id title labels estimate priority author { id name } watchers { id login } } } }
                      issues(last: 4) { edges { node { id author { id login } watchers { id name } } } } } }
                    """, variables: ["key": "R"], engine: .tracker, patches: .always),
            Question(
                name: "a field that fails in one of two places",
                text: """
                    query @live { a: user { id totalCount boom } b: user { id completedCount } }
                    """, engine: .computed),
            Question(
                name: "nodes that fail in one of two lists",
                text: """
                    query @live { user { id totalCount a: todos(last: 3) { edges { node { id text } } }
                      b: todos(last: 3) { edges { node { id half } } } } }
                    """, engine: .computed),
        ]
        + [nil, "me"].map { id in
            Question(
                name: "an argument that is \(id ?? "null") beside its default",
                text: """
                    query($other: ID) @live { me: user { id totalCount }
                      other: user(id: $other) { id completedCount } }
                    """, variables: ["other": id.map(JSONValue.string) ?? .null],
                patches: .always)
        }
        + [true, false].map { isIncluded in
            Question(
                name: "ids under a condition that is \(isIncluded)",
                text: """
                    query($x: Boolean!) @live {
                      user { id todos(first: 2) { edges { node { id text } } } }
                      one: nodes(ids: ["VG9kbzow"]) { id @include(if: $x) __typename ... on Todo { text } }
                      ... @include(if: $x) { user { id totalCount todos(first: 2) { edges { cursor } } } } }
                    """,
                variables: ["x": .bool(isIncluded)])
        }

    @Test(arguments: questions)
    func foldingThePatchesGivesTheRecordsOfAFreshResult(_ question: Question) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("records: \(question.name), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let engine = try await Self.engine(for: question)
        var asked = GraphQLRequest(query: question.text, variables: question.variables)
        let operation = try engine.service.prepare(asked)
        let normalizer = try #require(try Normalization(of: operation, schema: engine.schema))
            .normalizer(try operation.coerce(question.variables))
        asked.extensions = ["relay": ["records": true]]
        let sink = TestSink()
        try engine.service.subscribe(operation, asked, sink: sink)
        _ = try await engine.results(of: sink, count: 1)
        var folded = FoldedRecords()
        var patched = PatchedResults(normalizer.operation, variables: normalizer.variables)
        #expect(normalizer.operation.isPatchable)
        var seen = 0
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let mutation =
                    question.engine == .tracker
                    ? Self.changeOfTracker(&random) : Self.changeOfTodos(&random)
                _ = try await engine.run(mutation)
            }
            // Asked anew without records it is another group, executed on the spot: when its result is
            // here, the patches are as far.
            asked.extensions = [:]
            let other = TestSink()
            try engine.service.subscribe(operation, asked, sink: other)
            let fresh = try await engine.results(of: other, count: 1)[0]
            engine.service.unsubscribe(other)

            let told = engine.patchesSoFar(of: sink)
            try folded.take(told[seen...], normalizer, &random)
            for message in told[seen...] {
                _ = try Self.isWorthAsking(message, &patched, seed)
            }
            seen = told.count
            let expected = normalizer.records(of: fresh["data"] ?? .null)
            #expect(folded.records?.text == expected?.text, "seed \(seed)")
            guard let expected, fresh["errors"] == nil else { continue }
            let store = try Self.storeRecords(of: fresh, normalizer)
            #expect(store == expected.withoutTypes.text, "seed \(seed)")
        }
        let patchCount = engine.patchesSoFar(of: sink).count { $0.told.relay?["records"] != nil }
        switch question.patches {
        case .always: #expect(patchCount > 0, "seed \(seed)")
        case .byChance: break
        case .never: #expect(patchCount == 0, "seed \(seed)")
        }
    }

    /// What a client makes of a patch is what the server would have sent in its place.
    private static func isWorthAsking(
        _ message: (told: JSONValue, full: JSONValue?), _ patched: inout PatchedResults,
        _ seed: UInt64
    ) throws -> Bool {
        guard case .response(let bytes, let isWorth) = patched.receive(message.told.bytes) else {
            Issue.record("a patch that does not fit, seed \(seed): \(message.told)")
            return false
        }
        let response = try JSONValue(parsing: bytes)
        #expect(response == message.full ?? message.told, "seed \(seed)")
        return isWorth
    }

    /// An event's patch is the records of its own result.
    @Test func thePatchOfAnEventIsTheRecordsOfItsResult() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("records of events: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let engine = try await EngineUnderTest()
        let text = """
            subscription { todoAdded { todo { id text } user { totalCount todos(last: 2) { edges {
              node { id complete } } } } } }
            """
        let operation = try engine.service.prepare(GraphQLRequest(query: text))
        let normalizer = try #require(try Normalization(of: operation, schema: engine.schema))
            .normalizer(try operation.coerce([:]))
        let patched = try engine.subscribe(text, relay: ["records": true])
        let whole = try engine.subscribe(text)
        for _ in 0..<40 { _ = try await engine.run(Self.changeOfTodos(&random)) }
        _ = try await engine.addTodo("last")
        let count = try await eventually("the last one") {
            let results = engine.resultsSoFar(of: whole)
            return results.last?.text(of: "todoAdded") == "last" ? results.count : nil
        }
        let patches = try await engine.results(of: patched, count: count)
        let results = engine.resultsSoFar(of: whole)
        #expect(patches.first?["data"] == results.first?["data"])
        var client = PatchedResults(normalizer.operation, variables: normalizer.variables)
        for (place, message) in zip(patches, results).enumerated() {
            // Each says all of its event, so the client will do without them.
            #expect(try Self.isWorthAsking(message, &client, seed) == (place < 3), "seed \(seed)")
        }
        for (patch, result) in zip(patches, results).dropFirst() {
            #expect(patch["data"] == .null)
            var records = ResultRecords()
            records.fold(patch.relay?["records"])
            let expected = try #require(normalizer.records(of: result["data"] ?? .null))
            #expect(records.text == expected.text, "seed \(seed)")
        }
    }

    // MARK: Histories

    private static func engine(for question: Question) async throws -> EngineUnderTest {
        switch question.engine {
        case .todos: return try await EngineUnderTest()
        case .computed: return try await ContradictoryRecordsTests.engine()
        case .tracker: break
        }
        let people = (0..<3).map {
            #"{"id":"P\#($0)","type":"Person","fields":{"login":"p\#($0)","name":null}}"#
        }
        let project =
            #"{"id":"R0","type":"Project","fields":{"key":"R","title":"Relay","issues":{"refs":[]}}}"#
        let engine = try await EngineUnderTest(
            sdl: Example.text("tracker.graphql"), handlers: Handlers(),
            seed: (people + [project]).joined(separator: "\n"))
        return engine
    }

    /// Ids are known: `EngineUnderTest` counts.
    private static func changeOfTodos(_ random: inout SeededGenerator) -> String {
        let made = (1...40).map { "Todo-\($0)" }
        let id =
            Bool.random(using: &random)
            ? (made.prefix(6) + ["VG9kbzow", "VG9kbzox"]).randomElement(using: &random) ?? ""
            : (made + ["VG9kbzow", "VG9kbzox"]).randomElement(using: &random) ?? ""
        let number = Int.random(in: 0..<100, using: &random)
        return switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: "mutation { addTodo(input: {text: \"\(number)\"}) { todo { id } } }"
        case 4: "mutation { removeTodo(input: {id: \"\(id)\"}) { deletedTodoId } }"
        case 5..<7:
            "mutation { renameTodo(input: {id: \"\(id)\", text: \"\(number)\"}) { todo { id } } }"
        default:
            """
            mutation { changeTodoStatus(input: {id: "\(id)", complete: \(number < 50)}) {
              todo { id } } }
            """
        }
    }

    private static func changeOfTracker(_ random: inout SeededGenerator) -> String {
        let issue = "Issue-\(Int.random(in: 1...12, using: &random))"
        let person = "P\(Int.random(in: 0..<3, using: &random))"
        let number = Int.random(in: 0..<100, using: &random)
        return switch Int.random(in: 0..<12, using: &random) {
        case 0..<4:
            """
            mutation { addIssue(input: {projectId: "R0", title: "\(number)", authorId: "\(person)",
              labels: ["a", "\(number)"], estimate: \(number).5}) { issue { id } } }
            """
        case 4..<6:
            "mutation { watch(input: {issueId: \"\(issue)\", personId: \"\(person)\"}) { issue { id } } }"
        case 6:
            """
            mutation { deleteIssue(input: {id: "\(issue)", projectId: "R0"}) { deletedIssueId } }
            """
        case 7: "mutation { updateIssue(input: {id: \"\(issue)\", labels: null}) { issue { id } } }"
        default:
            """
            mutation { updateIssue(input: {id: "\(issue)", open: \(number < 50), labels: ["\(number)"]}) {
              issue { id } } }
            """
        }
    }

    /// The records that a client's store makes of a response.
    private static func storeRecords(
        of response: JSONValue, _ normalizer: RecordNormalizer
    ) throws -> String {
        let snapshot = Snapshot()
        var draft = Draft(on: snapshot)
        let plan = NormalizationPlan(
            normalizer.operation, variables: normalizer.variables, symbols: snapshot.symbols)
        var writer = JSONWriter()
        writer.write(response)
        _ = try writer.bytes.withUnsafeBytes { try draft.normalize($0, plan) }
        var records = ResultRecords()
        for record in draft.snapshot.recordsInCreationOrder() {
            guard let json = draft.snapshot.recordJSON(record) else { continue }
            let id = ExactText(json.id.rawValue)
            let fields = json.fields.map { (ExactText($0.key), $0.value.recordJSON) }
            records.merge(Dictionary(fields, uniquingKeysWith: { $1 }), into: id)
        }
        return records.text
    }
}

/// What a client has that follows a stream of patches.
private struct FoldedRecords {
    /// Nil after a result that has none, which the next one cannot be a patch of.
    private(set) var records: ResultRecords? = ResultRecords()

    /// Takes what was told, now and then as somebody slow is told it: some left out, and then a full result.
    mutating func take(
        _ told: ArraySlice<(told: JSONValue, full: JSONValue?)>, _ normalizer: RecordNormalizer,
        _ random: inout SeededGenerator
    ) throws {
        for (place, result) in zip(told.indices, told) {
            let isLast = place == told.endIndex - 1
            if !isLast, told[place + 1].full != nil, Int.random(in: 0..<4, using: &random) == 0 {
                skipped = true
            } else if let data = result.told["data"], data != .null {
                records = normalizer.records(of: data)
            } else if skipped, let full = result.full {
                records = full["data"].flatMap { normalizer.records(of: $0) }
                try #require(records != nil)
                skipped = false
            } else {
                try #require(records != nil)
                records?.fold(result.told.relay?["records"])
            }
        }
    }

    private var skipped = false
}

extension ResultRecords {
    /// Applies a patch as docs/websocket.md says.
    fileprivate mutating func fold(_ patch: JSONValue?) {
        for (id, fields) in patch?.object ?? [:] {
            let id = ExactText(id)
            guard let fields = fields.object else {
                records[id] = nil
                continue
            }
            merge([:], into: id)
            for (key, value) in fields {
                let key = ExactText(key)
                if value["unset"] != nil {
                    records[id]?[key] = nil
                } else if let splice = value["splice"]?.array {
                    var list = records[id]?[key]?["refs"]?.array ?? []
                    let start = Int(splice[0].int ?? 0)
                    list.replaceSubrange(
                        start..<start + Int(splice[1].int ?? 0), with: splice[2].array ?? [])
                    merge([key: ["refs": .array(list)]], into: id)
                } else {
                    merge([key: value], into: id)
                }
            }
        }
    }

    fileprivate var withoutTypes: ResultRecords {
        var copy = self
        for id in records.keys { copy.records[id]?[Self.typeKey] = nil }
        return copy
    }

    fileprivate var text: String {
        var writer = JSONWriter()
        for (id, fields) in records.sorted(by: { $0.key < $1.key }) {
            writer.write(id.text)
            Self.write(fields, to: &writer)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
