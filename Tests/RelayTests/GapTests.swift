import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

/// A stream goes on, and its server says that something was missed.
@Suite(.bounded, .timeLimit(.minutes(10))) struct GapTests {
    private static let gap = Data(
        #"{"data":null,"extensions":{"relay":{"cursor":"c","recovered":false}}}"#.utf8)

    private let environment = MockEnvironment()
    private var network: MockNetwork { environment.mockNetwork }

    private func stale(_ id: String) -> Bool {
        environment.check(operation: TodoQuery(id: id).createDescriptor()) == .stale
    }

    @Test func whatIsShownIsFetchedAgainAndTheRestIsStale() throws {
        for id in ["a", "b"] {
            let fetched = Collected(environment.fetchQuery(TodoQuery(id: id)))
            environment.mostRecent?.resolve(Payloads.todo(id, "old", complete: false))
            #expect(fetched.isFinished)
        }
        let retained = environment.retain(operation: TodoQuery(id: "a").createDescriptor())
        let told = Collected(environment.eventPublisher)
        let events = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let stream = try #require(environment.mostRecent)
        stream.nextValue(Self.gap)
        // It is no event of the subscription.
        #expect(events.values.isEmpty && events.error == nil)
        #expect(told.values.contains { $0.name == .networkInfo })
        let again = network.requests.filter { $0.parameters.operationKind == .query }
        #expect(again.map(\.variables) == [["id": "a"]])
        #expect(again[0].cacheConfig.force && stale("a") && stale("b"))
        again[0].resolve(Payloads.todo("a", "new", complete: true))
        #expect(environment.todo("a")?.text == "new" && !stale("a") && stale("b"))
        retained.cancel()
        events.cancel()
    }

    @Test func gapsOfManyStreamsAreOneAndALaterOneIsAnother() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: false))
        let retained = environment.retain(operation: TodoQuery(id: "a").createDescriptor())
        let streams = (0..<5).map { _ in
            Collected(environment.requestSubscription(TodoAddedSubscription()))
        }
        for request in network.requests { request.nextValue(Self.gap) }
        func queries() -> [MockNetwork.Request] {
            network.requests.filter { $0.parameters.operationKind == .query }
        }
        #expect(queries().count == 1)
        queries()[0].resolve(Payloads.todo("a", "y", complete: false))
        // The first answer may be older than the last of the gaps.
        #expect(queries().count == 1)
        queries()[0].resolve(Payloads.todo("a", "z", complete: false))
        #expect(queries().isEmpty && environment.todo("a")?.text == "z")
        retained.cancel()
        for stream in streams { stream.cancel() }
    }

    @Test func aProgramMayDoItItself() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: false))
        let retained = environment.retain(operation: TodoQuery(id: "a").createDescriptor())
        let stream = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let request = try #require(environment.mostRecent)
        environment.gapPolicy = .ignore
        request.nextValue(Self.gap)
        #expect(!stale("a") && network.requests.count == 1)
        environment.gapPolicy = .invalidate
        request.nextValue(Self.gap)
        #expect(stale("a") && network.requests.count == 1)
        retained.cancel()
        stream.cancel()
    }

    @Test func whereNothingWasMissedNothingIsToldOrDone() throws {
        let stream = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let request = try #require(environment.mostRecent)
        request.nextValue(
            Data(#"{"data":null,"extensions":{"relay":{"recovered":true}}}"#.utf8))
        #expect(stream.values.isEmpty && stream.error == nil && network.requests.count == 1)
        stream.cancel()
    }
}
