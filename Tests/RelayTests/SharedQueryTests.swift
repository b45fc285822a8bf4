import Foundation
import OpenCombine
import RelayArtifacts
import Testing
import TodoFixtures

@testable import Relay

/// Requests that are alike, and what `CacheConfig` means.
@Suite(.bounded, .timeLimit(.minutes(10))) struct SharedQueryTests {
    private let environment = MockEnvironment()
    private var network: MockNetwork { environment.mockNetwork }

    private func fetch(
        _ id: String, _ config: CacheConfig = .init()
    ) -> Collected<TodoQuery.Data?> {
        Collected(environment.fetchQuery(TodoQuery(id: id), cacheConfig: config))
    }

    @Test func promise3QueriesInFlightAreSharedUntilTheyAreAnswered() throws {
        let first = fetch("a")
        let second = fetch("a")
        let forced = fetch("a", CacheConfig(force: true))
        let other = fetch("b")
        #expect(network.executionCount == 2)
        let request = try #require(network.requests.first)
        request.resolve(Payloads.todo("a", "A", complete: true))
        for result in [first, second, forced] {
            #expect(result.values.map { $0?.node?.asTodo?.text } == ["A"] && result.isFinished)
        }
        #expect(!environment.isActive(request: TodoQuery(id: "a").createDescriptor().request))
        #expect(environment.isActive(request: TodoQuery(id: "b").createDescriptor().request))
        // The next one asks again.
        let later = fetch("a")
        #expect(network.executionCount == 3 && !later.isFinished)
        later.cancel()
        other.cancel()
    }

    /// "é" in one scalar of Unicode and in two: Swift calls them equal, a server does not.
    @Test func idsThatOnlyLookTheSameAreDifferentQueriesAndRecords() throws {
        let (one, two) = ("\u{e9}", "e\u{301}")
        let first = fetch(one)
        let second = fetch(two)
        #expect(network.executionCount == 2)
        for (id, text) in [(one, "one scalar"), (two, "two scalars")] {
            let request = try #require(
                network.requests.first {
                    $0.variables["id"] == VariableValue.string(id)
                })
            request.resolve(Payloads.todo(id, text, complete: true))
        }
        #expect(first.values.map { $0?.node?.asTodo?.text } == ["one scalar"])
        #expect(second.values.map { $0?.node?.asTodo?.text } == ["two scalars"])
        for (id, text) in [(one, "one scalar"), (two, "two scalars")] {
            let selector = TodoQuery(id: id).createDescriptor().fragment
            let stored = environment.lookup(selector: selector, as: TodoQuery.Data.self)
            #expect(stored.data?.node?.asTodo?.text == text)
        }
    }

    @Test func theLastOneToLeaveCancelsTheRequest() {
        let first = fetch("a")
        let second = fetch("a")
        first.cancel()
        #expect(network.requests.count == 1)
        second.cancel()
        #expect(network.requests.isEmpty)
        let third = fetch("a")
        #expect(network.requests.count == 1 && network.executionCount == 2)
        third.cancel()
    }

    @Test func aFailureIsToldToAllAndForgotten() throws {
        let first = fetch("a")
        let second = fetch("a")
        try #require(environment.mostRecent).reject(URLError(.timedOut))
        #expect(first.error is URLError && second.error is URLError)
        let third = fetch("a")
        #expect(network.executionCount == 2)
        third.cancel()
    }

    @Test func awaitingSharesToo() async throws {
        let environment = self.environment
        let awaited = Task { try await environment.fetch(TodoQuery(id: "a")) }
        await eventually { environment.mockNetwork.requests.count == 1 }
        let subscribed = fetch("a")
        #expect(network.executionCount == 1)
        environment.mostRecent?.resolve(Payloads.todo("a", "A", complete: true))
        #expect(try await awaited.value.data?.node?.asTodo?.text == "A")
        #expect(subscribed.values.map { $0?.node?.asTodo?.text } == ["A"])
    }

    @Test func promise15AMetadataAPollOrANameMakesARequestItsOwn() {
        let results = [
            fetch("a"), fetch("a", CacheConfig(metadata: "past")),
            fetch("a", CacheConfig(transactionID: "c:1")), fetch("a", CacheConfig(poll: 60)),
        ]
        #expect(network.executionCount == 4)
        #expect(network.requests.map { $0.cacheConfig.metadata as? String }.contains("past"))
        #expect(network.requests.map(\.cacheConfig.transactionID).contains("c:1"))
        for result in results { result.cancel() }
    }

    // MARK: The response cache

    private final class Clock: @unchecked Sendable { var now: TimeInterval = 0 }

    private func ask(
        _ cache: ResponseCache, _ operation: some Relay.Operation, _ config: CacheConfig = .init()
    ) -> Collected<Data> {
        let request = operation.createDescriptor().request
        return Collected(
            cache.execute(
                request: request.node.params, variables: request.variables, cacheConfig: config))
    }

    @Test func promise15ForceIsAboutRememberedResponses() throws {
        let network = MockNetwork()
        network.answer { request, _ in
            request.operationKind == .query
                ? Data(Payloads.todo("a", "A", complete: true).utf8)
                : Data(Payloads.status("a", complete: true).utf8)
        }
        let clock = Clock()
        let cache = ResponseCache(of: network, size: 2, lifetime: 10) { clock.now }
        #expect(ask(cache, TodoQuery(id: "a")).isFinished)
        #expect(ask(cache, TodoQuery(id: "a")).values.count == 1)
        #expect(network.executionCount == 1)
        _ = ask(cache, TodoQuery(id: "a"), CacheConfig(force: true))
        #expect(network.executionCount == 2)
        // Too old.
        clock.now = 11
        _ = ask(cache, TodoQuery(id: "a"))
        #expect(network.executionCount == 3)
        // A mutation may have changed anything.
        _ = ask(cache, change("a", true))
        _ = ask(cache, TodoQuery(id: "a"))
        #expect(network.executionCount == 5)
        // Too many.
        for id in ["b", "c"] { _ = ask(cache, TodoQuery(id: id)) }
        _ = ask(cache, TodoQuery(id: "a"))
        #expect(network.executionCount == 8)
    }

    /// Its stream has ended before its parts came.
    @Test func halfAResponseIsNotRemembered() {
        let network = MockNetwork()
        network.answer { _, _ in Data(#"{"data":{"node":null},"hasNext":true}"#.utf8) }
        let cache = ResponseCache(of: network, size: 2, lifetime: 10) { 0 }
        _ = ask(cache, TodoQuery(id: "a"))
        _ = ask(cache, TodoQuery(id: "a"))
        #expect(network.executionCount == 2)
    }

    @Test func failuresAreNotRemembered() {
        let network = MockNetwork()
        network.answer { _, _ in
            Data(#"{"data":{"node":null},"errors":[{"message":"no"}]}"#.utf8)
        }
        let cache = ResponseCache(of: network, size: 2, lifetime: 10) { 0 }
        _ = ask(cache, TodoQuery(id: "a"))
        _ = ask(cache, TodoQuery(id: "a"))
        #expect(network.executionCount == 2)
    }
}
