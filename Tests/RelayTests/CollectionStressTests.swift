import BoundedTesting
import Foundation
import OpenCombine
import Relay
import RelayArtifacts
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

/// Everything at once from several tasks, beside collections that never stop. `RELAY_STRESS_ROUNDS` is how often
/// each task does its work (100); `script/asan` and `script/tsan` run it too.
@Suite(.bounded, .timeLimit(.minutes(10))) struct CollectionStressTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["RELAY_STRESS_ROUNDS"].flatMap(Int.init) ?? 100
    private static let ids = 60
    /// How texts begin that a task has written: of answers and events, and by updaters.
    private static let begins = ["f", "m", "e", "local", "shown"]

    /// Answers at once, on the thread that asks. A todo's text is the name of the request.
    private final class EchoNetwork: Network, Sendable {
        nonisolated(unsafe) let events = PassthroughSubject<Data, any Error>()

        func execute(
            request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
        ) -> AnyPublisher<Data, any Error> {
            let name = cacheConfig.transactionID ?? ""
            switch request.operationKind {
            case .subscription: return events.eraseToAnyPublisher()
            case .mutation: return answer(Payloads.status(name, complete: true))
            case .query:
                guard case .string(let id)? = variables["id"] else { return answer("{}") }
                return answer(Payloads.todo(id, name, complete: false))
            }
        }

        private func answer(_ text: String) -> AnyPublisher<Data, any Error> {
            Just(Data(text.utf8)).setFailureType(to: (any Error).self).eraseToAnyPublisher()
        }
    }

    private let network = EchoNetwork()
    private let environment: Environment

    init() {
        environment = Environment(network: network, store: Store(gcReleaseBufferSize: 2))
    }

    @Test func everyResultIsItsResponseWhateverIsCollected() async {
        let seed = UInt64.random(in: 1 ... .max)
        print("collections beside everything: seed \(seed), \(Self.rounds) rounds")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    while !Task.isCancelled {
                        environment.store.collectGarbage()
                        await Task.yield()
                    }
                }
            }
            await withTaskGroup(of: Void.self) { work in
                for number in UInt64(0)..<2 {
                    work.addTask { await rounds(seed &+ number, fetch) }
                    work.addTask { await rounds(seed &+ 2 &+ number, mutate) }
                }
                work.addTask { await rounds(seed &+ 4, follow) }
                work.addTask { await rounds(seed &+ 5, change) }
                work.addTask { await burst() }
            }
            group.cancelAll()
        }
    }

    private func rounds(
        _ seed: UInt64, _ body: (inout SeededGenerator, Int) async throws -> Void
    ) async {
        var random = SeededGenerator(seed: seed)
        for round in 0..<Self.rounds {
            await #expect(throws: Never.self) { try await body(&random, round) }
            await Task.yield()
        }
    }

    private func id(_ random: inout SeededGenerator) -> String {
        "\(Int.random(in: 0..<Self.ids, using: &random))"
    }

    // MARK: What the tasks do

    private func fetch(_ random: inout SeededGenerator, _ round: Int) async throws {
        let name = "f\(random.next()).\(round)"
        let id = id(&random)
        let result = try await environment.fetch(
            TodoQuery(id: id), cacheConfig: CacheConfig(transactionID: name))
        #expect(result.data?.node?.asTodo?.text == name && result.data?.node?.asTodo?.id == id)
    }

    private func mutate(_ random: inout SeededGenerator, _ round: Int) async throws {
        let name = "m\(random.next()).\(round)"
        let shown = id(&random)
        let result = try await environment.commit(
            Self.mutation(name), cacheConfig: CacheConfig(transactionID: name),
            optimisticUpdater: { store, _ in store[DataID(shown)]?["text"] = "shown" },
            updater: { store, data in
                let todo = store.getRootField("changeTodoStatus")?.getLinkedRecord("todo")
                todo?["text"] = data == nil ? nil : name
            })
        #expect(result.data?.changeTodoStatus?.todo.id == name && result.errors.isEmpty)
    }

    private static func mutation(_ id: String) -> ChangeTodoStatusMutation {
        ChangeTodoStatusMutation(variables: .init(input: .init(complete: true, id: id)))
    }

    private func follow(_ random: inout SeededGenerator, _ round: Int) async throws {
        let told = (0..<4).map { _ in
            let selector = TodoQuery(id: id(&random)).createDescriptor().fragment
            let now = environment.lookup(selector: selector, as: TodoQuery.Data.self)
            return environment.subscribe(snapshot: now).sink { snapshot in
                // Read on the thread that tells, as a screen would.
                let text = snapshot.data?.node?.asTodo?.text ?? "local"
                #expect(Self.begins.contains { text.hasPrefix($0) })
            }
        }
        let kept = environment.retain(
            operation: TodoQuery(id: id(&random)).createDescriptor())
        await Task.yield()
        for subscription in told { subscription.cancel() }
        kept.cancel()
    }

    private func change(_ random: inout SeededGenerator, _ round: Int) async throws {
        let id = DataID(id(&random))
        switch round % 4 {
        case 0: try environment.commitUpdate { $0.delete(dataID: id) }
        case 1: try environment.commitUpdate { $0[id]?["text"] = "local" }
        case 2: try environment.commitUpdate { $0.invalidateStore() }
        default:
            let shown = try environment.applyUpdate { $0[id]?["complete"] = true }
            await Task.yield()
            shown.cancel()
        }
    }

    /// Bursts in which the same few todos come again and again.
    private func burst() async {
        let told = Collected(environment.requestSubscription(TodoAddedSubscription()))
        var texts: [String] = []
        for round in 0..<Self.rounds {
            ResponseBurst.gather {
                for number in 0..<10 {
                    texts.append("e\(round).\(number)")
                    network.events.send(Data(Self.added("\(number % 3)", texts.last ?? "").utf8))
                }
            }
            await Task.yield()
        }
        #expect(told.values.map { $0?.todoAdded?.todo.text } == texts && told.error == nil)
    }

    private static func added(_ id: String, _ text: String) -> String {
        """
        {"data":{"todoAdded":{"todo":{"id":"\(id)","text":"\(text)","complete":false}}}}
        """
    }
}
