import EventStore
import Foundation
import Relay
import RelayArtifacts
import RelayJSON
import RelayServer
@_spi(Rooms) import RelayStore
import Testing
import WebSocketIO

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// What a client finds when it comes back.
@Suite(.bounded, .timeLimit(.minutes(10)))
final class StoreOnDiskTests: Sendable {
    private let directory = FileManager.default.temporaryDirectory
        .appending(path: "relay-client-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// One life of a client.
    private struct Client {
        let journal: FileJournal
        let environment: Environment

        init(_ directory: String, url: String) throws {
            var options = WebSocketNetwork.Options()
            options.retry = RetryPolicy(
                initialDelay: .milliseconds(2), maximumDelay: .milliseconds(20))
            journal = try FileJournal(directory: directory)
            environment = Environment(
                network: try WebSocketNetwork(url: url, options: options),
                store: try Store(journal: journal))
        }

        /// The text of a todo, as the store shows it.
        func text(_ id: String) -> String? {
            let snapshot = environment.store.snapshot
            guard let record = snapshot.existing(id),
                case .string(let text)? = snapshot.fieldValue("text", of: record)
            else { return nil }
            return text
        }
    }

    private static let nowhere = "ws://127.0.0.1:1/graphql"

    @Test func aRestartedClientShowsItsLastStateAtOnce() async throws {
        try await ServedTodos.run { todos in
            let before = try Client(directory, url: todos.url)
            let subscription = before.environment.execute(
                operation: try TodoOperations.todo("VG9kbzox")
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
            await eventually { before.text("VG9kbzox") != nil }
            let text = before.text("VG9kbzox")
            subscription.cancel()
            before.journal.close()

            let after = try Client(directory, url: Self.nowhere)
            #expect(after.text("VG9kbzox") == text)
            after.journal.close()
        }
    }

    /// A query that the program keeps is there when it starts again without a network, and says that it is of
    /// the store; with a network what the store had comes first, and then what the server says.
    @Test func aQueryThatIsKeptIsThereAfterARestartOffline() async throws {
        let operation = try TodoOperations.todo("VG9kbzox")
        func results(
            _ client: Client, _ policy: FetchPolicy, count: Int
        ) async -> [Result<QueryResource.QueryResult, any Error>?] {
            let told = Noted<Transferred>()
            let preparing = QueryResource(environment: client.environment)
                .prepare(operation: operation, fetchPolicy: policy)
                .sink { told.note(Transferred(value: $0)) }
            await eventually { told.all.count >= count }
            withExtendedLifetime(preparing) {}
            return told.all.map(\.value)
        }
        try await ServedTodos.run { todos in
            let before = try Client(directory, url: todos.url)
            try before.environment.keep(operation)
            let first = await results(before, .storeOrNetwork, count: 2)
            #expect(try first.last??.get().source == .fetched)
            let again = await results(before, .storeOrNetwork, count: 1)
            guard case .cached(.some)? = try again.last??.get().source else {
                Issue.record("it is not known when it was fetched: \(again)")
                return
            }
            try await before.environment.store.synchronize()
            before.journal.close()

            let offline = try Client(directory, url: Self.nowhere)
            #expect(offline.environment.keptQueries.map(\.content) == [.unnamed])
            try offline.environment.keep(operation)
            // Nobody else holds its records now.
            offline.environment.store.collectGarbage()
            let found = await results(offline, .storeOrNetwork, count: 1)
            let query = try #require(offline.environment.keptQueries.first)
            #expect(query.content == .cached && query.fetchedAt != nil)
            #expect(try found.first??.get().source == .cached(query.fetchedAt))
            #expect(offline.text("VG9kbzox") != nil)
            offline.journal.close()

            let online = try Client(directory, url: todos.url)
            try online.environment.keep(operation)
            let both = await results(online, .storeAndNetwork, count: 2)
            #expect(try both.map { try $0?.get().source } == [.cached(query.fetchedAt), .fetched])
            #expect(online.environment.keptQueries.map(\.content) == [.complete])
            online.journal.close()
        }
    }

    private struct Transferred: @unchecked Sendable {
        // Unchecked: results of queries, which are values; the error is of the network's.
        let value: Result<QueryResource.QueryResult, any Error>?
    }

    @Test func unfinishedMutationsAreSentAgainInOrder() async throws {
        // Offline: three mutations are asked for, shown, and wait.
        let before = try Client(directory, url: Self.nowhere)
        var subscriptions: [AnyCancellable] = []
        for text in ["one", "two", "three"] {
            subscriptions.append(
                before.environment.execute(
                    operation: try TodoOperations.rename("VG9kbzox", text),
                    optimisticResponse: [
                        "renameTodo": ["todo": ["id": "VG9kbzox", "text": text]]
                    ]
                ).sink(receiveCompletion: { _ in }, receiveValue: { _ in }))
        }
        #expect(before.text("VG9kbzox") == "three")
        before.journal.close()

        try await ServedTodos.run { todos in
            let after = try Client(directory, url: todos.url)
            #expect(after.text("VG9kbzox") == "three")
            let ended = Noted<ResumedMutation>()
            let unknown = try after.environment.resumeMutations(
                [ResumableMutation(try TodoOperations.request("RenameMutation"))]
            ) { ended.note($0) }
            #expect(unknown == [])
            await eventually { ended.all.count == 3 }
            #expect(after.text("VG9kbzox") == "three")
            #expect(try after.environment.store.pendingMutations.isEmpty)
            #expect(ended.all.map(\.transactionID.last) == ["1", "2", "3"])

            let other = try HTTPNetwork(url: todos.httpURL)
            let texts = try await other.responses(to: .texts, variables: [:]).first()
            #expect(texts.text.contains(#""text":"three""#))
            after.journal.close()
        }
        for subscription in subscriptions { subscription.cancel() }

        // And there is nothing left to be sent.
        let last = try Client(directory, url: Self.nowhere)
        #expect(try last.environment.store.pendingMutations.isEmpty)
        #expect(last.text("VG9kbzox") == "three")
        last.journal.close()
    }

    /// Over HTTP, too, unfinished mutations wait for the server and go in order.
    @Test func overHTTPUnfinishedMutationsWaitForTheServer() async throws {
        let before = try Client(directory, url: Self.nowhere)
        let running = try ["one", "two"].map { text in
            before.environment.execute(
                operation: try TodoOperations.rename("VG9kbzox", text)
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        }
        try await before.environment.store.synchronize()
        before.journal.close()

        try await ServedTodos.run { todos in
            await todos.stop()
            let delays = Noted<Duration>()
            var inputs = NetworkInputs()
            inputs.after = { loop, delay, action in
                delays.note(delay)
                loop.perform(after: .milliseconds(1), action)
            }
            let journal = try FileJournal(directory: directory)
            let environment = Environment(
                network: try HTTPNetwork(url: todos.httpURL, options: .init(), inputs: inputs),
                store: try Store(journal: journal))
            let ended = Noted<ResumedMutation>()
            try environment.resumeMutations(
                [ResumableMutation(try TodoOperations.request("RenameMutation"))]
            ) { ended.note($0) }
            // Far more than one that is begun now would be tried.
            await eventually { delays.all.count > 20 }
            #expect(ended.all.isEmpty)
            try await todos.startAgain()
            await eventually { ended.all.count == 2 }
            #expect(ended.all.map(\.transactionID.last) == ["1", "2"])
            #expect(try ended.all.allSatisfy { try $0.result.get()?.hasData == true })
            let other = try HTTPNetwork(url: todos.httpURL)
            let texts = try await other.responses(to: .texts, variables: [:]).first()
            #expect(texts.text.contains(#""text":"two""#))
            journal.close()
        }
        withExtendedLifetime(running) {}
    }

    @Test func mutationsUnknownToTheProgramStay() throws {
        let before = try Client(directory, url: Self.nowhere)
        let subscription = before.environment.execute(
            operation: try TodoOperations.rename("VG9kbzox", "one")
        ).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        let shown = try before.environment.applyUpdate { source in
            source.create(dataID: "local", typeName: "Todo")["text"] = "shown"
        }
        before.journal.close()

        let after = try Client(directory, url: Self.nowhere)
        // What belongs to no mutation is gone with what showed it.
        #expect(after.text("local") == nil)
        #expect(try after.environment.resumeMutations([]) == ["RenameMutation"])
        #expect(try after.environment.store.pendingMutations.count == 1)
        after.journal.close()
        withExtendedLifetime((subscription, shown)) {}
    }

    @Test func aDirectoryHasOneStore() throws {
        let client = try Client(directory, url: Self.nowhere)
        #expect(throws: (any Error).self) { try FileJournal(directory: directory) }
        #expect(throws: (any Error).self) { try Store(journal: client.journal) }
        client.journal.close()
    }
}
