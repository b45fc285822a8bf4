import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded) struct ConnectionDirectiveTests {
    private let environment = MockEnvironment()
    private let list: List_user
    private let connection: String

    init() throws {
        try environment.cachePayload(UserQuery(), Payloads.user(["a", "b", "a"]))
        let user = try #require(
            environment.lookup(
                selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self
            ).data?.user)
        list = List_user(key: user)
        connection = try #require(environment.lookup(list).data?.todos?.__id)
    }

    private var nodes: [String?]? {
        environment.lookup(list).data?.todos?.edges?.map { $0?.node?.id }
    }

    private func run<Op: Relay.Operation>(_ mutation: Op, _ response: String) {
        let result = Collected(environment.commitMutation(mutation))
        environment.mostRecent?.resolve(response)
        #expect(result.isFinished)
    }

    private func add(_ id: String, to connections: [String]) {
        run(
            AddTodoMutation(variables: .init(text: id, connections: connections)),
            """
            {"data":{"addTodo":{"todoEdge":{"cursor":"\(id)","node":\
            {"id":"\(id)","text":"\(id)","complete":false}}}}}
            """)
    }

    @Test func promise43IDsOfRecordsCanBeSelectedAnywhere() throws {
        environment.mockResponse(
            RecordIDsQuery(), #"{"data":{"user":{"id":"U","todos":{"edges":[]}}}}"#)
        let result = Collected(environment.fetchQuery(RecordIDsQuery()))
        let data = try #require(result.values.first ?? nil)
        #expect(data.__id == "client:root")
        #expect(data.user?.__id == "U")
        #expect(data.user?.todos?.__id == "client:U:todos(first:1)")
        // The id of a connection is what directives take.
        #expect(connection == "client:U:__List_todos_connection")
        add("n", to: [connection])
        #expect(nodes == ["a", "b", "n"])
    }

    @Test func promise44DirectivesTakeIDsOfConnectionsAndPassOverOthers() {
        add("n", to: ["List_todos", "client:nobody:__List_todos_connection"])
        #expect(nodes == ["a", "b"])
        #expect(environment.store.snapshotText(of: "n", "text") == "n")
        add("n", to: ["List_todos", connection])
        #expect(nodes == ["a", "b", "n"])
        let response = #"{"data":{"removeTodo":{"deletedTodoId":"a"}}}"#
        run(RemoveTodoMutation(variables: .init(id: "a", connections: ["List_todos"])), response)
        #expect(nodes == ["a", "b", "n"])
    }

    @Test func promise45AnEdgeIsDeletedWithoutItsRecordAndARecordWithoutItsEdges() throws {
        // One node may stand behind two edges.
        try environment.commitUpdate { store in
            let list = try #require(store[DataID(connection)])
            let node = try #require(store["a"])
            let edge = store.create(dataID: "second", typeName: "TodoEdge")
            edge.setLinkedRecord("node", record: node)
            let edges: [(any RecordProxy)?] = list.getLinkedRecords("edges") ?? []
            list.setLinkedRecords("edges", records: edges + [edge as (any RecordProxy)?])
        }
        #expect(nodes == ["a", "b", "a"])
        run(
            RemoveTodoMutation(variables: .init(id: "a", connections: [connection])),
            #"{"data":{"removeTodo":{"deletedTodoId":"a"}}}"#)
        #expect(nodes == ["b"])
        #expect(environment.store.snapshotText(of: "a", "text") == "ta")
        run(
            DeleteTodoMutation(variables: .init(id: "b")),
            #"{"data":{"removeTodo":{"deletedTodoId":"b"}}}"#)
        // The edge stays, and its node reads as null.
        #expect(nodes == [nil])
        #expect(environment.store.snapshotText(of: "b", "text") == nil)
    }

    @Test func promise46MutationsAreAlwaysForced() {
        let forced = Collected(
            environment.commitMutation(change("a", true), cacheConfig: CacheConfig(force: false)))
        #expect(environment.mostRecent?.cacheConfig.force == true)
        forced.cancel()
        let query = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        #expect(environment.mostRecent?.cacheConfig.force == false)
        query.cancel()
    }
}
