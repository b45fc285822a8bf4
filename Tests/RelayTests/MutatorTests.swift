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

    @Test func withoutAnEnvironmentTheCompletionSaysSo() {
        var results: [Result<ChangeTodoStatusMutation.Data?, any Error>] = []
        let mutator = Mutation<ChangeTodoStatusMutation>().wrappedValue
        mutator.commit(
            variables: change("a", true).variables, completion: { results.append($0) })
        #expect(throws: NoEnvironmentError.self) { try results.last?.get() }
    }
}
