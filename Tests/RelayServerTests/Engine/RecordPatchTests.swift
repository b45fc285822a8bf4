import GraphQLExecution
import RelayJSON
import ResultPatches
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
        let normalization = try Normalizations(engine.schema).normalization(of: operation)
        let normalizer = try #require(normalization).normalizer(try operation.coerce(variables))
        let edges = (0..<100).map { "{\"cursor\":\"\($0)\",\"node\":{\"id\":\"\($0)\"}}" }
        let data = try JSONValue(
            parsing: "{\"user\":{\"todos\":{\"edges\":[\(edges.joined(separator: ","))]}}}")
        #expect(normalizer.records(of: data, textLimit: 200_000)?.records.count == 203)
        #expect(normalizer.records(of: data, textLimit: 100_000) == nil)
    }

    /// Written out, the argument is there sixty times.
    @Test func operationsThatAreTooLargeWrittenOutHaveWholeResults() async throws {
        let engine = try await EngineUnderTest()
        let long = String(repeating: "0", count: 200_000)
        let aliases = (0..<60).map { "a\($0): user { ...F }" }.joined(separator: " ")
        let operation = try engine.service.prepare(
            GraphQLRequest(
                query: """
                    { \(aliases) } fragment F on User { todos(after: "\(long)") { edges { cursor } } }
                    """))
        #expect(try Normalizations(engine.schema).normalization(of: operation) == nil)
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
