import Foundation
import OpenCombine
import RelayArtifacts
import Testing
import TodoFixtures

@testable import Relay

/// A stream goes on, and its server says that something was missed.
@Suite(.bounded, .timeLimit(.minutes(10))) struct GapTests {
    private static let gap = Data(
        #"{"data":null,"extensions":{"relay":{"cursor":"c","recovered":false}}}"#.utf8)

    private let clock = Clock()
    private let environment: MockEnvironment
    private var network: MockNetwork { environment.mockNetwork }

    init() { environment = MockEnvironment(scheduler: clock) }

    /// The queries that wait for an answer.
    private var queries: [MockNetwork.Request] {
        network.requests.filter { $0.parameters.operationKind == .query }
    }

    /// A stream has missed something, and the time has come to fetch again.
    private func missSomething() {
        environment.missedEvents()
        clock.advance()
    }

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
        clock.advance()
        let again = queries
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
        clock.advance()
        #expect(queries.count == 1)
        // One that comes now may be of something that is newer than the answer.
        network.requests.first?.nextValue(Self.gap)
        clock.advance()
        #expect(queries.count == 1)
        queries[0].resolve(Payloads.todo("a", "y", complete: false))
        clock.advance()
        #expect(queries.count == 1)
        queries[0].resolve(Payloads.todo("a", "z", complete: false))
        clock.advance()
        #expect(queries.isEmpty && environment.todo("a")?.text == "z")
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
        clock.advance()
        #expect(!stale("a") && network.requests.count == 1)
        environment.gapPolicy = .invalidate
        request.nextValue(Self.gap)
        clock.advance()
        #expect(stale("a") && network.requests.count == 1)
        retained.cancel()
        stream.cancel()
    }

    /// The thread that reports a gap may stand still until the time is over in which others count as the same.
    @Test func eachGapCountsHoweverSlowItsReportIs() throws {
        struct AtOnce: Scheduling {
            func schedule(after seconds: TimeInterval, _ body: @escaping @Sendable () -> Void)
                -> AnyCancellable
            {
                body()
                return AnyCancellable {}
            }
        }
        let environment = MockEnvironment(scheduler: AtOnce())
        environment.gapPolicy = .invalidate
        let operation = TodoQuery(id: "a").createDescriptor()
        for text in ["x", "y", "z"] {
            try environment.cachePayload(
                TodoQuery(id: "a"), Payloads.todo("a", text, complete: false))
            #expect(environment.check(operation: operation) != .stale)
            environment.missedEvents()
            #expect(environment.check(operation: operation) == .stale)
        }
    }

    @Test func whereNothingWasMissedNothingIsToldOrDone() throws {
        let stream = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let request = try #require(environment.mostRecent)
        request.nextValue(
            Data(#"{"data":null,"extensions":{"relay":{"recovered":true}}}"#.utf8))
        #expect(stream.values.isEmpty && stream.error == nil && network.requests.count == 1)
        stream.cancel()
    }

    // MARK: Live queries

    /// A todo as a live query, or as one whose text only the server has.
    private func todo(_ id: String, text: String?) -> OperationDescriptor {
        let node = TodoQuery.node
        let parameters = RequestParameters(
            name: "Live", operationKind: .query, text: text, id: text == nil ? "live" : nil)
        return OperationDescriptor(
            request: RequestDescriptor(
                node: ConcreteRequest(
                    fragment: node.fragment, operation: node.operation, params: parameters),
                variables: ["id": id]))
    }

    private static let live = "query Live($id: ID!) @live { node(id: $id) { id } }"

    /// Its own stream goes on, or begins anew: it is not fetched besides, and nobody waits for it.
    @Test func aLiveQueryThatIsFollowedIsNotFetchedAgain() {
        let live = todo("l", text: Self.live)
        let retained = [live, TodoQuery(id: "a").createDescriptor()].map(environment.retain)
        let following = Collected(environment.execute(operation: live))
        for text in ["one", "two"] {
            missSomething()
            #expect(queries.map(\.parameters.name) == ["Live", "TodoQuery"])
            queries.last?.resolve(Payloads.todo("a", text, complete: false))
            #expect(environment.todo("a")?.text == text)
        }
        following.cancel()
        for retained in retained { retained.cancel() }
    }

    /// One that somebody retains and nobody follows is fetched once, and no stream of it stays.
    @Test(arguments: [live, nil])
    func aLiveQueryThatNobodyFollowsIsFetchedOnce(_ text: String?) {
        let live = todo("l", text: text)
        let retained = environment.retain(operation: live)
        for _ in 1...2 {
            missSomething()
            #expect(queries.count == 1)
            if case .available = environment.check(operation: live) {
                Issue.record("it does not count as stale")
            }
            queries.first?.nextValue(Payloads.todo("l", "x", complete: false))
            #expect(queries.isEmpty)
        }
        retained.cancel()
    }

    /// Of one whose text only the server has, its second answer would come over its own stream.
    @Test func aPersistedLiveQueryThatIsFollowedIsNotFetchedAgain() {
        let live = todo("l", text: nil)
        let retained = environment.retain(operation: live)
        let following = Collected(environment.execute(operation: live))
        let stream = queries.first
        // As long as it has no answer, that may be older than the gap.
        missSomething()
        #expect(queries.count == 2)
        stream?.nextValue(Payloads.todo("l", "one", complete: false))
        queries.last?.resolve(Payloads.todo("l", "one", complete: false))
        missSomething()
        #expect(queries.count == 1)
        following.cancel()
        retained.cancel()
    }

    /// One that is over follows nothing, though another one of the same query is in flight.
    @Test func aPersistedQueryThatHasNoStreamAnyMoreIsFetchedAgain() {
        let live = todo("l", text: nil)
        let retained = environment.retain(operation: live)
        let executions = (1...2).map { _ in Collected(environment.execute(operation: live)) }
        #expect(queries.count == 2)
        queries.first?.resolve(Payloads.todo("l", "one", complete: false))
        #expect(queries.count == 1)
        missSomething()
        #expect(queries.count == 2)
        for execution in executions { execution.cancel() }
        retained.cancel()
    }

    // MARK: What comes with a notice

    /// It comes over the new connection, so it is newer than the gap; however many streams report that.
    @Test(arguments: [GapPolicy.refetch, .invalidate], [true, false])
    func whatComesWithANoticeIsFresh(_ policy: GapPolicy, isOneBurst: Bool) {
        environment.gapPolicy = policy
        let operations = ["l", "m"].map { todo($0, text: Self.live) }
        let following = operations.map { Collected(environment.execute(operation: $0)) }
        let streams = queries
        let send = { (text: String) in
            for (id, stream) in zip(["l", "m"], streams) {
                stream.nextValue(Self.gap)
                stream.nextValue(Payloads.todo(id, text, complete: false))
            }
        }
        let isFresh = { [environment] (operation: OperationDescriptor) in
            if case .available = environment.check(operation: operation) { true } else { false }
        }
        for text in ["one", "two"] {
            if isOneBurst { ResponseBurst.gather { send(text) } } else { send(text) }
            #expect(operations.map(isFresh) == [true, true])
            clock.advance()
            #expect(operations.map(isFresh) == [true, true])
            #expect(environment.todo("m")?.text == text)
        }
        // And what came before it is not.
        ResponseBurst.gather {
            streams[1].nextValue(Payloads.todo("m", "three", complete: false))
            streams[0].nextValue(Self.gap)
            streams[0].nextValue(Payloads.todo("l", "three", complete: false))
        }
        #expect(operations.map(isFresh) == [true, false])
        clock.advance()
        streams[1].nextValue(Payloads.todo("m", "four", complete: false))
        #expect(operations.map(isFresh) == [true, true])
        streams[1].nextValue(Self.gap)
        #expect(operations.map(isFresh) == [false, false])
        for following in following { following.cancel() }
    }

    // MARK: Queries that fail

    @Test func whatCouldNotBeFetchedIsFetchedLaterAsLongAsItIsRetained() throws {
        let ids = ["a", "b", "c", "d"]
        for id in ids {
            try environment.cachePayload(TodoQuery(id: id), Payloads.todo(id, "x", complete: true))
        }
        var retained = ids.map {
            environment.retain(operation: TodoQuery(id: $0).createDescriptor())
        }
        missSomething()
        #expect(queries.count == 4)
        for request in queries { request.reject(URLError(.timedOut)) }
        #expect(queries.isEmpty && stale("a"))
        // Nobody shows this one any more, and this one has been fetched since.
        retained.removeLast().cancel()
        let fetched = Collected(environment.fetchQuery(TodoQuery(id: "c")))
        queries.first?.resolve(Payloads.todo("c", "y", complete: true))
        #expect(fetched.isFinished)
        clock.advance()
        #expect(Set(queries.map(\.variables)) == [["id": "a"], ["id": "b"]])
        // What the server says is an answer.
        environment.requests(of: TodoQuery(id: "a")).first?.resolve(
            #"{"data":null,"errors":[{"message":"no"}]}"#)
        environment.requests(of: TodoQuery(id: "b")).first?.reject(URLError(.timedOut))
        clock.advance()
        #expect(queries.map(\.variables) == [["id": "b"]])
        queries.first?.resolve(Payloads.todo("b", "z", complete: true))
        clock.advance()
        #expect(queries.isEmpty && clock.waiting.isEmpty && !stale("b"))
        for retained in retained { retained.cancel() }
    }

    @Test func anUnansweredQueryDoesNotDelayTheNextRound() throws {
        for id in ["a", "b"] {
            try environment.cachePayload(TodoQuery(id: id), Payloads.todo(id, "x", complete: true))
        }
        let retained = ["a", "b"].map {
            environment.retain(operation: TodoQuery(id: $0).createDescriptor())
        }
        missSomething()
        environment.requests(of: TodoQuery(id: "b")).first?
            .resolve(Payloads.todo("b", "y", complete: true))
        // Another gap, which waits for the round.
        missSomething()
        #expect(queries.map(\.variables) == [["id": "a"]])
        clock.advance(by: GapRecovery.roundSeconds)
        #expect(queries.isEmpty)
        clock.advance()
        #expect(Set(queries.map(\.variables)) == [["id": "a"], ["id": "b"]])
        for id in ["a", "b"] {
            environment.requests(of: TodoQuery(id: id)).first?
                .resolve(Payloads.todo(id, "z", complete: true))
        }
        #expect(clock.waiting.isEmpty)
        for retained in retained { retained.cancel() }
    }

    /// A network that says nothing more keeps nothing, once its time is over.
    @Test func nothingIsHeldOfAnEnvironmentThatIsGone() throws {
        weak var store: Store?
        do {
            let environment = MockEnvironment(scheduler: clock)
            store = environment.store
            try environment.cachePayload(
                TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
            let retained = environment.retain(operation: TodoQuery(id: "a").createDescriptor())
            environment.missedEvents()
            clock.advance()
            #expect(environment.mockNetwork.requests.count == 1)
            retained.cancel()
        }
        clock.advance(by: GapRecovery.roundSeconds)
        clock.advance()
        #expect(store == nil)
        #expect(clock.waiting.isEmpty)
    }

    /// A thousand queries may be kept; those that nobody shows wait until somebody does.
    @Test func queriesThatAreOnlyKeptAreNotFetched() throws {
        for id in ["a", "b"] {
            try environment.cachePayload(TodoQuery(id: id), Payloads.todo(id, "x", complete: true))
            try environment.keep(TodoQuery(id: id))
        }
        let shown = environment.retain(operation: TodoQuery(id: "b").createDescriptor())
        missSomething()
        #expect(queries.map(\.variables) == [["id": "b"]] && stale("a"))
        shown.cancel()
    }

    // MARK: Mutations

    /// It is no answer, but it is all that the server has said.
    @Test func aNoticeInAMutationsPlaceEndsWhatItShows() {
        let mutation = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true)))
        #expect(environment.store.snapshot.existing("a") != nil)
        environment.mostRecent?.resolve(Self.gap)
        #expect(mutation.isFinished && environment.store.snapshot.existing("a") == nil)
    }
}
