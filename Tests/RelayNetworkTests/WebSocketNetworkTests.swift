import Foundation
import Relay
import RelayJSON
import RelayServer
import StoreEngine
import Synchronization
import Testing

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

@Suite(.bounded, .timeLimit(.minutes(10)))
struct WebSocketNetworkTests {
    @Test func allThreeKindsGoOverOneConnection() async throws {
        try await ServedTodos.run { todos in
            let events = Noted<String>()
            var options = WebSocketNetwork.Options()
            options.onEvent = { events.note("\($0)") }
            let network = try WebSocketNetwork(url: todos.url, options: options)
            let counts = network.responses(to: .count, variables: [:]).makeAsyncIterator()
            let first = try #require(try await counts.next()).json
            let before = try #require(first["data"]?["user"]?["totalCount"]?.int)
            let answer = try await network.responses(to: .add, variables: ["text": "milk"]).first()
            #expect(answer["data"]?["addTodo"]?["todo"]?["text"] == "milk")
            let second = try #require(try await counts.next()).json
            #expect(second["data"]?["user"]?["totalCount"]?.int == before + 1)
            let texts = try await network.responses(to: .texts, variables: [:]).first()
            #expect(texts.text.contains(#""text":"milk""#))
            #expect(events.all == ["connecting", "connected"])
        }
    }

    @Test func aPublisherDeliversAndCompletes() async throws {
        try await ServedTodos.run { todos in
            let network = try WebSocketNetwork(url: todos.url)
            let publisher = network.execute(
                request: .texts, variables: [:], cacheConfig: CacheConfig())
            let values = Noted<String>()
            let subscription = publisher.sink(
                receiveCompletion: { values.note("\($0)") },
                receiveValue: { values.note(String(decoding: $0.prefix(8), as: UTF8.self)) })
            await eventually { values.all.count == 2 }
            #expect(values.all == [#"{"data":"#, "finished"])
            subscription.cancel()
        }
    }

    @Test func aCancelledPublisherEndsAtTheServer() async throws {
        try await ServedTodos.run { todos in
            let events = Noted<String>()
            var options = WebSocketNetwork.Options()
            options.onEvent = { events.note("\($0)") }
            options.idleTimeout = .zero
            let network = try WebSocketNetwork(url: todos.url, options: options)
            let values = Noted<Int>()
            let subscription = network.execute(
                request: .count, variables: [:], cacheConfig: CacheConfig()
            ).sink(receiveCompletion: { _ in }, receiveValue: { _ in values.note(1) })
            await eventually { values.all.count == 1 }
            subscription.cancel()
            // Nothing is in progress any more, so the connection is not needed.
            await eventually { events.all.last == "closed" }
        }
    }

    @Test func streamsGoOnOverANewConnection() async throws {
        try await ServedTodos.run { todos in
            let events = Noted<String>()
            var options = WebSocketNetwork.Options()
            options.onEvent = { events.note("\($0)") }
            options.retry.initialDelay = .milliseconds(5)
            let network = try WebSocketNetwork(url: todos.url, options: options)
            let counts = network.responses(to: .count, variables: [:]).makeAsyncIterator()
            _ = try await counts.next()
            await todos.stop()
            // Meanwhile a mutation waits, and is sent once somebody is there.
            let added = network.responses(to: .add, variables: ["text": "later"])
            await eventually { events.all.contains { $0.hasPrefix("waiting") } }
            try await todos.startAgain()
            #expect(try await added.first()["data"]?["addTodo"]?["todo"]?["text"] == "later")
            #expect(try await counts.next() != nil)
            #expect(events.all.count { $0 == "connected" } == 2)
        }
    }

