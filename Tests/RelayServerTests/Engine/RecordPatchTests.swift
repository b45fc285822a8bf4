import GraphQLExecution
import RelayJSON
import Testing

@testable import RelayServer

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

    /// Each record without an id is named by the arguments on the way to it.
    @Test func longArgumentsMakeEveryResultWhole() async throws {
        let engine = try await EngineUnderTest()
        let long = String(repeating: "0", count: 5_000)
        let sink = try engine.subscribe(
            "subscription { user { totalCount todos(first: 1, after: \"\(long)\") { edges { cursor } } } }",
            relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("a")
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[1]["data"]?["user"]?["totalCount"] == 3)
        #expect(results[1].relay?["records"] == nil)
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
