import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService
import Testing

@testable import RelayServer
@testable import StoreEngine

/// `records: true`: results as patches of the records that a client would make of them.
@Suite(.bounded, .timeLimit(.minutes(10)))
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

    /// An event's patch names all its fields, with their arguments.
    @Test func whereThePatchWouldBeMuchLongerTheResultIsWhole() async throws {
        let engine = try await EngineUnderTest()
        func patch(argumentLength length: Int) async throws -> JSONValue? {
            let cursor = String(repeating: "0", count: length)
            let sink = try engine.subscribe(
                """
                subscription { todoAdded { todo { text } user { todos(first: 1, after: "\(cursor)") {
                  edges { cursor } } } } }
                """, relay: ["records": true])
            for text in ["a", "b"] { _ = try await engine.addTodo(text) }
            let result = try await engine.results(of: sink, count: 2)[1]
            engine.service.unsubscribe(sink)
            #expect((result["data"] == .null) == (result.relay?["records"] != nil))
            return result.relay?["records"]
        }
        #expect(try await patch(argumentLength: 10) != nil)
        #expect(try await patch(argumentLength: 20_000) == nil)
    }

    /// A record without an id is named by its whole path, so a small result could have records of any size.
    @Test func recordsWhoseNamesAreTooLongAreNotMade() async throws {
        let engine = try await EngineUnderTest()
        let text =
            "query($s: String) { user { todos(after: $s) { edges { cursor node { id } } } } }"
        let operation = try engine.service.prepare(GraphQLRequest(query: text))
        let variables: JSONObject = ["s": .string(String(repeating: "0", count: 1_000))]
        let normalizer = try #require(try Normalization(of: operation, schema: engine.schema))
            .normalizer(try operation.coerce(variables))
        let edges = (0..<100).map { "{\"cursor\":\"\($0)\",\"node\":{\"id\":\"\($0)\"}}" }
        let data = try JSONValue(
            parsing: "{\"user\":{\"todos\":{\"edges\":[\(edges.joined(separator: ","))]}}}")
        #expect(normalizer.records(of: data, textLimit: 200_000)?.records.count == 203)
        #expect(normalizer.records(of: data, textLimit: 100_000) == nil)
    }

    /// Written out, the argument is there sixty times.
    @Test func operationsThatAreTooLargeWrittenOutHaveWholeResults() async throws {
        let engine = try await EngineUnderTest()
        func secondResult(copies: Int) async throws -> JSONValue {
            let long = String(repeating: "0", count: 200_000)
            let aliases = (0..<copies).map { "a\($0): user { ...F }" }.joined(separator: " ")
            let sink = try engine.subscribe(
                """
                query @live { user { id totalCount } \(aliases) }
                fragment F on User { id todos(after: "\(long)") { edges { cursor } } }
                """, relay: ["records": true])
            _ = try await engine.results(of: sink, count: 1)
            _ = try await engine.addTodo("a")
            let result = try await engine.results(of: sink, count: 2)[1]
            engine.service.unsubscribe(sink)
            return result
        }
        #expect(try await secondResult(copies: 1).relay?["records"] != nil)
        let whole = try await secondResult(copies: 60)
        #expect(whole.relay?["records"] == nil)
        #expect(whole["data"]?["user"]?["totalCount"] == 4)
    }

    /// Without its type it is unknown which fragments an object is in.
    @Test func anOperationThatDoesNotSelectTypesHasWholeResults() async throws {
        let engine = try await EngineUnderTest()
        func resultOfRename(_ typename: String, _ text: String) async throws -> JSONValue {
            let sink = try engine.subscribe(
                """
                query @live { nodes(ids: ["VG9kbzow"]) { \(typename) id ... on Todo { text } } }
                """, relay: ["records": true])
            _ = try await engine.results(of: sink, count: 1)
            _ = try await engine.run(
                """
                mutation { renameTodo(input: {id: "VG9kbzow", text: "\(text)"}) { todo { id } } }
                """)
            let result = try await engine.results(of: sink, count: 2)[1]
            engine.service.unsubscribe(sink)
            return result
        }
        let patch = try await resultOfRename("__typename", "one")
        #expect(patch.relay?["records"] == ["VG9kbzow": ["text": "one"]])
        let whole = try await resultOfRename("", "two")
        #expect(whole.relay?["records"] == nil)
        #expect(whole["data"]?["nodes"]?.array?.first?["text"] == "two")
    }

    /// A selection that a condition repeats is not repeated in the normalization.
    @Test func anIDThatIsSelectedAroundAConditionNamesTheRecordInsideToo() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe(
            """
            query($x: Boolean!) @live { user { id todos { edges { node { id } } } }
              ... @include(if: $x) { user { id totalCount todos { edges { cursor } } } } }
            """, ["x": true], relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run(
            "mutation { removeTodo(input: {id: \"VG9kbzox\"}) { deletedTodoId } }")
        let result = try await engine.results(of: sink, count: 2)[1]
        let todos = "client:VXNlcjptZQ==:todos"
        #expect(
            result.relay?["records"] == [
                "VG9kbzox": nil, "VXNlcjptZQ==": ["totalCount": 1],
                .init(todos): ["edges": ["refs": [.string("\(todos):edges:VG9kbzow")]]],
                .init("\(todos):edges:VG9kbzox"): nil,
            ])
    }

    /// A patch goes on from a whole result that was sent in place of one.
    @Test func aLiveQueryHasAWholeResultBetweenPatches() async throws {
        let engine = try await EngineUnderTest()
        // Records of a list that are selected without their ids are named by the whole path, with these ids.
        let ids: JSONValue = ["VXNlcjptZQ==", .string(String(repeating: "0", count: 20_000))]
        let sink = try engine.subscribe(
            """
            query($ids: [ID!]!) @live { nodes(ids: $ids) { __typename ... on User { totalCount } }
              user { id todos(first: 100) { edges { node { id text } } } } }
            """, ["ids": ids], relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        func rename(_ text: String) async throws -> JSONValue? {
            let count = engine.resultsSoFar(of: sink).count
            _ = try await engine.run(
                """
                mutation { renameTodo(input: {id: "VG9kbzox", text: "\(text)"}) { todo { id } } }
                """)
            return try await engine.results(of: sink, count: count + 1).last
        }
        func expectPatch(_ text: String) async throws {
            let result = try await rename(text)
            #expect(result?["data"] == .null)
            #expect(result?.relay?["records"] == ["VG9kbzox": ["text": .string(text)]])
        }
        try await expectPatch("one")
        _ = try await engine.addTodo("new")
        let whole = try await engine.results(of: sink, count: 3)[2]
        #expect(whole.relay?["records"] == nil)
        #expect(whole["data"]?["nodes"]?.array?.first?["totalCount"] == 3)
        try await expectPatch("two")
    }

    /// The parser reads so many levels, and a result has more of them than the values in it.
    @Test func aResultThatIsNestedTooDeeplyIsNotMistakenForNone() async throws {
        let engine = try await EngineUnderTest()
        let operation = try engine.service.prepare(GraphQLRequest(query: "{ user { id } }"))
        let normalizer = try #require(try Normalization(of: operation, schema: engine.schema))
            .normalizer(try operation.coerce([:]))
        func result(levels: Int) -> ExecutedResult {
            let lists =
                String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return ExecutedResult(
                bytes: Array("{\"data\":{\"user\":{\"id\":\"u\",\"x\":\(lists)}}".utf8),
                hasErrors: false)
        }
        #expect(result(levels: 100).records(normalizer)?.records.count == 2)
        #expect(result(levels: 600).records(normalizer) == nil)
        let response = Response(event: result(levels: 600), normalizer, RelayNotes())
        #expect(String(decoding: response.bytes, as: UTF8.self).hasPrefix(#"{"data":{"user""#))
    }

    /// Making it takes time, which the loops of connections do not have.
    @Test func anOperationWithoutItsNormalizationIsNotReadyForRecords() async throws {
        let engine = try await EngineUnderTest()
        let plain = GraphQLRequest(query: "subscription { user { id totalCount } }")
        var records = plain
        records.extensions = ["relay": ["records": true]]
        let operation = try engine.service.prepare(records)
        #expect(engine.service.findPrepared(plain) === operation)
        #expect(engine.service.findPrepared(records) == nil)
        _ = try engine.service.ready(operation, records)
        #expect(engine.service.findPrepared(records) === operation)
    }

    /// A small operation keeps its whole document.
    @Test func documentsWithNormalizationsArePartOfTheBound() throws {
        let schema = try ServiceSchema(Example.text("todo.graphql"))
        let service = SchemaService(schema, symbols: Snapshot(indexes: schema.indexes).symbols)
        let cache = OperationCache(schema: service.executable, generationBytes: 1 << 20)
        var weak: [() -> PreparedOperation?] = []
        for number in 0..<40 {
            let comment = "# \(number) " + String(repeating: "x", count: 100_000)
            let prepared = try cache.prepare(
                SubscriptionRequest(
                    request: GraphQLRequest(query: "subscription { user { id } } \(comment)"),
                    sink: TestSink(), sendsRecords: true, showsOptimistic: false, start: .now))
            #expect(prepared.normalization != nil)
            weak.append { [weak operation = prepared.operation] in operation }
        }
        let kept = weak.count { $0() != nil }
        #expect((5...20).contains(kept))
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

    @Test func aRecordThatOnlyLeavesIsTakenAwayAndSaidToExist() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe(
            "subscription { user { id todos(complete: false) { edges { node { id text } } } } }",
            relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run(
            """
            mutation { changeTodoStatus(input: {id: "VG9kbzox", complete: true}) { todo { id } } }
            """)
        let relay = try await engine.results(of: sink, count: 2)[1].relay
        let connection = "client:VXNlcjptZQ==:todos(complete:false)"
        #expect(
            relay?["records"] == [
                "VG9kbzox": nil, .init(connection): ["edges": ["refs": []]],
                .init("\(connection):edges:VG9kbzox"): nil,
            ])
        #expect(relay?["left"] == ["VG9kbzox"])
    }

    @Test func aRecordThatIsDeletedIsNotSaidToExist() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe(
            "subscription { todo(id: \"VG9kbzox\") { id text } }", relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run(
            "mutation { removeTodo(input: {id: \"VG9kbzox\"}) { deletedTodoId } }")
        let relay = try await engine.results(of: sink, count: 2)[1].relay
        #expect(
            relay?["records"] == ["VG9kbzox": nil, "client:root": ["todo(id:\"VG9kbzox\")": nil]])
        #expect(relay?["left"] == nil)
    }

    @Test func aFieldThatLeavesARecordIsUnset() async throws {
        let engine = try await EngineUnderTest()
        let sink = try engine.subscribe(
            """
            subscription { user { id
              open: todos(complete: false) { edges { node { id text } } }
              all: todos { edges { node { id } } } } }
            """, relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run(
            """
            mutation { changeTodoStatus(input: {id: "VG9kbzox", complete: true}) { todo { id } } }
            """)
        let relay = try await engine.results(of: sink, count: 2)[1].relay
        #expect(relay?["records"]?["VG9kbzox"] == ["text": ["unset": true]])
        #expect(relay?["left"] == nil)
    }
}
