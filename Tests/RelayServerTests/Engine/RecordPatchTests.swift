import GraphQLExecution
import RelayJSON
import Testing

@testable import RelayServer

/// `records: true`: results as patches of the records that a client would make of them.
@Suite(.timeLimit(.minutes(3)))
struct RecordPatchTests {
    static let todos = """
        query Todos($status: Boolean) @live {
          user { id totalCount completedCount
            all: todos(first: 100) { edges { cursor node { __typename id text complete } } }
            todos(complete: $status, first: 5) { edges { node { ...Item } } pageInfo { hasNextPage } }
          }
        }
        fragment Item on Todo { id label: text ... on Node { id } }
        """

    @Test func theFirstResultIsWholeAndLaterOnesArePatches() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe(
            "subscription { user { id totalCount completedCount } }", relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("a")
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[0]["data"]?["user"]?["totalCount"] == 2)
        #expect(results[0].relay?["records"] == nil)
        #expect(results[1]["data"] == .null)
        #expect(results[1].relay?["records"] == ["VXNlcjptZQ==": ["totalCount": 3]])
    }

    @Test func aLinkThatIsAddedIsASplice() async throws {
        let engine = try await EngineUnderTest()
        for number in 0..<5 { _ = try await engine.addTodo("\(number)") }
        let sink = try engine.subscribe(
            "subscription { user { id todos { edges { node { id text } } } } }",
            relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("new")
        let patch = try await engine.results(of: sink, count: 2)[1].relay?["records"]
        let connection = "client:VXNlcjptZQ==:todos"
        let edge = "\(connection):edges:Todo-6"
        #expect(
            patch == [
                .init(connection): ["edges": ["splice": [7, 0, [.string(edge)]]]],
                .init(edge): ["__typename": "TodoEdge", "node": ["ref": "Todo-6"]],
                "Todo-6": ["__typename": "Todo", "id": "Todo-6", "text": "new"],
            ])
    }

    @Test func anEventAfterTheFirstBringsItsRecords() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe(
            "subscription { todoAdded { todo { id text } } }", relay: ["records": true])
        for text in ["a", "b"] { _ = try await engine.addTodo(text) }
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[0].text(of: "todoAdded") == "a")
        #expect(results[1]["data"] == .null)
        #expect(
            results[1].relay?["records"] == [
                "Todo-2": ["__typename": "Todo", "id": "Todo-2", "text": "b"],
                "client:root": ["todoAdded": ["ref": "client:root:todoAdded"]],
                "client:root:todoAdded": [
                    "__typename": "AddTodoPayload", "todo": ["ref": "Todo-2"],
                ],
            ])
    }

    static let recentCommits: [Int] = [4_096, 1]

    @Test(arguments: recentCommits)
    func aResumedEventStreamGetsItsFirstResultWhole(_ kept: Int) async throws {
        let engine = try await EngineUnderTest(recentCommits: kept)
        for text in ["a", "b", "c"] { _ = try await engine.addTodo(text) }
        let sink = try engine.subscribe(
            "subscription { todoAdded { todo { id text } } }",
            relay: ["records": true, "resume": .string(engine.cursor(1))])
        _ = try await engine.results(of: sink, count: 4)
        _ = try await engine.addTodo("d")
        let results = try await engine.results(of: sink, count: 5)
        #expect(results[0].recovered == true)
        #expect(results[1].text(of: "todoAdded") == "a")
        #expect(results.dropFirst(2).allSatisfy { $0["data"] == .null })
        let texts = results.dropFirst(2).map { result in
            result.relay?["records"]?.object?.compactMap { $0.value["text"]?.string }.first
        }
        #expect(texts == ["b", "c", "d"])
    }

    /// The property: after any history, the folded patches say of every field of the newest result's records
    /// what normalizing that result says.
    @Test func foldingThePatchesGivesTheRecordsOfAFreshResult() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("records: seed \(seed)")
        var random = SplitMix(state: seed)
        for status in [nil, true, false] as [Bool?] {
            try await check(status, &random, seed)
        }
    }

    private func check(_ status: Bool?, _ random: inout SplitMix, _ seed: UInt64) async throws {
        let engine = try await EngineUnderTest()
        let variables: JSONObject = ["status": status.map(JSONValue.bool) ?? .null]
        let request = GraphQLRequest(
            query: Self.todos, variables: variables, extensions: ["relay": ["records": true]])
        let operation = try engine.service.prepare(request)
        let normalizer = try RecordNormalizer(
            operation, try operation.coerce(variables), schema: engine.schema)
        let sink = TestSink()
        try engine.service.subscribe(operation, request, sink: sink)
        let first = try await engine.results(of: sink, count: 1)[0]
        var ids = ["VG9kbzow", "VG9kbzox"]
        for number in 0..<60 {
            try await Self.mutate(engine, &ids, number, &random)
        }
        // The same question once more, fresh: its cursor says when the patches are as far.
        let other = TestSink()
        try engine.service.subscribe(operation, request, sink: other)
        let fresh = try await engine.results(of: other, count: 1)[0]
        let told = engine.resultsSoFar(of: sink)

        var folded = normalizer.records(of: first["data"] ?? .null).records
        for patch in told.dropFirst() {
            #expect(patch["data"] == .null)
            Self.fold(patch.relay?["records"]?.object ?? [:], into: &folded)
        }
        let expected = normalizer.records(of: fresh["data"] ?? .null).records
        #expect(expected.count > 4)
        for (id, fields) in expected {
            for (key, value) in fields {
                #expect(folded[id]?[key] == value, "\(id).\(key), seed \(seed)")
            }
        }
        for id in folded.keys where expected[id] == nil {
            // Records that have left the result and still exist.
            #expect(!id.hasPrefix("client:") && ids.contains(id), "\(id), seed \(seed)")
        }
    }

    private static func mutate(
        _ engine: EngineUnderTest, _ ids: inout [String], _ number: Int, _ random: inout SplitMix
    ) async throws {
        let id = ids.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            let added = try await engine.addTodo("\(number)")
            ids.append(try #require(added["data"]?["addTodo"]?["todo"]?["id"]?.string))
        case 4..<6 where ids.count > 1:
            _ = try await engine.run(
                "mutation { removeTodo(input: {id: \"\(id)\"}) { deletedTodoId } }")
            ids.removeAll { $0 == id }
        case 6:
            _ = try await engine.run(
                "mutation { renameTodo(input: {id: \"\(id)\", text: \"\(number)\"}) { todo { id } } }"
            )
        default:
            let complete = Bool.random(using: &random)
            _ = try await engine.run(
                """
                mutation { changeTodoStatus(input: {id: "\(id)", complete: \(complete)}) {
                  todo { id } } }
                """)
        }
    }

    /// A patch applied as docs/websocket.md says.
    private static func fold(
        _ patch: JSONObject, into records: inout [String: [String: JSONValue]]
    ) {
        for (id, fields) in patch {
            guard let fields = fields.object else {
                records[id] = nil
                continue
            }
            for (key, value) in fields {
                guard let splice = value["splice"]?.array else {
                    records[id, default: [:]][key] = value
                    continue
                }
                var list = records[id]?[key]?["refs"]?.array ?? []
                let start = Int(splice[0].int ?? 0)
                list.replaceSubrange(
                    start..<start + Int(splice[1].int ?? 0), with: splice[2].array ?? [])
                records[id]?[key] = ["refs": .array(list)]
            }
        }
    }
}
