import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

/// Responses that come together are one fold and one notification.
@Suite(.bounded) struct BurstTests {
    private let environment = MockEnvironment()

    private func added(_ id: String, _ text: String) -> Data {
        Data(
            """
            {"data":{"todoAdded":{"todo":{"id":"\(id)","text":"\(text)","complete":false}}}}
            """.utf8)
    }

    /// What the store tells of todo `a` from now on.
    private func following() throws -> Collected<Relay.Snapshot<TodoQuery.Data>> {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "0", complete: false))
        return Collected(
            environment.subscribe(
                snapshot: environment.lookup(
                    selector: TodoQuery(id: "a").createDescriptor().fragment,
                    as: TodoQuery.Data.self)))
    }

    @Test func promise11ABurstIsOneFoldAndOneNotification() throws {
        let told = try following()
        var updated: [String] = []
        let events = Collected(
            environment.requestSubscription(
                TodoAddedSubscription(),
                updater: { store, _ in
                    let todo = store.getRootField("todoAdded")?.getLinkedRecord("todo")
                    updated.append(todo?["text"] as? String ?? "-")
                }))
        let request = try #require(environment.mostRecent)
        let before = try environment.store.confirmed.sequence
        ResponseBurst.gather {
            for number in 1...100 { request.nextValue(added("a", "\(number)")) }
            // Nothing is written before the burst is whole.
            #expect(told.values.isEmpty && events.values.isEmpty)
        }
        #expect(told.values.map(\.data?.node?.asTodo?.text) == ["100"])
        #expect(try environment.store.confirmed.sequence == before + 1)
        // Each has its updater, its root and its subscriber's turn.
        #expect(updated == (1...100).map { "\($0)" })
        #expect(events.values.count == 100)
        let roots = environment.store.snapshot.recordCount
        #expect(roots >= 100)
        request.nextValue(added("a", "alone"))
        #expect(told.values.count == 2 && events.values.count == 101)
    }

    @Test func burstsOfManySubscriptionsAndQueriesAreOneToo() throws {
        let told = try following()
        let subscriptions = (0..<3).map { _ in
            Collected(environment.requestSubscription(TodoAddedSubscription()))
        }
        let requests = environment.mockNetwork.requests
        let query = Collected(environment.fetchQuery(TodoQuery(id: "b")))
        let asked = try #require(environment.mostRecent)
        let before = try environment.store.confirmed.sequence
        ResponseBurst.gather {
            for (number, request) in requests.enumerated() {
                request.nextValue(added("a", "\(number)"))
            }
            // Queries have ends, which wait for their turn.
            asked.resolve(Payloads.todo("b", "B", complete: true))
            requests[0].nextValue(added("a", "last"))
        }
        #expect(try environment.store.confirmed.sequence == before + 1)
        #expect(told.values.count == 1)
        #expect(subscriptions.map(\.values.count) == [2, 1, 1])
        #expect(query.values.first??.node?.asTodo?.text == "B" && query.isFinished)
    }

    @Test func anEndIsDeliveredAfterEarlierResponses() throws {
        let events = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let request = try #require(environment.mostRecent)
        ResponseBurst.gather {
            request.nextValue(added("a", "1"))
            request.nextValue(added("b", "2"))
            request.complete()
            #expect(!events.isFinished)
        }
        #expect(events.values.map { $0?.todoAdded?.todo.id } == ["a", "b"] && events.isFinished)
    }

    @Test func aResponseThatCannotBeAppliedDoesNotAffectOthers() throws {
        let good = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let bad = Collected(
            environment.requestSubscription(
                TodoAddedSubscription(),
                updater: { store, _ in
                    store["a"]?["text"] = "half done"
                    throw CancellationError()
                }))
        let requests = environment.mockNetwork.requests
        ResponseBurst.gather {
            requests[0].nextValue(added("a", "1"))
            requests[1].nextValue(added("b", "2"))
            requests[0].nextValue(added("c", "3"))
        }
        #expect(good.values.count == 2 && bad.error != nil)
        #expect(environment.store.snapshotText(of: "a", "text") == "1")
        #expect(environment.store.snapshotText(of: "b", "text") == nil)
        #expect(environment.store.snapshotText(of: "c", "text") == "3")
    }

    @Test func aMutationIsAnsweredInItsTurn() throws {
        let told = try following()
        let events = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let stream = try #require(environment.mostRecent)
        let mutation = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true)))
        let request = try #require(environment.mostRecent)
        ResponseBurst.gather {
            stream.nextValue(added("a", "1"))
            request.resolve(Payloads.status("a", complete: true))
            stream.nextValue(added("a", "2"))
        }
        #expect(mutation.isFinished && events.values.count == 2)
        #expect(told.values.map { $0.data?.node?.asTodo?.text } == ["0", "1", "2"])
        // Shown, then over the first event, then as the second has it.
        #expect(told.values.map { $0.data?.node?.asTodo?.complete } == [true, true, false])
    }

    @Test func cancellingInTheMiddleOfABurstEndsIt() throws {
        var events: [String] = []
        var subscription: AnyCancellable?
        subscription = environment.requestSubscription(TodoAddedSubscription()).sink(
            receiveCompletion: { _ in },
            receiveValue: {
                events.append($0?.todoAdded?.todo.id ?? "-")
                subscription?.cancel()
            })
        let request = try #require(environment.mostRecent)
        ResponseBurst.gather {
            request.nextValue(added("a", "1"))
            request.nextValue(added("b", "2"))
        }
        #expect(events == ["a"])
    }
}
