import Relay
import Testing
import TodoFixtures
import TodoService

/// `Network.swift` beside this file is the page's first example, to the letter.
@Suite(.serialized, .bounded, .timeLimit(.minutes(10)))
struct NetworkPageTests {
    @Test func promises8To16TheBasicNetworkFetchesFromALiveServer() async throws {
        try await TodoService.run { service in
            Redirect.host("www.example.org", to: service)
            let environment = Environment(network: Network(), store: Store())
            let user = try #require(try await environment.fetch(UserQuery()).data?.user)
            #expect(user.userId == "me" && user.totalCount == 2)
            let list = try #require(environment.lookup(List_user(key: user)).data?.todos?.edges)
            #expect(list.count == 2)
            let first = try #require(list.first??.node)
            let todo = try #require(environment.lookup(Item_todo(key: first)).data)
            #expect(!todo.text.isEmpty)

            let change = ChangeTodoStatusMutation(
                variables: .init(input: .init(complete: !todo.complete, id: todo.id)))
            let result = try await environment.commit(change)
            #expect(result.data?.changeTodoStatus?.todo.complete == !todo.complete)
            #expect(environment.lookup(Item_todo(key: first)).data?.complete == !todo.complete)
        }
    }

    @Test func theServersErrorsReachTheCallerTyped() async throws {
        try await TodoService.run { service in
            Redirect.host("www.example.org", to: service)
            let environment = Environment(network: Network(), store: Store())
            let change = ChangeTodoStatusMutation(
                variables: .init(input: .init(complete: true, id: "nobody")))
            let result = try? await environment.commit(change)
            // The field is nullable: data and error come side by side.
            #expect(result?.errors.first?.code == "NOT_FOUND")
            #expect(result?.errors.first?.path == [.key("changeTodoStatus")])
        }
    }
}
