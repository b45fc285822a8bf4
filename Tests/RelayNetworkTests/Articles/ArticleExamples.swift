// The code of the articles in Sources/Relay/Relay.docc. `ArticleTests` runs it, and looks for each block of the
// articles here, line by line.

import Combine
import Foundation
import Relay
import RelayNetwork
import TodoMutations

struct ArticleExamples: Sendable {
    var todoID: DataID = "VG9kbzox"
    var userID: DataID = "VXNlcjptZQ=="
    var show: @Sendable (List_user.Data.TodoConnection_todos?) -> Void = { _ in }
    var added: @Sendable (String?) -> Void = { _ in }

    private var change: ChangeTodoStatusMutation {
        ChangeTodoStatusMutation(input: .init(id: todoID.rawValue, complete: true))
    }

    func fromZeroToALiveList(_ url: String) async throws {
        let environment = Environment(
            network: try WebSocketNetwork(url: url),
            store: Store())

        let result = try await environment.fetch(ListQuery())
        guard let user = result.data?.user else { return }

        let list = environment.lookup(List_user(key: user))
        for edge in list.data?.todos?.edges ?? [] {
            guard let node = edge?.node else { continue }
            let todo = environment.lookup(Item_todo(key: node)).data
            print(todo?.text ?? "", todo?.complete == true ? "done" : "open")
        }

        let following = environment.subscribe(snapshot: list).sink { list in
            show(list.data?.todos)
        }

        let todoID = todoID.rawValue
        let change = ChangeTodoStatusMutation(input: .init(id: todoID, complete: true))
        let changed = try await environment.commit(change)
        print(changed.data?.changeTodoStatus?.todo.complete == true)

        guard let connection = list.data?.todos?.__id else { return }
        let add = AddTodoMutation(input: .init(text: "Buy milk"), connections: [connection])
        _ = try await environment.commit(add)

        let pages = PaginationResource(List_user(key: user), environment: environment)
        while pages.hasNext { try await pages.loadNext(20) }

        let kept = environment.retain(operation: ListQuery().createDescriptor())
        kept.cancel()
        following.cancel()
    }

    func updaters(_ environment: Environment) async throws {
        let result = try await environment.commit(
            change,
            updater: { store, data in
                let todo = store.getRootField("changeTodoStatus")?.getLinkedRecord("todo")
                todo?["text"] = "Done at last"
                let shown = data?.get(SelectorData?.self, "changeTodoStatus")
                print(shown?.typename ?? "no data")
            })
        let addToList: SelectorStoreUpdater = { store, _ in
            guard let todo = store.getRootField("changeTodoStatus")?.getLinkedRecord("todo"),
                let user = store[userID],
                let connection = ConnectionHandler.default.getConnection(user, key: "List_todos")
            else { return }
            let edge = ConnectionHandler.default.createEdge(
                &store, connection: connection, node: todo, type: "TodoEdge")
            ConnectionHandler.default.insert(connection: connection, edge: edge)
        }
        _ = try await environment.commit(change, updater: addToList)
        try environment.commitUpdate { store in store[todoID]?["complete"] = true }
        withExtendedLifetime(result) {}
    }

    func optimisticUpdates(_ environment: Environment) throws -> [AnyCancellable] {
        let answer = environment.commitMutation(
            change,
            optimisticResponse: .init(
                changeTodoStatus: .init(todo: .init(id: todoID.rawValue, complete: true))))
        let running = answer.sink(
            receiveCompletion: { _ in print("answered") }, receiveValue: { _ in })
        let variables: VariableData = [
            "input": ["complete": true, "userId": userID.rawValue] as VariableData
        ]
        let updater = sharedUpdater(TodoMutations.changeAllTodos, input: variables)
        let all = environment.commitMutation(change, optimisticUpdater: updater)
            .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        let shown = try environment.applyUpdate { store in
            store[todoID]?["text"] = "Being typed"
        }
        return [running, all, shown]
    }

    func events(_ environment: Environment) async throws {
        for try await event in environment.results(of: TodoAddedSubscription()) {
            print(event.data?.todoAdded?.todo.text ?? "")
            break
        }
    }

    func subscription(_ environment: Environment) -> AnyCancellable {
        let subscription = environment.requestSubscription(
            TodoAddedSubscription(),
            updater: { store, _ in
                store.getRootField("todoAdded")?.getLinkedRecord("todo")?["isNew"] = true
            }
        ).sink(
            receiveCompletion: { print($0) },
            receiveValue: { event in added(event?.todoAdded?.todo.text) })
        return subscription
    }

    func testing() async throws -> [String?] {
        let environment = MockEnvironment()
        environment.mockResponse(
            TodoQuery(id: "a"),
            #"""
            {"data": {"node": {"__typename": "Todo", "id": "a", "text": "Test", "complete": false}}}
            """#)
        let todo = try await environment.fetch(TodoQuery(id: "a")).data?.node?.asTodo

        let fetching = environment.fetchQuery(TodoQuery(id: "b")).sink(
            receiveCompletion: { _ in }, receiveValue: { _ in })
        if let request = environment.mostRecent {
            request.nextValue(Data(#"{"data": {"node": null}}"#.utf8))
            request.complete()
        }
        fetching.cancel()

        let generator = MockPayloadGenerator([
            "Todo": { _ in ["text": "Buy milk", "complete": true] },
            "user.todos": { _ in ["edges": [[:], [:], ["node": ["text": "Buy bread"]]]] },
        ])
        environment.answer { operation in generator.response(to: operation) }
        let user = try await environment.fetch(ListQuery()).data?.user
        let list = user.flatMap { environment.lookup(List_user(key: $0)).data }
        let texts = (list?.todos?.edges ?? []).map { edge in
            edge?.node.flatMap { environment.lookup(Item_todo(key: $0)).data?.text }
        }
        return [todo?.text] + texts
    }
}
