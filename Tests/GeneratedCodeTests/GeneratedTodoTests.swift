import BoundedTesting
import Foundation
import OpenCombine
import Relay
import RelayArtifacts
import Testing

/// The generated todo client, at work.
@Suite(.bounded) struct GeneratedTodoTests {
    private static let shelf = """
        {"data": {"user": {"id": "u", "userId": "me", "totalCount": 2, "todos": {
          "edges": [
            {"cursor": "1", "node": {"id": "a", "text": "Milk", "complete": false, "__typename": "Todo"}},
            {"cursor": "2", "node": {"id": "b", "text": "Bread", "complete": true, "__typename": "Todo"}}
          ],
          "pageInfo": {"endCursor": "2", "hasNextPage": false}}}}}
        """

    /// An environment whose server answers with the same text, whatever it is asked.
    private func environment(_ answer: String) -> MockEnvironment {
        let environment = MockEnvironment()
        environment.answer { _ in Data(answer.utf8) }
        return environment
    }

    @Test func aQueryAndItsFragmentsAreRead() async throws {
        let e = environment(Self.shelf)
        let r = try await e.fetch(ShelfQuery())
        let user = try #require(r.data?.user)
        #expect(user.id == "u" && user.userId == "me" && user.totalCount == 2)
        let list = try #require(e.lookup(Shelf_user(key: user)).data?.todos)
        #expect(list.__id.hasSuffix("__Shelf_todos_connection"))
        let nodes = (list.edges ?? []).compactMap { $0?.node }
        #expect(nodes.map(\.id) == ["a", "b"])
        let rows = nodes.compactMap { e.lookup($0.asFragment()).data }
        #expect(rows.map(\.text) == ["Milk", "Bread"])
        #expect(rows.map(\.complete) == [false, true])
        #expect(rows.first == e.lookup(Book_todo(key: nodes[0])).data)
        #expect(Shelf_user.metadata.connection?.path == ["todos"])
    }

    /// Edges are called by their nodes, whatever else is selected of them.
    @Test func edgesAreTheSameUnderTwoNames() async throws {
        let e = environment(
            """
            {"data": {"user": {"id": "u", "todos": {
              "edges": [
                {"node": {"text": "Milk", "id": "a"}}, {"node": {"text": "Bread", "id": "b"}}
              ],
              "cursors": [{"cursor": "1", "node": {"id": "a"}}, {"cursor": "2", "node": {"id": "b"}}]}}}}
            """)
        let todos = try #require(try await e.fetch(CursorsQuery()).data?.user?.todos)
        #expect(todos.edges?.map { $0?.node?.text } == ["Milk", "Bread"])
        #expect(todos.cursors?.map { $0?.cursor } == ["1", "2"])
        let text = try #require(CursorsQuery.node.params.text)
        #expect(text.contains("cursors: edges {\n        cursor\n        node {\n          id"))
    }

    /// The compiler selects edges, their nodes and the page under no condition; what the document selects of them has its
    /// own.
    @Test(arguments: [true, false])
    func partsOfAConnectionMayBeLeftOut(_ isFull: Bool) async throws {
        let todo = isFull ? #", "text": "Milk", "complete": true"# : ""
        let page = isFull ? #", "hasPreviousPage": false"# : ""
        let e = environment(
            """
            {"data": {"user": {"id": "u", "todos": {
              "edges": [{"cursor": "1", "node": {"id": "a", "__typename": "Todo"\(todo)}}],
              "pageInfo": {"endCursor": "1", "hasNextPage": false\(page)}}}}}
            """)
        let user = try #require(try await e.fetch(HiddenQuery(full: isFull)).data?.user)
        let text = isFull ? "Milk" : nil

        let nodes = try #require(e.lookup(Hidden_user(key: user)).data?.todos?.edges)
        #expect(nodes.map { $0?.node?.text } == [text])

        let edges = try #require(e.lookup(HiddenEdges_user(key: user)).data?.todos)
        #expect(!edges.pageInfo.hasNextPage)
        let node = edges.edges?.first??.node
        #expect(node?.id == (isFull ? "a" : nil) && node?.text == text)
        let book = node?.fragment_Book_todo.flatMap {
            e.lookup(Book_todo(fragmentPointer: $0)).data
        }
        #expect(book?.text == text)

        let group = try #require(e.lookup(HiddenGroup_user(key: user)).data?.todos?.edges)
        #expect(group.map { $0?.node?.text } == [text])

        let whole = try #require(e.lookup(HiddenPage_user(key: user)).data?.todos)
        #expect(whole.edges?.map { $0?.node?.id } == ["a"])
        #expect(whole.pageInfo?.hasPreviousPage == (isFull ? false : nil))
    }

