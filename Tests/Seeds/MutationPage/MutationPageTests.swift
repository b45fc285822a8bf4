import Foundation
import Relay
import RelayNetwork
import Testing
import TodoFixtures
import TodoService

/// `ChangeTodoStatus.swift` beside this file has the page's mutation and its extension, to the letter; `ToDoItem.swift` its
/// view, as far as it is no SwiftUI. The compiler has generated their types.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct MutationPageTests {
    @Test func promise29TheConvenienceCommitsWithAnOptimisticResponse() throws {
        let environment = MockEnvironment()
        let mutation = Mutation<ChangeTodoStatusMutation>(environment: environment)
        mutation.wrappedValue.commit(id: "a", complete: true)
        #expect(mutation.wrappedValue.isInFlight)
        let request = try #require(environment.mostRecent)
        #expect(
            request.variables.description == #"{input:{complete:true,id:"a",userId:"me"}}"#)
        let shown = environment.lookup(
            selector: TodoQuery(id: "a").createDescriptor().fragment, as: TodoQuery.Data.self)
        #expect(shown.isMissingData)
        request.resolve(
            Data(#"{"data":{"changeTodoStatus":{"todo":{"id":"a","complete":true}}}}"#.utf8))
        #expect(!mutation.wrappedValue.isInFlight)
    }

    @Test func theViewOpensItsFragmentAndChangesItsItem() throws {
        let environment = MockEnvironment()
        try environment.cachePayload(
            ItemQuery(id: "a"),
            ["data": ["item": ["id": "a", "text": "Write", "complete": false]]])
        let query: Relay.Snapshot<ItemQuery.Data> = environment.lookup(
            selector: ItemQuery(id: "a").createDescriptor().fragment)
        let key = try #require(query.data?.item)
        var view = ToDoItem()
        view.item = environment.lookup(ToDoItem_item(key: key)).data
        #expect(view.item?.text == "Write" && view.item?.complete == false)
        CurrentEnvironment.with(environment) {
            view.toggle()
            view.toggleWithTheConvenience()
        }
        #expect(
            environment.mockNetwork.requests.map(\.variables.description) == [
                #"{input:{complete:true,id:"a"}}"#, #"{input:{complete:true,id:"a",userId:"me"}}"#,
            ])
        #expect(view.changeStatus.isInFlight)
    }

    /// T20: the pages disagree on the initializer of the input; both the page's own form and variables of the
    /// same names lead to one request.
    @Test func trap20TheInputIsMadeAsThePageMakesIt() {
        let variables = ChangeTodoStatusMutation.Variables(
            input: .init(complete: true, id: "a", userId: "me"))
        #expect(
            variables.variableData.description
                == #"{input:{complete:true,id:"a",userId:"me"}}"#)
    }

    @Test func theMutatorChangesALiveServer() async throws {
        try await TodoService.run { service in
            let environment = Environment(
                network: try HTTPNetwork(url: service.url), store: Store())
            let user = try #require(try await environment.fetch(UserQuery()).data?.user)
            let edges = environment.lookup(List_user(key: user)).data?.todos?.edges
            let node = try #require(edges?.first??.node)
            let before = try #require(environment.lookup(Item_todo(key: node)).data)
            let mutator = Mutation<ChangeTodoStatusMutation>(environment: environment).wrappedValue
            let answer = try await withCheckedThrowingContinuation { continuation in
                mutator.commit(
                    variables: .init(
                        input: .init(complete: !before.complete, id: before.id, userId: "me")),
                    completion: { continuation.resume(with: $0) })
            }
            #expect(answer?.changeTodoStatus?.todo.complete == !before.complete)
            #expect(
                environment.lookup(Item_todo(key: node)).data?.complete == !before.complete)
        }
    }
}
