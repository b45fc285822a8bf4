import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10))) struct SubscriptionTests {
    private func added(_ id: String) -> String {
        #"{"data":{"todoAdded":{"todo":{"id":"\#(id)","text":"t\#(id)","complete":false}}}}"#
    }

    @Test func promise11EventsAreWrittenAndToldEachWithARootOfItsOwn() throws {
        let environment = MockEnvironment()
        var updated: [String] = []
        let events = Collected(
            environment.requestSubscription(
                TodoAddedSubscription(),
                updater: { store, _ in
                    let todo = store.getRootField("todoAdded")?.getLinkedRecord("todo")
                    updated.append(todo?.dataID.rawValue ?? "-")
                }))
        let request = try #require(environment.mostRecent)
        #expect(request.parameters.operationKind == .subscription)
        request.nextValue(added("a"))
        request.nextValue(added("b"))
        #expect(events.values.map { $0?.todoAdded?.todo.id } == ["a", "b"])
        #expect(updated == ["a", "b"])
        #expect(environment.store.snapshotText(of: "a", "text") == "ta")
        request.complete()
        #expect(events.isFinished)
    }

    @Test func eventsComeAsASequenceThatEndsTheSubscription() async throws {
        let environment = MockEnvironment()
        let results = environment.results(of: TodoAddedSubscription())
        let request = try #require(environment.mostRecent)
        request.nextValue(added("a"))
        request.nextValue(added("b"))
        var ids: [String?] = []
        for try await event in results {
            ids.append(event.data?.todoAdded?.todo.id)
            if ids.count == 2 { break }
        }
        #expect(ids == ["a", "b"])
    }

    /// Each event has a root of its own, and nobody keeps it.
    @Test func aSubscriptionThatGoesOnDoesNotFillTheStore() async throws {
        let environment = MockEnvironment()
        try environment.cachePayload(UserQuery(), Payloads.user(["a", "b"]))
        let retained = environment.retain(operation: UserQuery().createDescriptor())
        let events = environment.requestSubscription(TodoAddedSubscription())
            .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        let request = try #require(environment.mostRecent)
        for number in 0..<5_000 { request.nextValue(added("\(number % 10)")) }
        // Besides what is shown, what has come since it was looked at last.
        await eventually { environment.store.snapshot.recordCount < 2_500 }
        #expect(environment.store.snapshotText(of: "a", "text") == "ta")
        events.cancel()
        retained.cancel()
    }
}