    @Test func aRefusedTokenIsAskedForAnewOnce() async throws {
        try await ServedTodos.run {
            $0.tokens = ["good"]
        } _: { todos in
            let asked = Noted<Bool>()
            var options = WebSocketNetwork.Options()
            options.tokens = TokenProvider { isRefused in
                asked.note(isRefused)
                return isRefused ? "good" : "stale"
            }
            let network = try WebSocketNetwork(url: todos.url, options: options)
            let texts = try await network.responses(to: .texts, variables: [:]).first()
            #expect(texts["data"] != nil)
            #expect(asked.all == [false, true])

            options.tokens = .constant("bad")
            let refused = try WebSocketNetwork(url: todos.url, options: options)
            let error = await #expect(throws: TransportError.self) {
                try await refused.responses(to: .texts, variables: [:]).first()
            }
            #expect(error?.code == .unauthenticated)
        }
    }

    @Test func aTokenProvidersErrorComesOutOfThePublisher() async throws {
        struct Offline: Error {}
        var options = WebSocketNetwork.Options()
        options.retry = RetryPolicy(initialDelay: .milliseconds(1))
        options.tokens = TokenProvider { _ in throw Offline() }
        let network = try WebSocketNetwork(url: "ws://127.0.0.1:1/graphql", options: options)
        let error = await #expect(throws: TransportError.self) {
            try await network.responses(to: .texts, variables: [:]).first()
        }
        #expect(error?.cause is Offline)
    }

    /// However often a connection is tried, one question is open.
    @Test func aProviderThatDoesNotAnswerIsNotAskedAgainMeanwhile() async throws {
        let asked = Noted<Bool>()
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        var options = WebSocketNetwork.Options()
        options.retry = RetryPolicy(initialDelay: .milliseconds(1))
        options.connectTimeout = .milliseconds(1)
        options.tokens = TokenProvider { isRefused in
            asked.note(isRefused)
            for await _ in gate {}
            return "late"
        }
        let network = try WebSocketNetwork(url: "ws://127.0.0.1:1/graphql", options: options)
        let error = await #expect(throws: TransportError.self) {
            try await network.responses(to: .texts, variables: [:]).first()
        }
        #expect(error?.code == .timedOut)
        await eventually { !asked.all.isEmpty }
        #expect(asked.all == [false])
        opening.finish()
    }

    @Test func persistedOperationsGoByTheirID() async throws {
        try await ServedTodos.run {
            $0.usePersistedOperations(["q1": "{ user { userId } }"], isExclusive: true)
        } _: { todos in
            let network = try WebSocketNetwork(url: todos.url)
            let known = RequestParameters(name: "", operationKind: .query, id: "q1")
            let answer = try await network.responses(to: known, variables: [:]).first()
            #expect(answer["data"]?["user"]?["userId"] == "me")
            let refused = try await network.responses(to: .texts, variables: [:]).first()
            #expect(
                refused["errors"]?.array?.first?["extensions"]?["code"]
                    == "PERSISTED_QUERY_ID_REQUIRED")
        }
    }

    @Test func queriesOfAnUnreachableServerFailInTheEnd() async throws {
        var options = WebSocketNetwork.Options()
        options.retry.initialDelay = .milliseconds(1)
        options.queryAttempts = 2
        let network = try WebSocketNetwork(url: "ws://127.0.0.1:1/graphql", options: options)
        let error = await #expect(throws: TransportError.self) {
            try await network.responses(to: .texts, variables: [:]).first()
        }
        #expect(error?.code == .cannotConnect)
    }

    @Test func whatIsNoURLIsSaidAtOnce() {
        let error = #expect(throws: TransportError.self) {
            try WebSocketNetwork(url: "example.org")
        }
        #expect(error?.code == .invalidURL)
    }

    @Test func aMutationThatIsGivenTheSameNameTwiceIsCarriedOutOnce() async throws {
        try await ServedTodos.run { todos in
            let network = try WebSocketNetwork(url: todos.url)
            let first = try await network.responses(
                to: .add, variables: ["text": "once"], transactionID: "client:1"
            ).first()
            let second = try await network.responses(
                to: .add, variables: ["text": "once"], transactionID: "client:1"
            ).first()
            #expect(first["data"] == second["data"])
            // The same name for something else is nobody's answer.
            let other = try? await network.responses(
                to: .add, variables: ["text": "twice"], transactionID: "client:1"
            ).first()
            #expect(other?["data"] != first["data"])
            let texts = try await network.responses(to: .texts, variables: [:]).first()
            #expect(!texts.text.contains("twice"))
        }
    }
}
