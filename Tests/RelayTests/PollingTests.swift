import Foundation
import OpenCombine
import RelayStore
import Testing
import TodoFixtures

@testable import Relay

@Suite(.bounded) struct PollingTests {
    @Test func promise15PollFetchesAgainForAsLongAsSomebodyIsSubscribed() {
        let clock = Clock()
        let network = MockNetwork()
        let environment = Environment(
            network: network, store: Store(), handlerProvider: DefaultHandlerProvider(),
            scheduler: clock)
        let result = Collected(
            environment.fetchQuery(TodoQuery(id: "a"), cacheConfig: CacheConfig(poll: 5)))
        #expect(network.requests.last?.cacheConfig.force == false)
        network.requests.last?.resolve(Payloads.todo("a", "one", complete: false))
        #expect(result.values.map { $0?.node?.text } == ["one"])
        #expect(clock.waiting == [5])
        clock.advance()
        #expect(network.requests.last?.cacheConfig.force == true)
        network.requests.last?.resolve(Payloads.todo("a", "two", complete: false))
        #expect(result.values.map { $0?.node?.text } == ["one", "two"])
        result.cancel()
        clock.advance()
        #expect(network.executionCount == 2 && clock.waiting.isEmpty)
    }

    @Test func promise15MetadataAndTransactionIDReachTheNetwork() {
        let environment = MockEnvironment()
        let config = CacheConfig(force: true, metadata: "mine", transactionID: "me:7")
        let result = Collected(environment.fetchQuery(UserQuery(), cacheConfig: config))
        let given = environment.mostRecent?.cacheConfig
        #expect(given?.metadata as? String == "mine")
        #expect(given?.transactionID == "me:7" && given?.force == true)
        result.cancel()
        // Without one every execution gets a name of its own, rising for each client.
        let first = Collected(environment.commitMutation(change("a", true)))
        let one = environment.mostRecent?.cacheConfig.transactionID?.split(separator: ":")
        let second = Collected(environment.commitMutation(change("a", true)))
        let two = environment.mostRecent?.cacheConfig.transactionID?.split(separator: ":")
        #expect(one?.count == 2 && one?.first == two?.first && one?.last != two?.last)
        first.cancel()
        second.cancel()
    }

    /// These would ask again and again without a pause.
    @Test(arguments: [0, -1, -Double.infinity, .nan])
    func noPauseIsNoPolling(_ poll: Double) {
        let clock = Clock()
        let network = MockNetwork()
        let environment = Environment(
            network: network, store: Store(), handlerProvider: DefaultHandlerProvider(),
            scheduler: clock)
        let result = Collected(
            environment.fetchQuery(TodoQuery(id: "a"), cacheConfig: CacheConfig(poll: poll)))
        network.requests.last?.resolve(Payloads.todo("a", "one", complete: false))
        #expect(result.values.map { $0?.node?.text } == ["one"])
        #expect(result.isFinished && clock.waiting.isEmpty && network.executionCount == 1)
    }
}
