import Foundation
import Relay
import Testing
import TodoFixtures

@Suite(.bounded) struct MutatorTests {
    @Test func promise21IsInFlightCountsAllRequestsOfTheMutation() throws {
        let environment = MockEnvironment()
        let mutation = Mutation<ChangeTodoStatusMutation>(environment: environment)
        let mutator = mutation.wrappedValue
        #expect(!mutator.isInFlight)
        mutator.commit(variables: change("a", true).variables)
        let first = try #require(environment.mostRecent)
        mutator.commit(variables: change("b", true).variables)
        let second = try #require(environment.mostRecent)
        #expect(mutator.isInFlight)
        first.resolve(Payloads.status("a", complete: true))
        #expect(mutator.isInFlight)
        second.reject(URLError(.timedOut))
        #expect(!mutator.isInFlight)
    }

    @Test func promise28AndTrap22CompletionIsCalledOnce() throws {
        let environment = MockEnvironment()
        let mutator = Mutation<ChangeTodoStatusMutation>(environment: environment).wrappedValue
        var results: [Result<ChangeTodoStatusMutation.Data?, any Error>] = []
        func commit() throws -> MockNetwork.Request {
            mutator.commit(
                variables: change("a", true).variables, completion: { results.append($0) })
            return try #require(environment.mostRecent)
        }
        let twoPayloads = try commit()
        twoPayloads.nextValue(Payloads.status("a", complete: false))
        twoPayloads.resolve(Payloads.status("a", complete: true))
        #expect(results.count == 1)
        #expect(try results.last?.get()?.changeTodoStatus?.todo.complete == true)
        try commit().complete()
        #expect(results.count == 2)
        #expect(try results.last?.get() == nil)
        try commit().reject(URLError(.timedOut))
        #expect(results.count == 3)
        #expect(throws: URLError.self) { try results.last?.get() }
    }

    @Test func theCompletionHasTheErrorsOfARefusal() throws {
        let environment = MockEnvironment()
        let mutator = Mutation<ChangeTodoStatusMutation>(environment: environment).wrappedValue
        var results: [Result<ChangeTodoStatusMutation.Data?, any Error>] = []
        for response in [
            #"{"data":{"changeTodoStatus":null},"errors":[{"message":"no"},{"message":"never"}]}"#,
            #"{"data":null,"errors":[{"message":"no"},{"message":"never"}]}"#,
        ] {
            for isExpected in [false, true] {
                mutator.commit(
                    variables: change("a", true).variables,
                    optimisticResponse: isExpected
                        ? ["changeTodoStatus": ["todo": ["id": "a", "complete": true]]] : nil,
                    completion: { results.append($0) })
                let request = try #require(environment.mostRecent)
                request.resolve(Data(response.utf8))
                #expect(!mutator.isInFlight)
                let error = #expect(throws: NetworkError.self) { try results.last?.get() }
                #expect(error?.errors.map(\.message) == ["no", "never"])
                #expect(error?.variables.description == #"{input:{complete:true,id:"a"}}"#)
            }
        }
        #expect(results.count == 4)
        // Errors of other fields come with what was carried out.
        mutator.commit(
            variables: change("a", true).variables, completion: { results.append($0) })
        try #require(environment.mostRecent).resolve(
            Data(
                #"""
                {"data":{"changeTodoStatus":{"todo":{"id":"a","complete":true}}},\#
                "errors":[{"message":"?"}]}
                """#.utf8))
        #expect(try results.last?.get()?.changeTodoStatus?.todo.id == "a")
    }

    @Test func withoutAnEnvironmentTheCompletionSaysSo() {
        var results: [Result<ChangeTodoStatusMutation.Data?, any Error>] = []
        let mutator = Mutation<ChangeTodoStatusMutation>().wrappedValue
        mutator.commit(
            variables: change("a", true).variables, completion: { results.append($0) })
        #expect(throws: NoEnvironmentError.self) { try results.last?.get() }
    }
}
