// The signatures that the seed pages show, each used as a program would use it. The pages' own examples, to
// the letter, are beside this folder.

import Combine
import Foundation
import Relay
import Testing
import TodoFixtures

private let mutation = graphql(
    """
    mutation ChangeTodoStatusMutation($input: ChangeTodoStatusInput!) {
      changeTodoStatus(input: $input) {
        todo {
          id
          complete
        }
      }
    }
    """)

/// `protocol Network`, with its one method.
private final class SilentNetwork: Relay.Network {
    var requests: [RequestParameters] = []

    func execute(
        request: RequestParameters,
        variables: VariableData,
        cacheConfig: CacheConfig
    ) -> AnyPublisher<Data, Error> {
        requests.append(request)
        return Empty(completeImmediately: true).eraseToAnyPublisher()
    }
}

private struct View {
    @Mutation<ChangeTodoStatusMutation> var changeStatus
    @Mutation(ChangeTodoStatusMutation.self) var other
}

private func update(_ store: inout any RecordSourceSelectorProxy, _ data: SelectorData?) {
    store["a"]?["text"] = "by reference"
}

/// As the mutation page's prose writes an updater's type, without `inout`.
private func proseUpdate(_ store: any RecordSourceSelectorProxy, _ data: SelectorData?) {
    store["a"]?["text"] = "in prose"
}

@Suite struct SignatureTests {
    @Test func theEnvironmentPage() throws {
        let network = SilentNetwork()
        let environment: Environment = Environment(
            network: network,
            store: Store(),
            handlerProvider: DefaultHandlerProvider()
        )
        let query: AnyPublisher<UserQuery.Data?, Error> = environment.fetchQuery(UserQuery())
        let forced: AnyPublisher<UserQuery.Data?, Error> = environment.fetchQuery(
            UserQuery(), cacheConfig: .init())
        let updater: SelectorStoreUpdater = { store, data in }
        let change: AnyPublisher<ChangeTodoStatusMutation.Data?, Error> =
            environment.commitMutation(
                ChangeTodoStatusMutation(
                    variables: .init(input: .init(complete: true, id: "a", userId: "me"))),
                optimisticResponse: ["changeTodoStatus": ["todo": ["id": "a", "complete": true]]],
                optimisticUpdater: updater,
                updater: nil
            )
        let sinks = [
            query.sink(receiveCompletion: { _ in }, receiveValue: { _ in }),
            forced.sink(receiveCompletion: { _ in }, receiveValue: { _ in }),
            change.sink(receiveCompletion: { _ in }, receiveValue: { _ in }),
        ]
        #expect(network.requests.map(\.operationKind) == [.query, .query, .mutation])
        #expect(network.requests.map(\.name).last == "ChangeTodoStatusMutation")
        #expect(network.requests.allSatisfy { ($0.text == nil) != ($0.id == nil) })
        for sink in sinks { sink.cancel() }
    }

    @Test func promise18AMutationIsWrittenInAFileOfItsOwn() {
        // The mark says nothing at run time; that the document is valid, the compiler says.
        let _: TaggedGraphQLQuery = mutation
        #expect(ChangeTodoStatusMutation.node.params.text?.contains("changeTodoStatus") == true)
    }

    @Test func promise20TheMutatorCanOnlyBeRead() {
        let keyPath: AnyKeyPath = \Mutation<ChangeTodoStatusMutation>.wrappedValue
        #expect(
            !(keyPath
                is WritableKeyPath<
                    Mutation<ChangeTodoStatusMutation>, Mutation<ChangeTodoStatusMutation>.Mutator
                >))
        let view = View()
        let mutator: Mutation<ChangeTodoStatusMutation>.Mutator = view.changeStatus
        let inFlight: Bool = mutator.isInFlight
        #expect(!inFlight && !view.other.isInFlight)
    }

    @Test func promise22CommitTakesTheVariablesOfItsMutation() throws {
        let environment = MockEnvironment()
        try CurrentEnvironment.with(environment) {
            var results: [Result<ChangeTodoStatusMutation.Data?, Error>] = []
            View().changeStatus.commit(
                variables: .init(input: .init(complete: true, id: "a", userId: "me")),
                optimisticResponse: nil, optimisticUpdater: { store, data in },
                updater: { store, data in }, completion: { results.append($0) })
            let request = try #require(environment.mostRecent)
            let body = try JSONEncoder().encode(["variables": request.variables])
            let sent = try JSONSerialization.jsonObject(with: body) as? [String: [String: Any]]
            let input = sent?["variables"]?["input"] as? [String: Any]
            #expect(input?["id"] as? String == "a" && input?["complete"] as? Bool == true)
            request.resolve(
                Data(#"{"data":{"changeTodoStatus":{"todo":{"id":"a","complete":true}}}}"#.utf8))
            #expect(try results.first?.get()?.changeTodoStatus?.todo.id == "a")
        }
    }

    /// T20: the page writes one input in two ways; both are there.
    @Test func trap20BothWaysToWriteTheInputCompile() {
        let first = ChangeTodoStatusInput(id: "a", complete: true)
        let second = ChangeTodoStatusInput(complete: true, id: "a", userId: "me")
        // What is left out is the schema's default, which the server knows: the page's "me".
        #expect(first.variableData.description == #"{complete:true,id:"a"}"#)
        #expect(second.variableData.description == #"{complete:true,id:"a",userId:"me"}"#)
        #expect(
            first.variableData == ChangeTodoStatusInput(complete: true, id: "a").variableData)
    }

    /// T21: closures, and functions of either type.
    @Test func trap21UpdatersMayBeClosuresOrFunctions() throws {
        let environment = MockEnvironment()
        let query = TodoQuery(id: "a")
        try environment.cachePayload(
            query,
            ["data": ["node": ["__typename": "Todo", "id": "a", "text": "A", "complete": false]]])
        func shown(_ updater: @escaping SelectorStoreUpdater) -> String? {
            let change = ChangeTodoStatusMutation(
                variables: .init(input: .init(id: "a", complete: true)))
            let running = environment.commitMutation(change, optimisticUpdater: updater)
                .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            defer { running.cancel() }
            let snapshot: Snapshot<TodoQuery.Data> = environment.lookup(
                selector: query.createDescriptor().fragment)
            return snapshot.data?.node?.asTodo?.text
        }
        #expect(shown(update) == "by reference")
        #expect(shown { proseUpdate($0, $1) } == "in prose")
        #expect(shown { store, data in store["a"]?["text"] = "closure" } == "closure")
    }
}
