import BoundedTesting
import Foundation
import Relay
import Testing

/// The rest of the todo app: lists with and without pages, and every way to change them.
@Suite(.bounded, .timeLimit(.minutes(10))) struct GeneratedTodoAppTests {
    private let environment = MockEnvironment()
    private let shelf: Shelf_user
    private let connections: [String]

    init() throws {
        try environment.cachePayload(
            ShelfQuery(),
            """
            {"data": {"user": {"id": "u", "userId": "me", "totalCount": 2, "todos": {
              "edges": [{"cursor": "1", "node": \(Self.todo("a", "Milk", complete: false))},
                {"cursor": "2", "node": \(Self.todo("b", "Bread", complete: true))}],
              "pageInfo": {"endCursor": "2", "hasNextPage": false}}}}}
            """)
        let query = ShelfQuery().createDescriptor()
        let data = environment.lookup(selector: query.fragment, as: ShelfQuery.Data.self).data
        shelf = Shelf_user(key: try #require(data?.user))
        connections = [try #require(environment.lookup(shelf).data?.todos?.__id)]
    }

    private static func todo(_ id: String, _ text: String, complete: Bool = false) -> String {
        #"{"__typename": "Todo", "id": "\#(id)", "text": "\#(text)", "complete": \#(complete)}"#
    }

    /// Those of the paged list; nil for an edge whose todo is gone.
    private var books: [Book_todo.Data?] {
        (environment.lookup(shelf).data?.todos?.edges ?? []).map { edge in
            edge?.node.flatMap { environment.lookup($0.asFragment()).data }
        }
    }

    private func commit<Op: Relay.Operation>(
        _ mutation: Op, _ response: String, updater: SelectorStoreUpdater? = nil
    ) async throws -> Op.Data {
        environment.mockResponse(mutation, response)
        return try #require(try await environment.commit(mutation, updater: updater).data)
    }

    // MARK: A list without pages

    @Test func aListWithoutPagesIsRead() async throws {
        let line = Self.todo("a", "Tea")
        let list = #""todos": {"edges": [{"node": \#(line)}, null, {"node": null}]}"#
        environment.mockResponse(
            MyTodosQuery(), #"{"data": {"user": {"id": "u", \#(list)}}}"#)
        let result = try await environment.fetch(MyTodosQuery())
        let user = MyTodos_user(key: try #require(result.data?.user))
        // Types of nested data are called by the schema's types and the fields.
        let nodes: [MyTodos_user.Data.TodoConnection_todos.TodoEdge_edges.Todo_node?]? =
            environment.lookup(user).data?.todos?.edges?.map { $0?.node }
        #expect(nodes?.map { $0?.id } == ["a", nil, nil])
        let first = try #require(nodes?.first ?? nil)
        #expect(environment.lookup(first.asFragment()).data?.text == "Tea")
        // The list with pages is another, the todo the same.
        #expect(books.map { $0?.text } == ["Tea", "Bread"])

        environment.mockResponse(
            TodoLinePreviewQuery(), #"{"data": {"user": {"id": "u", \#(list)}}}"#)
        let preview = try await environment.fetch(TodoLinePreviewQuery())
        let node = try #require(preview.data?.user?.todos?.edges?.first??.node)
        #expect(environment.lookup(TodoLine_todo(key: node)).data?.complete == false)
    }

    // MARK: Where a todo goes, and where it goes from

    @Test func anEdgeGoesToEitherEnd() async throws {
        let edge = { (node: String) in
            #"{"data": {"addTodo": {"todoEdge": {"cursor": "0", "node": \#(node)}}}}"#
        }
        let last = try await commit(
            AddTodoMutation(input: .init(text: "Tea"), connections: connections),
            edge(Self.todo("c", "Tea")))
        #expect(last.addTodo?.todoEdge.cursor == "0")
        let first = try await commit(
            PrependTodoEdgeMutation(input: .init(text: "Jam"), connections: connections),
            edge(Self.todo("d", "Jam")))
        #expect(first.addTodo?.todoEdge.node?.text == "Jam")
        #expect(books.map { $0?.text } == ["Jam", "Milk", "Bread", "Tea"])
    }

    @Test func aNodeGetsAnEdgeAtEitherEnd() async throws {
        let last = try await commit(
            AppendTodoNodeMutation(input: .init(text: "Tea"), connections: connections),
            #"{"data": {"addTodo": {"todoEdge": {"node": \#(Self.todo("c", "Tea"))}}}}"#)
        #expect(last.addTodo?.todoEdge.node?.id == "c")
        let first = try await commit(
            PrependTodoNodeMutation(input: .init(text: "Jam"), connections: connections),
            #"{"data": {"addTodo": {"todo": \#(Self.todo("d", "Jam"))}}}"#)
        #expect(first.addTodo?.todo.id == "d")
        #expect(books.map { $0?.text } == ["Jam", "Milk", "Bread", "Tea"])
    }

    @Test func anEdgeIsRemovedAndARecordDeleted() async throws {
        let answer = { (id: String) in #"{"data": {"removeTodo": {"deletedTodoId": "\#(id)"}}}"# }
        let edge = try await commit(
            RemoveTodoEdgeMutation(input: .init(id: "a"), connections: connections), answer("a"))
        #expect(edge.removeTodo?.deletedTodoId == "a" && books.map { $0?.id } == ["b"])
        let record = try await commit(RemoveTodoMutation(input: .init(id: "b")), answer("b"))
        #expect(record.removeTodo?.deletedTodoId == "b" && books == [nil])
    }

    @Test func severalEdgesAreRemovedAtOnce() async throws {
        let data = try await commit(
            RemoveCompletedTodosMutation(input: .init(), connections: connections),
            """
            {"data": {"removeCompletedTodos": {"deletedTodoIds": ["b", "a"],
              "user": {"id": "u", "completedCount": 0, "totalCount": 0}}}}
            """)
        #expect(data.removeCompletedTodos?.deletedTodoIds == ["b", "a"] && books.isEmpty)
        #expect(data.removeCompletedTodos?.user.totalCount == 0)
    }

    // MARK: Changes

    @Test func anArgumentMayBeMadeOfVariables() async throws {
        let data = try await commit(
            CompleteTodoMutation(id: "a"),
            #"{"data": {"changeTodoStatus": {"todo": {"id": "a", "complete": true}}}}"#)
        #expect(data.changeTodoStatus?.todo.complete == true)
        #expect(books.map { $0?.complete } == [true, true])
        #expect(
            CompleteTodoMutation.node.params.text?.contains(
                "changeTodoStatus(input: {id: $id, complete: true})") == true)
    }

    @Test func anUpdaterChangesWhatTheAnswerLeavesOut() async throws {
        let data = try await commit(
            RenameTodoMutation(input: .init(id: "b", text: "Rolls")),
            #"{"data": {"renameTodo": {"todo": {"id": "b", "text": "Rolls"}}}}"#,
            updater: { store, _ in
                store.getRootField("renameTodo")?.getLinkedRecord("todo")?["complete"] = false
            })
        #expect(data.renameTodo?.todo.text == "Rolls")
        #expect(books.last??.text == "Rolls" && books.last??.complete == false)
    }

    @Test func anExpectedAnswerMayBeAList() throws {
        let mark = Mutation<MarkAllTodosMutation>(environment: environment).wrappedValue
        let answer = MarkAllTodosMutation.OptimisticResponse(
            markAllTodos: .init(
                changedTodos: [.init(id: "a", complete: true)],
                user: .init(id: "u", completedCount: 2)))
        var ends: [Result<MarkAllTodosMutation.Data?, any Error>] = []
        mark.commit(
            variables: .init(input: .init(complete: true)), optimisticResponse: answer,
            completion: { ends.append($0) })
        #expect(books.map { $0?.complete } == [true, true])
        environment.mostRecent?.reject(URLError(.timedOut))
        #expect(books.map { $0?.complete } == [false, true])
        #expect(throws: URLError.self) { try ends.first?.get() }

        mark.commit(
            variables: .init(input: .init(complete: false)), completion: { ends.append($0) })
        environment.mostRecent?.resolve(
            Data(
                """
                {"data": {"markAllTodos": {"changedTodos": [{"id": "b", "complete": false}],
                  "user": {"id": "u", "completedCount": 0}}}}
                """.utf8))
        let changed = try #require(try ends.last?.get()?.markAllTodos)
        #expect(changed.changedTodos?.map(\.id) == ["b"] && changed.user.completedCount == 0)
        #expect(books.map { $0?.complete } == [false, false])
    }
}
