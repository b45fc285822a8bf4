import Foundation
import OpenCombine
import Relay
@_spi(Rooms) import RelayStore
import Testing
import TodoFixtures

/// Every result is what the response said, whatever happens to the store before it is delivered.
@Suite(.bounded, .timeLimit(.minutes(10))) struct ResultTests {
    private let environment = MockEnvironment()

    private func added(_ id: String, _ text: String) -> String {
        """
        {"data":{"todoAdded":{"todo":{"id":"\(id)","text":"\(text)","complete":false}}}}
        """
    }

    /// Some servers send numbers; of one that no `Int64` holds, all digits are given.
    @Test(arguments: ["7", "18446744073709551615"]) func anIDMayBeANumber(_ id: String) throws {
        let payload = Payloads.todo("ID", "A", complete: false).replacing("\"ID\"", with: id)
        let result = Collected(environment.fetchQuery(TodoQuery(id: id)))
        environment.mostRecent?.resolve(payload)
        #expect(result.values.map { $0?.node?.asTodo?.id } == [id])
    }

    // MARK: Collections

    @Test func aCollectionBeforeTheDeliveryTakesNothingFromAMutation() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        // Whoever follows the record is told first, and cleans up.
        let following = environment.subscribe(
            snapshot: environment.lookup(
                selector: TodoQuery(id: "a").createDescriptor().fragment,
                as: TodoQuery.Data.self)
        ).sink { [environment] _ in environment.store.collectGarbage() }
        let result = Collected(environment.commitMutation(change("a", true)))
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(result.values.map { $0?.changeTodoStatus?.todo.complete } == [true])
        #expect(result.isFinished)
        following.cancel()
    }

    @Test func aCollectionInTheMiddleOfABurstTakesNothingFromThoseBehindIt() throws {
        let results = (0..<50).map { id in
            Collected(
                environment.fetchQuery(TodoQuery(id: "\(id)")).handleEvents(
                    receiveOutput: { [environment] _ in environment.store.collectGarbage() }))
        }
        let requests = environment.mockNetwork.requests
        ResponseBurst.gather {
            for (id, request) in requests.enumerated() {
                request.resolve(Payloads.todo("\(id)", "t\(id)", complete: false))
            }
        }
        #expect(
            results.map { $0.values.map { $0?.node?.asTodo?.text } } == (0..<50).map { ["t\($0)"] })
    }

    /// Its fragments too can be read by whoever it is delivered to.
    @Test func theFragmentsOfAResultAreThereWhenItIsDelivered() throws {
        var read: [String?] = []
        let result = Collected(
            environment.commitMutation(
                DeferredRenameMutation(variables: .init(id: "a", text: "A"))
            ).handleEvents(receiveOutput: { [environment] data in
                environment.store.collectGarbage()
                let todo = data?.renameTodo?.todo
                read.append(todo.flatMap { environment.lookup(Item_todo(key: $0)).data?.text })
            }))
        environment.mostRecent?.resolve(
            #"{"data":{"renameTodo":{"todo":{"id":"a","text":"A","complete":false}}}}"#)
        #expect(result.values.count == 1 && read == ["A"])
    }

    @Test func aResultThatIsKeptKeepsItsRecords() async throws {
        for id in 0..<40 {
            environment.mockResponse(
                TodoQuery(id: "\(id)"), Payloads.todo("\(id)", "t\(id)", complete: false))
        }
        var results: [OperationResult<TodoQuery.Data>] = []
        for id in 0..<40 { results.append(try await environment.fetch(TodoQuery(id: "\(id)"))) }
        environment.store.collectGarbage()
        #expect(environment.store.snapshotText(of: "0", "text") == "t0")
        results = []
        // What is let go of is known when something is written.
        try environment.commitUpdate { _ in }
        await eventually {
            environment.store.collectGarbage()
            return environment.store.snapshotText(of: "0", "text") == nil
        }
        #expect(environment.store.snapshotText(of: "39", "text") == "t39")
    }

    // MARK: Other writers

    @Test func everyEventOfABurstIsReadAtItsOwnStep() throws {
        let events = Collected(environment.requestSubscription(TodoAddedSubscription()))
        let other = Collected(
            environment.requestSubscription(
                TodoAddedSubscription(),
                updater: { store, _ in store.delete(dataID: "a") }))
        let requests = environment.mockNetwork.requests
        ResponseBurst.gather {
            requests[0].nextValue(added("a", "1"))
            requests[0].nextValue(added("a", "2"))
            requests[1].nextValue(added("a", "3"))
            requests[0].nextValue(added("b", "4"))
        }
        #expect(events.values.map { $0?.todoAdded?.todo.text } == ["1", "2", "4"])
        #expect(other.values.map { $0?.todoAdded?.todo.text } == ["3"])
        #expect(events.error == nil && other.error == nil)
        #expect(environment.store.snapshotText(of: "a", "text") == nil)
    }

    @Test func whatOthersShowOptimisticallyIsNoPartOfAResult() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        let shown = try environment.applyUpdate { $0["a"]?["text"] = "shown" }
        let result = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        environment.mostRecent?.resolve(Payloads.todo("a", "B", complete: true))
        #expect(result.values.map { $0?.node?.asTodo?.text } == ["B"])
        #expect(environment.todo("a")?.text == "shown")
        shown.cancel()
        #expect(environment.todo("a")?.text == "B")
    }

    // MARK: Events that cannot be read

    @Test func anEventThatCannotBeReadIsAnErrorAndTheStreamGoesOn() async throws {
        let results = environment.results(of: TodoAddedSubscription())
        let values = Collected(environment.requestSubscription(TodoAddedSubscription()))
        for request in environment.mockNetwork.requests {
            request.nextValue(added("a", "1"))
            // No text, which a todo cannot be without.
            request.nextValue(#"{"data":{"todoAdded":{"todo":{"id":"b","complete":false}}}}"#)
            request.nextValue(#"{"data":null,"errors":[{"message":"not for you"}]}"#)
            request.nextValue(added("c", "3"))
            request.complete()
        }
        #expect(values.values.map { $0?.todoAdded?.todo.text } == ["1", nil, nil, "3"])
        #expect(values.isFinished)
        var errors: [[GraphQLError]] = []
        for try await result in results { errors.append(result.errors) }
        #expect(errors.map(\.count) == [0, 1, 1, 0])
        #expect(
            errors[1].first?.path == ["todoAdded", "todo", "text"].map { .key($0) })
        #expect(errors[2].first?.message == "not for you")
    }

    /// Nor does one end it that is no GraphQL response at all.
    @Test(arguments: [
        "x", "[]", #"{"data":3}"#, #"{"data":{"todoAdded":{"todo":{"id":1e999}}}}"#,
    ])
    func anEventThatIsNoResponseIsAnErrorAndTheStreamGoesOn(_ event: String) async throws {
        let told = Collected(environment.eventPublisher)
        let results = environment.results(of: TodoAddedSubscription())
        let values = Collected(environment.requestSubscription(TodoAddedSubscription()))
        for request in environment.mockNetwork.requests {
            request.nextValue(event)
            request.nextValue(added("c", "3"))
            request.complete()
        }
        #expect(values.values.map { $0?.todoAdded?.todo.text } == [nil, "3"])
        #expect(values.isFinished && values.error == nil)
        var errors: [[GraphQLError]] = []
        for try await result in results { errors.append(result.errors) }
        #expect(errors.map(\.count) == [1, 0])
        // Whoever looks at data alone finds it in the log.
        let failures = told.values.filter { $0.name == .executeError }
        #expect(failures.count == 2)
        #expect(failures.allSatisfy { $0.operation == "TodoAddedSubscription" && $0.error != nil })
    }

    /// Without a word of data it is no event: the server refuses the operation.
    @Test func aSubscriptionThatIsRefusedFails() throws {
        let values = Collected(environment.requestSubscription(TodoAddedSubscription()))
        environment.mostRecent?.nextValue(#"{"errors":[{"message":"no such field"}]}"#)
        #expect(values.values.isEmpty && values.error is NetworkError)
    }

    /// Behind an event it is one that came to nothing, unless the stream ends with it.
    @Test(arguments: [false, true])
    func errorsAloneBehindAnEventAreNoEnd(isLast: Bool) async throws {
        let results = environment.results(of: TodoAddedSubscription())
        let values = Collected(environment.requestSubscription(TodoAddedSubscription()))
        for request in environment.mockNetwork.requests {
            request.nextValue(added("a", "1"))
            request.nextValue(#"{"errors":[{"message":"not now"}]}"#)
            if !isLast { request.nextValue(added("b", "2")) }
            request.complete()
        }
        #expect(
            values.values.map { $0?.todoAdded?.todo.text } == ["1", nil] + (isLast ? [] : ["2"]))
        #expect(values.isFinished != isLast && values.error is NetworkError == isLast)
        var messages: [[String]] = []
        do {
            for try await result in results { messages.append(result.errors.map(\.message)) }
        } catch {
            #expect(isLast && error is NetworkError)
        }
        #expect(messages == [[], ["not now"]] + (isLast ? [] : [[]]))
    }

    /// Nor are they one behind a result of a live query.
    @Test func errorsAloneBehindALiveResultAreNoEnd() throws {
        let results = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        let request = try #require(environment.mostRecent)
        request.nextValue(Payloads.todo("a", "1", complete: false))
        request.nextValue(#"{"errors":[{"message":"not now"}]}"#)
        request.nextValue(Payloads.todo("a", "2", complete: false))
        request.complete()
        #expect(
            results.values.map { $0?.node?.asTodo?.text } == ["1", nil, "2"] && results.isFinished)
    }

    // MARK: Updaters

    @Test func theRootOfAnUpdaterIsTheStoresWhateverTheOperation() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        let query = TodoQuery(id: "a").createDescriptor()
        let kept = environment.retain(operation: query)
        var roots: [String] = []
        func updater(
            _ store: inout any RecordSourceSelectorProxy, _ data: SelectorData?
        ) {
            roots.append(store.root.dataID.rawValue)
            #expect(store.root.getLinkedRecord("node", args: ["id": "a"])?.dataID == "a")
            store.invalidateStore()
        }
        let mutation = Collected(environment.commitMutation(change("a", true), updater: updater))
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(mutation.isFinished && environment.check(operation: query) == .stale)

        environment.mockResponse(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        let again = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        #expect(again.isFinished && environment.check(operation: query) != .stale)
        let events = Collected(
            environment.requestSubscription(TodoAddedSubscription(), updater: updater))
        environment.mostRecent?.nextValue(added("b", "B"))
        #expect(events.values.count == 1 && environment.check(operation: query) == .stale)
        #expect(roots == ["client:root", "client:root"])
        kept.cancel()
    }

    @Test func cancellingInsideOnesOwnOptimisticUpdaterTakesBackWhatItShows() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        var subscription: AnyCancellable?
        var runs = 0
        subscription = environment.commitMutation(
            change("a", true),
            optimisticUpdater: { store, _ in
                runs += 1
                store["a"]?["text"] = "shown"
                if runs == 2 { subscription?.cancel() }
            }
        ).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        #expect(environment.todo("a")?.text == "shown")
        // Another change has the updater run again.
        try environment.commitUpdate { $0["a"]?["complete"] = true }
        #expect(runs == 2 && environment.mockNetwork.requests.isEmpty)
        #expect(environment.todo("a")?.text == "A")
        #expect(try environment.store.confirmed.pending.isEmpty)

        var shown: AnyCancellable?
        shown = try environment.applyUpdate { store in
            store["a"]?["text"] = "shown"
            shown?.cancel()
        }
        #expect(environment.todo("a")?.text == "shown")
        try environment.commitUpdate { $0["a"]?["complete"] = false }
        #expect(environment.todo("a")?.text == "A")
    }
}
