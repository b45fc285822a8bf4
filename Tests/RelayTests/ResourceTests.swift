import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded) struct ResourceTests {
    private typealias Prepared = Result<QueryResource.QueryResult, any Error>?

    private let environment = MockEnvironment()
    private let operation = TodoQuery(id: "a").createDescriptor()

    private func prepare(_ policy: FetchPolicy) -> Collected<Prepared> {
        Collected(
            QueryResource(environment: environment)
                .prepare(operation: operation, fetchPolicy: policy))
    }

    private func states(_ collected: Collected<Prepared>) -> [String] {
        collected.values.map { value in
            switch value {
            case nil: "loading"
            case .some(.success): "data"
            case .some(.failure): "error"
            }
        }
    }

    private func cache() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: false))
    }

    @Test func storeOnlyNeverFetches() {
        #expect(states(prepare(.storeOnly)) == ["data"])
        #expect(environment.mockNetwork.executionCount == 0)
    }

    @Test func promise41NetworkOnlyShowsNothingBeforeTheNetworkHasAnswered() throws {
        try cache()
        let prepared = prepare(.networkOnly)
        #expect(states(prepared) == ["loading"])
        environment.mostRecent?.resolve(Payloads.todo("a", "y", complete: true))
        #expect(states(prepared) == ["loading", "data"])
        #expect(environment.todo("a")?.text == "y")
    }

    @Test func storeAndNetworkShowsTheStoreAndFetches() throws {
        try cache()
        let prepared = prepare(.storeAndNetwork)
        #expect(states(prepared) == ["data"])
        environment.mostRecent?.reject(URLError(.timedOut))
        #expect(states(prepared) == ["data", "error"])
    }

    @Test func promise40StoreOrNetworkFetchesWhatIsMissingOrStale() throws {
        #expect(states(prepare(.storeOrNetwork)) == ["loading"])
        environment.mostRecent?.resolve(Payloads.todo("a", "x", complete: false))
        #expect(states(prepare(.storeOrNetwork)) == ["data"])
        #expect(environment.mockNetwork.executionCount == 1)
        try environment.commitUpdate { $0["a"]?.invalidateRecord() }
        #expect(environment.check(operation: operation) == .stale)
        #expect(environment.todo("a")?.text == "x")
        let again = prepare(.storeOrNetwork)
        #expect(states(again) == ["loading"])
        again.cancel()
    }

    @Test func promise42PreparingAgainFetchesAgain() {
        let first = prepare(.networkOnly)
        let second = prepare(.networkOnly)
        #expect(environment.mockNetwork.executionCount == 2)
        first.cancel()
        second.cancel()
    }

    @Test func trap23EveryReadIsOfTheStoreAsItIsNow() throws {
        try environment.cachePayload(UserQuery(), Payloads.user(["a"]))
        let user = try #require(
            environment.lookup(
                selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self
            ).data?.user)
        let list = environment.lookup(List_user(key: user))
        let item = Item_todo(key: try #require(list.data?.todos?.edges?.first??.node))
        #expect(environment.lookup(item).data?.text == "ta")
        try environment.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(environment.lookup(item).data?.text == "new")
        let told = Collected(environment.subscribe(snapshot: environment.lookup(item)))
        try environment.commitUpdate { $0["a"]?["complete"] = true }
        #expect(told.values.map(\.data?.complete) == [true])
    }

    @Test func promises38And39NullUnknownAndDeletedAreThree() throws {
        try cache()
        func data() -> Relay.Snapshot<TodoQuery.Data> {
            environment.lookup(selector: operation.fragment)
        }
        #expect(!data().isMissingData && data().data?.node != nil)
        try environment.commitUpdate { $0["a"]?["text"] = nil }
        #expect(data().isMissingData)
        try environment.commitUpdate { $0["a"]?["text"] = NSNull() }
        #expect(!data().isMissingData)
        #expect(throws: ReadError.self) { try data().value() }
        try environment.commitUpdate { $0.delete(dataID: "a") }
        #expect(!data().isMissingData && data().data?.node == nil)
        try #expect(data().value() != nil)
    }

    /// Whoever gets a result on another thread, or at a later time, retains it when it is there.
    @Test(arguments: [FetchPolicy.networkOnly, .storeOrNetwork])
    func whatIsPreparedIsThereUntilItIsRetained(_ policy: FetchPolicy) throws {
        let network = MockNetwork()
        let environment = Environment(network: network, store: Store(gcReleaseBufferSize: 0))
        let resource = QueryResource(environment: environment)
        if policy == .storeOrNetwork {
            let todo: [String: Any] = [
                "__typename": "Todo", "id": "a", "text": "x", "complete": false,
            ]
            try environment.commitPayload(operation, ["node": todo])
        }
        var prepared: Collected<Prepared>? = Collected(
            resource.prepare(operation: operation, fetchPolicy: policy))
        network.requests.first?.resolve(Payloads.todo("a", "x", complete: false))
        environment.store.collectGarbage()
        #expect(environment.store.snapshotText(of: "a", "text") == "x")
        let result = try #require(try prepared?.values.last??.get())
        let retained = resource.retain(result)
        prepared = nil
        environment.store.collectGarbage()
        #expect(environment.store.snapshotText(of: "a", "text") == "x")
        withExtendedLifetime(retained) {}
    }
}
