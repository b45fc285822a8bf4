import Foundation
import OpenCombine
@_spi(Rooms) import RelayStore
import Testing
import Threads
import TodoFixtures

@testable import Relay

/// Queries that are kept from run to run. Collections are only those that a test asks for.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct KeptQueryTests {
    private func environment(
        _ records: RelayStore.Snapshot = RelayStore.Snapshot()
    ) -> (Environment, MockNetwork) {
        var options = StoreOptions()
        options.schedule = { _ in }
        options.releaseBufferSize = 0
        let network = MockNetwork()
        network.answer { _, variables in
            guard case .string(let id)? = variables["id"] else { return nil }
            return Data(Payloads.todo(id, "text of \(id)", complete: false).utf8)
        }
        return (Environment(network: network, store: Store(records, options: options)), network)
    }

    /// What the next run of the program finds.
    private func restarted(_ environment: Environment) throws -> Environment {
        self.environment(try environment.store.confirmed).0
    }

    /// Also when many are kept at once.
    @Test func noMoreAreKeptThanTheLimit() async throws {
        let store = environment().0.store
        let kept = KeptQueries(store, limit: 5)
        await withTaskGroup { tasks in
            for number in 0..<64 {
                tasks.addTask {
                    try? kept.keep(TodoQuery(id: "\(number)").createDescriptor())
                }
            }
        }
        #expect(kept.all.count == 5)
    }

    private func text(_ environment: Environment, _ id: String) -> String? {
        environment.store.snapshotText(of: id, "text")
    }

    private func fetch(_ environment: Environment, _ id: String) {
        _ = Collected(environment.fetchQuery(TodoQuery(id: id)))
    }

    /// Each commit costs a place in the journal.
    @Test func theResultsOfALiveQueryAreNotedOnceAMinute() throws {
        let (environment, network) = environment()
        let query = LiveTodosQuery(variables: EmptyVariables())
        try environment.keep(query)
        let following = Collected(environment.publisher(of: query))
        func show(_ count: Int) -> UInt64 {
            let before = environment.store.snapshot.sequence
            network.requests.first?.nextValue(
                #"{"data":{"user":{"id":"U","totalCount":\#(count),"todos":null}}}"#)
            return environment.store.snapshot.sequence - before
        }
        #expect((1...3).map(show) == [2, 1, 1])
        #expect(environment.keptQueries.map(\.content) == [.complete])
        #expect(environment.keptQueries.first?.fetchedAt != nil)
        // The first one of the next stream is written down again.
        following.cancel()
        let again = Collected(environment.publisher(of: query))
        #expect(show(4) == 2)
        again.cancel()
    }

    @Test func whatIsKeptIsThereInTheNextRun() throws {
        let (first, _) = environment()
        try first.keep(TodoQuery(id: "a"))
        #expect(first.keptQueries.map(\.content) == [.incomplete])
        #expect(first.keptQueries.first?.fetchedAt == nil)
        fetch(first, "a")
        fetch(first, "b")
        #expect(first.keptQueries.map(\.content) == [.complete])

        let second = try restarted(first)
        // Nothing is collected before the program has named what is kept.
        second.store.collectGarbage()
        #expect(text(second, "a") != nil && text(second, "b") != nil)
        let found = try #require(second.keptQueries.first)
        #expect(found.name == "TodoQuery" && found.variables == ["id": "a"])
        #expect(found.content == .unnamed && found.fetchedAt != nil)

        try second.keep(TodoQuery(id: "a"))
        #expect(second.keptQueries.map(\.content) == [.cached])
        #expect(second.keptQueries.first?.fetchedAt == found.fetchedAt)
        second.store.collectGarbage()
        #expect(text(second, "a") != nil && text(second, "b") == nil)
        #expect(second.keptQueries.count == 1)

        // And in the run after that, however often it is collected.
        let third = try restarted(second)
        try third.keep(TodoQuery(id: "a"))
        for _ in 0..<3 { third.store.collectGarbage() }
        #expect(third.keptQueries.map(\.content) == [.cached])
        let told = Noted()
        let preparing = QueryResource(environment: third)
            .prepare(operation: TodoQuery(id: "a").createDescriptor(), fetchPolicy: .storeOnly)
            .sink { told.results.append($0) }
        #expect(
            try told.results.map { try $0?.get().source } == [.cached(found.fetchedAt)])
        withExtendedLifetime(preparing) {}
    }

    // MARK: Responses that come in parts

    private static let begun =
        #"{"data":{"node":{"__typename":"Todo","id":"a","text":"A","complete":false}},"hasNext":true}"#
    private static let part =
        #"{"incremental":[{"path":["node"],"data":{"text":"A","complete":false}}],"hasNext":false}"#

    private func asked(_ records: RelayStore.Snapshot = RelayStore.Snapshot()) throws -> (
        Environment, Collected<DeferredTodoQuery.Data?>, MockNetwork.Request
    ) {
        var options = StoreOptions()
        options.schedule = { _ in }
        let network = MockNetwork()
        let environment = Environment(
            network: network, store: Store(records, options: options))
        let query = DeferredTodoQuery(variables: .init(id: "a"))
        try environment.keep(query)
        let result = Collected(environment.fetchQuery(query))
        return (environment, result, try #require(network.requests.first))
    }

    @Test(arguments: [part, #"{"hasNext":false}"#])
    func anErrorOfAnEarlierPartIsNotForgotten(_ last: String) throws {
        let (environment, result, request) = try asked()
        let error = #","errors":[{"message":"no"}]}"#
        request.nextValue(String(Self.begun.dropLast()) + error)
        request.nextValue(
            #"{"incremental":[{"path":["node"],"data":{"complete":true}}],"hasNext":true}"#)
        request.nextValue(last)
        request.complete()
        #expect(environment.keptQueries.map(\.content) == [.cached])
        #expect(environment.keptQueries.first?.fetchedAt == nil)
        withExtendedLifetime(result) {}
    }

    /// What the store has may be half of a list.
    @Test func aQueryWhoseAnswerWasCutIsNotWhole() throws {
        let (environment, result, request) = try asked()
        request.nextValue(Self.begun)
        #expect(environment.keptQueries.map(\.content) == [.incomplete])
        request.reject(URLError(.networkConnectionLost))
        #expect(environment.keptQueries.map(\.content) == [.incomplete])

        // In the next run, too, until it is fetched whole.
        let (next, again, second) = try asked(try environment.store.confirmed)
        #expect(next.keptQueries.map(\.content) == [.incomplete])
        // So the network is asked, though the store could show something.
        let told = Noted()
        let preparing = QueryResource(environment: next)
            .prepare(
                operation: DeferredTodoQuery(variables: .init(id: "a")).createDescriptor(),
                cacheConfig: .init(), fetchPolicy: .storeOrNetwork
            ).sink { told.results.append($0) }
        #expect(told.results.count == 1 && told.results[0] == nil)
        second.nextValue(Self.begun)
        second.nextValue(Self.part)
        #expect(next.keptQueries.map(\.content) == [.complete])
        second.complete()
        let (last, _, _) = try asked(try next.store.confirmed)
        #expect(last.keptQueries.map(\.content) == [.cached])
        withExtendedLifetime((result, again, preparing)) {}
    }

    /// A query is kept, or kept no more and again, while its parts come, or after they have broken off.
    @Test(arguments: [true, false], [true, false])
    func itIsNotWholeWheneverItIsKept(_ isCutBefore: Bool, _ isKeptTwice: Bool) throws {
        var options = StoreOptions()
        options.schedule = { _ in }
        let network = MockNetwork()
        let environment = Environment(network: network, store: Store(options: options))
        let query = DeferredTodoQuery(variables: .init(id: "a"))
        let result = Collected(environment.fetchQuery(query))
        let request = try #require(network.requests.first)
        request.nextValue(Self.begun)
        if isCutBefore { request.reject(URLError(.networkConnectionLost)) }
        try environment.keep(query)
        if isKeptTwice {
            try environment.stopKeeping(query)
            try environment.keep(query)
        }
        if !isCutBefore { request.reject(URLError(.networkConnectionLost)) }
        #expect(environment.keptQueries.map(\.content) == [.incomplete])
        let (next, again, second) = try asked(try environment.store.confirmed)
        #expect(next.keptQueries.map(\.content) == [.incomplete])
        second.nextValue(Self.begun)
        second.nextValue(Self.part)
        #expect(next.keptQueries.map(\.content) == [.complete])
        withExtendedLifetime((result, again)) {}
    }

    /// Nor is it shown as whole where it is not kept.
    @Test func storeOrNetworkAsksForAQueryWhoseAnswerWasCut() throws {
        let network = MockNetwork()
        let environment = Environment(network: network, store: Store())
        let query = DeferredTodoQuery(variables: .init(id: "a"))
        let operation = query.createDescriptor()
        let result = Collected(environment.fetchQuery(query))
        network.requests.first?.nextValue(Self.begun)
        network.requests.first?.reject(URLError(.networkConnectionLost))
        let told = Noted()
        let preparing = QueryResource(environment: environment)
            .prepare(operation: operation).sink { told.results.append($0) }
        #expect(told.results.count == 1 && told.results[0] == nil)
        network.requests.first?.nextValue(Self.begun)
        network.requests.first?.nextValue(Self.part)
        let later = Noted()
        let shown = QueryResource(environment: environment)
            .prepare(operation: operation).sink { later.results.append($0) }
        #expect(later.results.count == 1 && later.results[0] != nil)
        withExtendedLifetime((result, preparing, shown)) {}
    }

    private final class Noted {
        var results: [Result<QueryResource.QueryResult, any Error>?] = []
    }

    @Test func whatIsNotKeptAnyMoreIsCollected() throws {
        let (first, _) = environment()
        for id in ["a", "b"] {
            try first.keep(TodoQuery(id: id))
            fetch(first, id)
        }
        try first.stopKeeping(TodoQuery(id: "a"))
        try first.stopKeeping(TodoQuery(id: "never kept"))
        first.store.collectGarbage()
        #expect(text(first, "a") == nil && text(first, "b") != nil)
        #expect(first.keptQueries.map(\.variables) == [["id": "b"]])

        // A query that the program does not have any more is let go of by what the list says.
        let second = try restarted(first)
        for query in second.keptQueries { try second.stopKeeping(query) }
        second.store.collectGarbage()
        #expect(text(second, "b") == nil && second.keptQueries.isEmpty)
    }

    @Test func keepingTwiceIsKeepingOnce() throws {
        let (environment, _) = environment()
        for _ in 0..<2 { try environment.keep(TodoQuery(id: "a")) }
        fetch(environment, "a")
        #expect(environment.keptQueries.count == 1)
        try environment.stopKeeping(TodoQuery(id: "a"))
        environment.store.collectGarbage()
        #expect(text(environment, "a") == nil)
    }

    /// The list is no query: where queries that somebody retains are fetched again, it is not.
    /// Whoever sees it on the list finds it retained, and takes away both.
    @Test func oneThatIsStoppedWhileItIsBeingKeptIsNotKept() throws {
        let (environment, _) = environment()
        let query = TodoQuery(id: "a")
        let hasStopped = Lock(false)
        let listening = environment.log.listen { [weak environment] _ in
            guard let environment, !environment.keptQueries.isEmpty,
                hasStopped.withLock({ hasStopped in
                    defer { hasStopped = true }
                    return !hasStopped
                })
            else { return }
            try? environment.stopKeeping(query)
        }
        try environment.keep(query)
        listening.cancel()
        #expect(hasStopped.withLock { $0 } && environment.keptQueries.isEmpty)
        fetch(environment, "a")
        environment.store.collectGarbage()
        #expect(text(environment, "a") == nil)
        try environment.keep(query)
        #expect(try restarted(environment).keptQueries.count == 1)
    }

    /// Many are kept and stopped at once; for each that does not fit any more, another is there.
    @Test func whatIsKeptIsOnTheListAndRetainedHoweverMuchIsStopped() async throws {
        let (first, _) = environment()
        let count = 40
        for number in 0..<count {
            try first.keep(TodoQuery(id: "\(number)"))
            fetch(first, "\(number)")
        }
        var options = StoreOptions()
        options.schedule = { _ in }
        options.releaseBufferSize = 0
        let store = Store(try first.store.confirmed, options: options)
        let kept = KeptQueries(store, limit: count)
        await withTaskGroup { tasks in
            for number in 0..<count {
                let query = TodoQuery(id: "\(number)").createDescriptor()
                tasks.addTask { try? kept.keep(query) }
                tasks.addTask {
                    try? kept.stopKeeping("TodoQuery", query.request.variables)
                    try? kept.keep(TodoQuery(id: "other \(number)").createDescriptor())
                }
            }
        }
        store.collectGarbage()
        let listed = Set(kept.all.map { "\($0.variables)" })
        for id in (0..<count).flatMap({ ["\($0)", "other \($0)"] }) {
            let request = TodoQuery(id: id).createDescriptor().request
            #expect(kept.contains(request) == listed.contains("\(request.variables)"))
            if !id.hasPrefix("other") {
                #expect(kept.contains(request) == (store.snapshotText(of: id, "text") != nil))
            }
        }
    }

    @Test func theListIsNeverFetched() async throws {
        let (environment, network) = environment()
        try environment.keep(TodoQuery(id: "a"))
        let shown = environment.retain(operation: TodoQuery(id: "a").createDescriptor())
        defer { shown.cancel() }
        environment.missedEvents()
        await eventually { environment.keptQueries.map(\.content) == [.complete] }
        #expect(network.executionCount == 1)
        #expect(environment.keptQueries.map(\.content) == [.complete])
    }

    @Test func queriesThatAreNeverNamedHoldCollectionsBackUntilTheStoreHasDoubled() throws {
        let (first, _) = environment()
        try first.keep(TodoQuery(id: "a"))
        fetch(first, "a")
        let second = try restarted(first)
        second.store.collectGarbage()
        #expect(text(second, "a") != nil)
        try second.commitUpdate { source in
            for number in 0..<10_100 {
                source.create(dataID: DataID("n\(number)"), typeName: "Todo")["text"] = "n"
            }
        }
        second.store.collectGarbage()
        #expect(text(second, "a") == nil && text(second, "n1") == nil)
        // It is known all the same, and can be fetched again.
        try second.keep(TodoQuery(id: "a"))
        #expect(second.keptQueries.map(\.content) == [.incomplete])
    }

    @Test func atTheBoundsKeepingFails() throws {
        let store = Store()
        let kept = KeptQueries(store, limit: 2)
        func code(_ operation: OperationDescriptor) -> KeptQueryError.Code? {
            do { try kept.keep(operation) } catch { return (error as? KeptQueryError)?.code }
            return nil
        }
        let long = String(repeating: "x", count: 70_000)
        #expect(code(change("a", true).createDescriptor()) == .notAQuery)
        #expect(code(TodoQuery(id: long).createDescriptor()) == .tooLarge)
        #expect(code(TodoQuery(id: "a").createDescriptor()) == nil)
        #expect(code(TodoQuery(id: "b").createDescriptor()) == nil)
        #expect(code(TodoQuery(id: "c").createDescriptor()) == .tooMany)
        #expect(code(TodoQuery(id: "a").createDescriptor()) == nil)
        #expect(kept.all.count == 2)
    }
}
