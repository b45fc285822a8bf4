import Foundation
import Relay
import RelayArtifacts
import RelayJSON
import RelayServer
import Testing

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// A server has forgotten what it told: the client finds out, and shows what is so.
@Suite(.bounded, .timeLimit(.minutes(10))) struct ServerGapTests {
    private static let todo = "VG9kbzox"

    @Test(arguments: [true, false])
    func theEnvironmentFetchesAgainWhatIsShown(_ usesEvents: Bool) async throws {
        try await ServedTodos.run { todos in
            var socket = WebSocketNetwork.Options()
            socket.retry = RetryPolicy(
                initialDelay: .milliseconds(2), maximumDelay: .milliseconds(20))
            socket.queryAttempts = 1_000
            var http = HTTPNetwork.Options()
            http.retry = RetryPolicy(
                initialDelay: .milliseconds(2), maximumDelay: .milliseconds(20),
                maximumAttempts: 1_000)
            http.streamRetry = socket.retry
            let network: any Network =
                usesEvents
                ? try HTTPNetwork(url: todos.httpURL, options: http)
                : try WebSocketNetwork(url: todos.url, options: socket)
            let environment = Environment(network: network, store: Store())
            let query = try TodoOperations.todo(Self.todo)
            let retained = environment.retain(operation: query)
            let text = {
                let snapshot = environment.store.snapshot
                return snapshot.existing(Self.todo).flatMap {
                    snapshot.fieldValue("text", of: $0)
                }
            }
            let fetched = environment.execute(operation: query).sink(
                receiveCompletion: { _ in }, receiveValue: { _ in })
            await eventually { text() != nil }
            let original = text()
            // It follows something else, with a cursor.
            let events = Noted<Int>()
            let following = environment.execute(
                operation: try TodoOperations.descriptor("AddedSubscription", [:])
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in events.note(1) })
            let other = try HTTPNetwork(url: todos.httpURL)
            try await eventually {
                _ = try await other.responses(to: .add, variables: ["text": "x"]).first()
                return !events.all.isEmpty
            }
            let renamed = Noted<Int>()
            let rename = environment.execute(
                operation: try TodoOperations.rename(Self.todo, "renamed")
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in renamed.note(1) })
            await eventually { renamed.all.count == 1 }
            #expect(text() == .string("renamed"))

            // The server keeps nothing: after a restart the todo has its old text.
            await todos.stop()
            try await todos.startAgain()
            await eventually { text() == original }
            #expect(text() == original)
            withExtendedLifetime((retained, fetched, following, rename)) {}
        }
    }

    @Test func whatComesTogetherIsOneStep() async throws {
        let order = DeliveryOrder()
        let channels = (0..<50).map { _ in ResponseChannel(capacity: 100) {} }
        let environment = Environment(network: Channels(channels, order), store: Store())
        let subscriptions = try channels.map { _ in
            environment.execute(
                operation: try TodoOperations.descriptor("AddedSubscription", [:])
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        }
        let publishes = Noted<Int>()
        let listening = environment.eventPublisher.sink { event in
            if event.name == .storePublish { publishes.note(event.count ?? 0) }
        }
        // All of it is waiting when the first is handed over.
        order.perform {
            for (number, channel) in channels.enumerated() {
                let id = "new\(number)"
                _ = channel.push(
                    Array(
                        """
                        {"data":{"todoAdded":{"todo":{"id":"\(id)","text":"\(number)"}}}}
                        """.utf8))
            }
        }
        // Told once the records can be read.
        await eventually { !publishes.all.isEmpty }
        #expect(environment.store.snapshot.existing("new49") != nil)
        #expect(publishes.all.count == 1)
        withExtendedLifetime((subscriptions, listening)) {}
    }

    /// A network whose operations are channels, one after the other.
    private final class Channels: RespondingNetwork {
        let order: DeliveryOrder
        private let channels: [ResponseChannel]
        private let taken = Noted<Int>()

        init(_ channels: [ResponseChannel], _ order: DeliveryOrder) {
            self.channels = channels
            self.order = order
        }

        func execute(
            request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
        ) -> AnyPublisher<Data, any Error> {
            executeBytes(request: request, variables: variables, cacheConfig: cacheConfig)
                .map { Data($0) }.eraseToAnyPublisher()
        }

        func executeBytes(
            request: RequestParameters, variables: VariableData, cacheConfig: CacheConfig
        ) -> AnyPublisher<[UInt8], any Error> {
            publisher(of: request, variables, cacheConfig)
        }

        func responses(
            to request: RequestParameters, variables: VariableData, metadata: RelayMetadata?,
            transactionID: String?, asksForRecords: Bool, interruptions: Interruptions?
        ) -> Responses {
            taken.note(1)
            return Responses(channels[taken.all.count - 1]) {}
        }
    }
}
