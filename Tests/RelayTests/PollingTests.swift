import Foundation
import OpenCombine
@_spi(Rooms) import RelayStore
import Testing
import Threads
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
        #expect(result.values.map { $0?.node?.asTodo?.text } == ["one"])
        #expect(clock.waiting == [5])
        clock.advance()
        #expect(network.requests.last?.cacheConfig.force == true)
        network.requests.last?.resolve(Payloads.todo("a", "two", complete: false))
        #expect(result.values.map { $0?.node?.asTodo?.text } == ["one", "two"])
        result.cancel()
        clock.advance()
        #expect(network.executionCount == 2 && clock.waiting.isEmpty)
    }

    /// Time that is up before the caller goes on, as on a machine that was asleep.
    private final class HastyClock: Scheduling {
        let clock = Clock()
        private let isHasty = Lock(true)

        func schedule(
            after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void
        ) -> AnyCancellable {
            let isHasty = isHasty.withLock { isHasty in
                defer { isHasty = false }
                return isHasty
            }
            guard isHasty else { return clock.schedule(after: seconds, body) }
            body()
            return AnyCancellable {}
        }
    }

    /// Answers the first request at once, and keeps the others.
    private final class HastyNetwork: Network {
        let others = MockNetwork()
        private let isFirst = Lock(true)

        func execute(
            request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
        ) -> AnyPublisher<Data, any Error> {
            let isFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if !isFirst {
                return others.execute(
                    request: request, variables: variables, cacheConfig: cacheConfig)
            }
            return Just(Data(Payloads.todo("a", "one", complete: false).utf8))
                .setFailureType(to: (any Error).self).eraseToAnyPublisher()
        }
    }

    /// The second request is made before the first is known to be under way.
    @Test func aNetworkThatAnswersAtOnceAndATimerThatIsLateLoseNothing() throws {
        let time = HastyClock()
        let network = HastyNetwork()
        let environment = Environment(
            network: network, store: Store(), handlerProvider: DefaultHandlerProvider(),
            scheduler: time)
        let result = Collected(
            environment.fetchQuery(TodoQuery(id: "a"), cacheConfig: CacheConfig(poll: 5)))
        #expect(result.values.map { $0?.node?.asTodo?.text } == ["one"])
        try #require(network.others.requests.count == 1)
        network.others.requests[0].resolve(Payloads.todo("a", "two", complete: false))
        #expect(time.clock.waiting == [5])
        time.clock.advance()
        #expect(network.others.executionCount == 2)
        result.cancel()
        #expect(network.others.requests.isEmpty)
        #expect(result.values.map { $0?.node?.asTodo?.text } == ["one", "two"])
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
        #expect(result.values.map { $0?.node?.asTodo?.text } == ["one"])
        #expect(result.isFinished && clock.waiting.isEmpty && network.executionCount == 1)
    }

    /// Nor may a pause be so short that it is none.
    @Test(arguments: [Double.leastNonzeroMagnitude, 1e-300, 0.001])
    func theShortestPauseIsAHundredthOfASecond(_ poll: Double) {
        let clock = Clock()
        let network = MockNetwork()
        let environment = Environment(
            network: network, store: Store(), handlerProvider: DefaultHandlerProvider(),
            scheduler: clock)
        let result = Collected(
            environment.fetchQuery(TodoQuery(id: "a"), cacheConfig: CacheConfig(poll: poll)))
        network.requests.last?.resolve(Payloads.todo("a", "one", complete: false))
        #expect(clock.waiting == [0.01])
        result.cancel()
    }
}
