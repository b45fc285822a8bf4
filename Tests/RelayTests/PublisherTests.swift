import Foundation
import OpenCombine
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

@testable import Relay

/// What users of Combine expect of publishers.
@Suite struct PublisherTests {
    private let environment = MockEnvironment()
    private var network: MockNetwork { environment.mockNetwork }

    private static let failedText = """
        {"data":{"node":{"__typename":"Todo","id":"a","text":null,"complete":true}},\
        "errors":[{"message":"no text today","path":["node","text"]}]}
        """

    @Test func errorsComeBesideTheData() throws {
        let fetched = Collected(environment.publisher(of: UserQuery()))
        environment.mostRecent?.resolve(
            #"{"data":{"user":null},"errors":[{"message":"nobody","path":["user"]}]}"#)
        #expect(fetched.isFinished && fetched.values.count == 1)
        #expect(fetched.values.first?.errors.map(\.message) == ["nobody"])
        #expect(fetched.values.first?.data != nil)

        let committed = Collected(environment.publisher(of: change("a", true)))
        environment.mostRecent?.resolve(
            #"{"data":{"changeTodoStatus":null},"errors":[{"message":"late"}]}"#)
        #expect(committed.values.first?.errors.map(\.message) == ["late"])
        #expect(committed.isFinished)

        let events = Collected(environment.publisher(of: TodoAddedSubscription()))
        environment.mostRecent?.nextValue(
            #"{"data":{"todoAdded":null},"errors":[{"message":"one"}]}"#)
        environment.mostRecent?.nextValue(#"{"data":{"todoAdded":null}}"#)
        #expect(events.values.map { $0.errors.map(\.message) } == [["one"], []])
        #expect(!events.isFinished)
        events.cancel()
    }

    @Test func aFinishedPublisherSubscribedToAgainExecutesAnew() throws {
        let publisher = environment.fetchQuery(TodoQuery(id: "a"))
        let first = Collected(publisher)
        environment.mostRecent?.resolve(Payloads.todo("a", "A", complete: true))
        let second = Collected(publisher)
        #expect(network.executionCount == 2 && second.values.isEmpty)
        environment.mostRecent?.resolve(Payloads.todo("a", "B", complete: true))
        #expect(first.values.map { $0?.node?.asTodo?.text } == ["A"])
        #expect(second.values.map { $0?.node?.asTodo?.text } == ["B"])

        // A mutation that is run again is another mutation, under a name of its own.
        let mutation = environment.commitMutation(change("a", false))
        var names: [String?] = []
        for _ in 0..<2 {
            let run = Collected(mutation)
            names.append(environment.mostRecent?.cacheConfig.transactionID)
            environment.mostRecent?.resolve(Payloads.status("a", complete: false))
            #expect(run.isFinished)
        }
        #expect(Set(names).count == 2)
    }

    @Test func followingInsideAnUpdaterReportsLaterChanges() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: true))
        let operation = TodoQuery(id: "a").createDescriptor()
        var told: Collected<Relay.Snapshot<TodoQuery.Data>>?
        try environment.commitUpdate { [environment] store in
            let now = environment.lookup(
                selector: operation.fragment, as: TodoQuery.Data.self)
            told = Collected(environment.subscribe(snapshot: now))
            store["a"]?["text"] = "B"
        }
        try environment.commitUpdate { store in store["a"]?["text"] = "C" }
        #expect(told?.values.map { $0.data?.node?.asTodo?.text } == ["B", "C"])
        told?.cancel()
        try environment.commitUpdate { store in store["a"]?["text"] = "D" }
        #expect(told?.values.count == 2)
    }

    @Test func whatIsRetainedInsideAnUpdaterIsKept() throws {
        let environment = Environment(
            network: network, store: Store(gcReleaseBufferSize: 0))
        let operation = TodoQuery(id: "a").createDescriptor()
        try environment.commitPayload(
            operation,
            ["node": ["__typename": "Todo", "id": "a", "text": "A", "complete": true]])
        var kept: AnyCancellable?
        var given: AnyCancellable?
        try environment.commitUpdate { _ in
            kept = environment.retain(operation: operation)
            given = environment.retain(operation: TodoQuery(id: "b").createDescriptor())
            given?.cancel()
        }
        #expect(
            try environment.store.retainedQueries.map(\.operation.request.variables) == [
                ["id": "a"]
            ])
        environment.store.collectGarbage()
        #expect(environment.store.snapshot.existing("a") != nil)
        kept?.cancel()
        #expect(try environment.store.retainedQueries.isEmpty)
    }

    @Test func checkingInsideAnUpdaterSaysWhatIsThere() throws {
        let operation = TodoQuery(id: "a").createDescriptor()
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: true))
        try environment.keep(TodoQuery(id: "a"))
        var told: [Relay.OperationAvailability] = []
        var contents: [KeptQuery.Content] = []
        try environment.commitUpdate { [environment] store in
            store["a"]?["text"] = "B"
            told = ["a", "b"].map {
                environment.check(operation: TodoQuery(id: $0).createDescriptor())
            }
            contents = environment.keptQueries.map(\.content)
        }
        #expect(told == [.available(nil), .missing])
        #expect(contents == [.cached])
        try environment.commitUpdate { $0["a"]?.invalidateRecord() }
        try environment.commitUpdate { [environment] _ in
            told = [environment.check(operation: operation)]
        }
        #expect(told == [.stale])
    }

    @Test func aFetchInReactionToAMutationGetsNoOlderAnswer() throws {
        let network = MockNetwork()
        let cache = ResponseCache(of: network, size: 2, lifetime: 10) { 0 }
        let environment = Environment(network: cache, store: Store())
        let before = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        network.requests.first?.resolve(Payloads.todo("a", "A", complete: false))
        #expect(before.isFinished)
        var after: Collected<TodoQuery.Data?>?
        let mutation = environment.commitMutation(change("a", true)).sink(
            receiveCompletion: { _ in },
            receiveValue: { _ in
                after = Collected(environment.fetchQuery(TodoQuery(id: "a")))
            })
        // Asked for meanwhile, and answered with the state before the mutation.
        let meanwhile = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        network.requests.last?.resolve(Payloads.todo("a", "A", complete: false))
        #expect(meanwhile.isFinished)
        // The response alone, before the request completes.
        network.requests.first?.nextValue(Payloads.status("a", complete: true))
        #expect(
            network.requests.map(\.parameters.name) == ["ChangeTodoStatusMutation", "TodoQuery"])
        network.requests.last?.resolve(Payloads.todo("a", "A", complete: true))
        #expect(after?.values.map { $0?.node?.asTodo?.complete } == [true])
        withExtendedLifetime(mutation) {}
    }
}