    @Test func whatDependsOnTheTypeIsACase() async throws {
        let todo = environment(
            #"{"data": {"node": {"__typename": "Todo", "id": "a", "text": "Milk", "complete": true}}}"#
        )
        let node = try #require(try await todo.fetch(BookQuery(id: "a")).data?.node)
        #expect(node.id == "a" && node.asUser == nil)
        #expect(node.asTodo?.text == "Milk" && node.asTodo?.complete == true)
        let key = try #require(node.asTodo)
        #expect(todo.lookup(Book_todo(key: key)).data?.text == "Milk")

        let user = environment(
            #"{"data": {"node": {"__typename": "User", "id": "u", "totalCount": 2}}}"#)
        guard case .user(let data)? = try await user.fetch(BookQuery(id: "u")).data?.node else {
            Issue.record("A User is read as one.")
            return
        }
        #expect(data.id == "u" && data.totalCount == 2)

        // A type that the schema did not have when the code was generated.
        let new = environment(#"{"data": {"node": {"__typename": "Shop", "id": "s"}}}"#)
        guard case .other(let other)? = try await new.fetch(BookQuery(id: "s")).data?.node else {
            Issue.record("What is of another type is read all the same.")
            return
        }
        #expect(other.id == "s")
    }

    @Test func whatIsSkippedIsNil() async throws {
        let e = environment(
            #"{"data": {"node": {"__typename": "Todo", "id": "a", "text": "Milk", "complete": true}}}"#
        )
        _ = try await e.fetch(BookQuery(id: "a"))
        let skipped = BookQuery(id: "a", short: true).createDescriptor()
        let data = try e.lookup(selector: skipped.fragment, as: BookQuery.Data.self).value()
        let todo = try #require(data?.node?.asTodo)
        #expect(todo.text == nil && todo.complete)
    }

    @Test func errorsAreCaughtWhereTheDocumentSaysSo() async throws {
        let failed = environment(
            """
            {"data": {"node": {"__typename": "Todo", "id": "a", "text": "Milk", "complete": null}},
             "errors": [{"message": "No.", "path": ["node", "complete"]}]}
            """)
        let node = try #require(try await failed.fetch(CarefulQuery(id: "a")).data?.node.get())
        #expect(node.asTodo?.text == "Milk" && node.asTodo?.complete == nil)

        let whole = environment(
            #"{"data": {"node": null}, "errors": [{"message": "No.", "path": ["node"]}]}"#)
        let result = try #require(try await whole.fetch(CarefulQuery(id: "a")).data?.node)
        #expect(throws: FieldErrors.self) { try result.get() }

        let required = environment(
            #"{"data": {"node": {"__typename": "Todo", "id": "a", "text": null, "complete": true}}}"#
        )
        #expect(try await required.fetch(CarefulQuery(id: "a")).data?.node.get() == nil)
    }

    // MARK: Variables and inputs

    @Test func aVariableWithADefaultMayBeLeftOut() {
        #expect(ShelfQuery().variables.variableData.description == "{}")
        #expect(ShelfQuery(id: "a").variables.variableData.description == #"{id:"a"}"#)
        #expect(ShelfQuery().createDescriptor().request.variables.description == #"{id:"me"}"#)
    }

    /// T18: nil is not given; null is said.
    @Test func nullIsNotTheSameAsNothing() {
        let null = ShelfQuery(variables: .init(null: [.id]))
        #expect(null.variables.variableData.description == "{id:null}")
        let given = ShelfQuery(variables: .init(id: "a", null: [.id]))
        #expect(given.variables.variableData.description == #"{id:"a"}"#)
    }

    /// T20: the tutorials write the fields in two orders.
    @Test func anInputIsMadeInEitherOrder() {
        let one = ChangeTodoStatusInput(complete: true, id: "a", userId: "me")
        #expect(one.variableData.description == #"{complete:true,id:"a",userId:"me"}"#)
        let other = ChangeTodoStatusInput(id: "a", complete: true)
        #expect(other.variableData.description == #"{complete:true,id:"a"}"#)
    }

    // MARK: Mutations

    @Test func anExpectedAnswerHasAType() throws {
        let e = MockEnvironment()
        try e.cachePayload(ShelfQuery(), Self.shelf)
        let book = {
            try e.lookup(
                selector: BookQuery(id: "a").createDescriptor().fragment, as: BookQuery.Data.self
            ).value()
        }
        try e.commitPayload(
            BookQuery(id: "a").createDescriptor(),
            ["node": ["__typename": "Todo", "id": "a", "text": "Milk", "complete": false]])
        #expect(try book()?.node?.asTodo?.complete == false)
        let mutator = Mutation<ChangeTodoStatusMutation>(environment: e).wrappedValue
        mutator.commit(
            variables: .init(input: .init(id: "a", complete: true)),
            optimisticResponse: .init(
                changeTodoStatus: .init(todo: .init(id: "a", complete: true))))
        #expect(try book()?.node?.asTodo?.complete == true)
    }

    @Test func theTutorialsOwnFormStillCompiles() throws {
        let e = MockEnvironment()
        Mutation<ChangeTodoStatusMutation>(environment: e).wrappedValue.commit(
            id: "a", complete: true)
        let request = try #require(e.mostRecent)
        #expect(request.variables.description == #"{input:{complete:true,id:"a",userId:"me"}}"#)
    }

    @Test func aMutationWithAnExpectedAnswerIsAwaited() async throws {
        let e = environment(
            #"{"data": {"changeTodoStatus": {"todo": {"id": "a", "complete": true}}}}"#)
        let answer = try await e.commit(
            ChangeTodoStatusMutation(input: .init(id: "a", complete: true)),
            optimisticResponse: .init(
                changeTodoStatus: .init(todo: .init(id: "a", complete: true))))
        #expect(answer.data?.changeTodoStatus?.todo.complete == true)
    }

    @Test func anExpectedAnswerIsShownByAPublisherAndByItself() throws {
        let e = MockEnvironment()
        try e.commitPayload(
            BookQuery(id: "a").createDescriptor(),
            ["node": ["__typename": "Todo", "id": "a", "text": "Milk", "complete": false]])
        let isComplete = {
            try e.lookup(
                selector: BookQuery(id: "a").createDescriptor().fragment, as: BookQuery.Data.self
            ).value()?.node?.asTodo?.complete
        }
        let mutation = ChangeTodoStatusMutation(input: .init(id: "a", complete: true))
        let answer = ChangeTodoStatusMutation.OptimisticResponse(
            changeTodoStatus: .init(todo: .init(id: "a", complete: true)))
        let shown = try e.applyMutation(mutation, optimisticResponse: answer)
        #expect(try isComplete() == true && e.mostRecent == nil)
        shown.cancel()
        #expect(try isComplete() == false)
        let sent = e.publisher(of: mutation, optimisticResponse: answer).sink(
            receiveCompletion: { _ in }, receiveValue: { _ in })
        #expect(try isComplete() == true && e.mostRecent != nil)
        sent.cancel()
        #expect(try isComplete() == false)
    }

    @Test func anExpectedAnswerHasTheFieldsOfFragments() {
        let answer = AddTodoMutation.OptimisticResponse(
            addTodo: .init(
                todoEdge: .init(
                    cursor: "3", node: .init(id: "c", text: "Tea", complete: false))))
        #expect(
            answer.variableData.description
                == #"{addTodo:{todoEdge:{cursor:"3",node:{complete:false,id:"c",text:"Tea"}}}}"#)
        let none = AddTodoMutation.OptimisticResponse(null: [.addTodo])
        #expect(none.variableData.description == "{addTodo:null}")
    }
}
