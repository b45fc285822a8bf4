import Foundation
import OpenCombine
import RelayArtifacts
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

@testable import Relay

/// What passes through an environment leaves nothing: thousands leave what hundreds leave. `RELAY_GROWTH_COUNT` says how
/// many (default: 8,000).
@Suite(.bounded, .timeLimit(.minutes(30))) struct GrowthTests {
    private static let count =
        ProcessInfo.processInfo.environment["RELAY_GROWTH_COUNT"].flatMap(Int.init) ?? 8_000
    /// Ids and storage keys; each query, mutation and event brings two that nobody has heard of.
    private static let limit = 6_000

    /// Answers at once, on the thread that asks.
    private final class EchoNetwork: Network, Sendable {
        nonisolated(unsafe) let events = PassthroughSubject<Data, any Error>()

        func execute(
            request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
        ) -> AnyPublisher<Data, any Error> {
            let id = cacheConfig.transactionID ?? ""
            return switch request.operationKind {
            case .subscription: events.eraseToAnyPublisher()
            case .mutation: answer(Payloads.status(id, complete: true))
            case .query: answer(Payloads.todo(id, "x", complete: false))
            }
        }

        private func answer(_ text: String) -> AnyPublisher<Data, any Error> {
            Just(Data(text.utf8)).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        }
    }

    private let network = EchoNetwork()
    private let environment: Environment

    init() { environment = Environment(network: network, store: Store()) }

    /// Whatever other collections are under way on other threads: one after every few steps keeps pace.
    private func collect(after number: Int) async {
        guard number % 500 == 499 else { return }
        let store = environment.store
        await eventually {
            store.collectGarbage()
            return store.symbols.liveCount < Self.limit
        }
        // Numbers were given again. Some wait for that while others are counted.
        #expect(store.snapshot.recordLimit < 2 * Self.limit)
    }

    /// Everything has ended: so the tables of what is under way are empty.
    private func expectNothingUnderWay() {
        let tables: [(owner: AnyObject, names: [String])] = [
            (environment.tracker, ["active"]), (environment.queries, ["running"]),
            (environment.outbox, ["unfinished", "claimed", "waiting"]),
        ]
        for (owner, names) in tables {
            for name in names {
                let table = Mirror(reflecting: owner).descendant(name)
                let count = table.map { Mirror(reflecting: $0).children.count }
                #expect(count == 0, "\(type(of: owner)).\(name)")
            }
        }
        #expect(environment.outbox.placeCount == 0)
    }

    @Test func distinctQueriesLeaveNothing() async throws {
        for number in 0..<Self.count {
            let id = "q\(number)"
            let result = try await environment.fetch(
                TodoQuery(id: id), cacheConfig: CacheConfig(transactionID: id))
            #expect(result.data?.node?.asTodo?.id == id)
            await collect(after: number)
        }
        expectNothingUnderWay()
    }

    @Test func mutationsLeaveNothing() async throws {
        for number in 0..<Self.count {
            let id = "m\(number)"
            let result = try await environment.commit(
                change(id, true), cacheConfig: CacheConfig(transactionID: id))
            #expect(result.data?.changeTodoStatus?.todo.id == id)
            await collect(after: number)
        }
        expectNothingUnderWay()
    }

    @Test func eventsLeaveNothing() async throws {
        let told = Collected(
            environment.requestSubscription(TodoAddedSubscription(variables: .init())))
        for number in 0..<Self.count {
            network.events.send(
                Data(
                    """
                    {"data":{"todoAdded":{"todo":\
                    {"__typename":"Todo","id":"e\(number)","text":"x","complete":false}}}}
                    """.utf8))
            await eventually { told.values.count == number + 1 }
            await collect(after: number)
        }
        told.cancel()
        expectNothingUnderWay()
    }
}
