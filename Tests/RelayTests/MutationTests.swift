import Foundation
import OpenCombine
import Testing
import TodoFixtures

@testable import Relay

@Suite(.bounded) struct MutationTests {
    private let environment = MockEnvironment()

    init() throws {
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        try environment.cachePayload(TodoQuery(id: "b"), Payloads.todo("b", "B", complete: false))
    }

    private var isComplete: [Bool?] {
        [environment.todo("a")?.complete, environment.todo("b")?.complete]
    }

    @Test func promise4AMutationRunsWhenSomebodySubscribes() {
        let publisher = environment.commitMutation(
            change("a", true), optimisticResponse: optimisticStatus("a", true))
        #expect(environment.mockNetwork.executionCount == 0)
        #expect(isComplete == [false, false])
        let result = Collected(publisher)
        #expect(environment.mockNetwork.executionCount == 1)
        #expect(isComplete == [true, false])
        // Promise 46.
        #expect(environment.mostRecent?.cacheConfig.force == true)
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(result.values.first??.changeTodoStatus?.todo.complete == true)
        #expect(result.isFinished)
    }

    @Test func promise24TheOptimisticResponseGoesWhenTheRealOneComes() {
        let told = follow("a")
        let result = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true)))
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(result.isFinished)
        // No flicker: one commit takes the one away and brings the other.
        #expect(told.values.map(\.data?.node?.asTodo?.complete) == [true])
        // T8: the wire's true and a Swift true are one value.
        #expect(environment.todo("a")?.complete == true)
    }

    @Test func promise32AnErrorTakesBackWhatWasShown() throws {
        var updates = 0
        let result = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true),
                updater: { _, _ in updates += 1 }))
        #expect(isComplete == [true, false])
        environment.mostRecent?.resolve(#"{"data":null,"errors":[{"message":"no"}]}"#)
        #expect(isComplete == [false, false])
        #expect(result.error is NetworkError)
        // Promise 31.
        #expect(updates == 0)
    }

    @Test func trap1OptimisticUpdatesSurviveEachOthersAnswers() throws {
        let first = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true)))
        let requestA = try #require(environment.mostRecent)
        let second = Collected(
            environment.commitMutation(
                change("b", true), optimisticResponse: optimisticStatus("b", true)))
        let requestB = try #require(environment.mostRecent)
        #expect(isComplete == [true, true])
        requestA.resolve(Payloads.status("a", complete: true))
        #expect(isComplete == [true, true])
        try environment.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(isComplete == [true, true])
        requestB.reject(URLError(.timedOut))
        #expect(isComplete == [true, false])
        #expect(first.isFinished && second.error is URLError)
    }

    @Test func trap4CancellingRollsBackAndEndsTheRequest() {
        let mutation = change("a", true)
        let result = Collected(
            environment.commitMutation(
                mutation, optimisticResponse: optimisticStatus("a", true)))
        #expect(environment.isActive(request: mutation.createDescriptor().request))
        result.cancel()
        #expect(isComplete == [false, false])
        #expect(environment.mockNetwork.requests.isEmpty)
        #expect(!environment.isActive(request: mutation.createDescriptor().request))
    }

    private func rename(
        _ store: inout any RecordSourceSelectorProxy, _ data: SelectorData?
    ) throws {
        store["a"]?["text"] = "by a function"
    }

    /// T21: a function is as good an updater as a closure.
    @Test func trap21ClosuresAndFunctionsAreUpdaters() throws {
        let byFunction = Collected(
            environment.commitMutation(change("a", true), updater: rename))
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(environment.todo("a")?.text == "by a function")
        let byClosure = Collected(
            environment.commitMutation(
                change("a", true), updater: { store, data in store["a"]?["text"] = "by a closure" })
        )
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(environment.todo("a")?.text == "by a closure")
        #expect(byFunction.isFinished && byClosure.isFinished)
    }

    @Test func trap5TwoSubscribersRunTheUpdaterOnce() {
        var updates = 0
        let publisher = environment.commitMutation(
            change("a", true), updater: { _, _ in updates += 1 })
        let first = Collected(publisher)
        let second = Collected(publisher)
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(updates == 1 && environment.mockNetwork.executionCount == 1)
        #expect(first.values.count == 1 && second.values.count == 1)
    }

    @Test func promises25To30TheOrderOfUpdaters() {
        var steps: [String] = []
        let updater: SelectorStoreUpdater = { store, data in
            let todo = store.getRootField("changeTodoStatus")?.getLinkedRecord("todo")
            let shown = data?.get(SelectorData?.self, "changeTodoStatus")?
                .get(SelectorData?.self, "todo")?.get(Bool?.self, "complete")
            // Promise 34: the merged record has more than was requested.
            steps.append("\(shown as Any) \(todo?["text"] as? String ?? "-")")
            todo?["text"] = (todo?["text"] as? String ?? "") + "!"
        }
        let result = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true),
                optimisticUpdater: updater, updater: updater))
        #expect(environment.todo("a")?.text == "A!")
        environment.mostRecent?.resolve(Payloads.status("a", complete: true))
        #expect(environment.todo("a")?.text == "A!")
        #expect(steps == ["Optional(true) A", "Optional(true) A"])
        #expect(result.isFinished)
    }

    @Test func promise26AnOptimisticUpdaterNeedsNoResponse() {
        var data: [SelectorData?] = []
        let result = Collected(
            environment.commitMutation(
                change("a", true),
                optimisticUpdater: { store, shown in
                    data.append(shown)
                    store["a"]?["complete"] = true
                }))
        #expect(data.count == 1 && data[0] == nil)
        #expect(isComplete == [true, false])
        result.cancel()
        #expect(isComplete == [false, false])
    }

    @Test func anOptimisticResponseThatIsNoJSONIsAnError() throws {
        let result = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: ["changeTodoStatus": ["todo": Date()]]))
        let error = try #require(result.error as? OptimisticResponseError)
        #expect(error.path == "changeTodoStatus.todo")
        #expect(environment.mockNetwork.executionCount == 0)
    }

    /// Numbers that JSON has not, or that would become others on the way.
    @Test(arguments: [
        Double.nan as any Sendable, Double.infinity, Float.nan, UInt64.max,
        NSNumber(value: UInt64.max),
    ])
    func numbersThatNoResponseCanHaveAreRefused(_ number: any Sendable) throws {
        let response: [String: Any] = [
            "changeTodoStatus": ["todo": ["id": "a", "complete": number]]
        ]
        let result = Collected(
            environment.commitMutation(change("a", true), optimisticResponse: response))
        let error = try #require(result.error as? OptimisticResponseError)
        #expect(error.path == "changeTodoStatus.todo.complete")
        #expect(environment.mockNetwork.executionCount == 0)
    }

    /// Nothing of it would be shown, and nobody would know why.
    @Test func anOptimisticResponseToAnotherMutationIsAnError() throws {
        let misspelt: [String: Any] = ["changeTodoStatsu": ["todo": ["id": "a", "complete": true]]]
        let result = Collected(
            environment.commitMutation(change("a", true), optimisticResponse: misspelt))
        let error = try #require(result.error as? UnknownFieldError)
        #expect(error.path == "" && error.field == "changeTodoStatsu")
        #expect(error.fields == ["changeTodoStatus"])
        #expect(
            error.errorDescription == """
                The optimistic response cannot be used: operation \(error.operation) does not select \
                "changeTodoStatsu" at its root, but "changeTodoStatus".
                """)
        #expect(environment.mockNetwork.executionCount == 0)
    }

    @Test func aMisspeltNameFurtherInIsAnErrorToo() throws {
        let misspelt: [String: Any] = ["changeTodoStatus": ["todo": ["id": "a", "compleet": true]]]
        let result = Collected(
            environment.commitMutation(change("a", true), optimisticResponse: misspelt))
        let error = try #require(result.error as? UnknownFieldError)
        #expect(
            error.errorDescription == """
                The optimistic response cannot be used: operation \(error.operation) does not select "compleet" \
                at "changeTodoStatus.todo", but "id", "complete".
                """)
        #expect(environment.mockNetwork.executionCount == 0)
        #expect(isComplete == [false, false])
    }

    @Test(arguments: [[:], ["__typename": "Mutation"]])
    func anOptimisticResponseWithoutFieldsIsAnError(_ response: [String: String]) throws {
        let result = Collected(
            environment.commitMutation(change("a", true), optimisticResponse: response))
        let error = try #require(result.error as? EmptyOptimisticResponseError)
        #expect(
            error.errorDescription == """
                The optimistic response cannot be used: it has no fields, so \(error.operation) would show \
                nothing. Leave it out if nothing is to be shown.
                """)
        #expect(environment.mockNetwork.executionCount == 0)
    }

    @Test func anOptimisticResponseOfAnotherShapeIsAnError() throws {
        let result = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: ["changeTodoStatus": ["todo": ["a"]]]))
        let error = try #require(result.error)
        #expect(
            "\(error)" == """
                The optimistic response does not fit its operation: at "changeTodoStatus.todo": \
                Expected an object, found a list. Nothing is shown.
                """)
        #expect(environment.mockNetwork.executionCount == 0)
    }

    @Test func variablesThatJSONCannotSayAreNotSent() throws {
        func request() -> RequestDescriptor {
            RequestDescriptor(
                node: change("a", true).createDescriptor().request.node,
                variables: ["input": Double.nan])
        }
        let result = Collected(
            environment.execute(operation: OperationDescriptor(request: request())))
        #expect(result.error as? NonFiniteVariableError != nil)
        #expect(environment.mockNetwork.executionCount == 0)
        // Found again, so that nothing is left of it.
        let tracker = OperationTracker()
        tracker.begin(request())
        #expect(tracker.isActive(request()))
        tracker.end(request())
        #expect(!tracker.isActive(request()))
    }

    @Test func mutationDirectivesEditConnections() throws {
        try environment.cachePayload(UserQuery(), Payloads.user(["a", "b"]))
        let user = try #require(
            environment.lookup(
                selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self
            ).data?.user)
        let list = environment.lookup(List_user(key: user))
        let connection = try #require(list.data?.todos?.__id)
        let told = Collected(environment.subscribe(snapshot: list))
        let result = Collected(
            environment.commitMutation(
                AddTodoMutation(variables: .init(text: "new", connections: [connection]))))
        environment.mostRecent?.resolve(
            """
            {"data":{"addTodo":{"todoEdge":{"cursor":"c","node":{"id":"c","text":"new","complete":false}}}}}
            """)
        #expect(result.isFinished)
        let ids = told.values.last?.data?.todos?.edges?.compactMap { $0?.node?.id }
        #expect(ids == ["a", "b", "c"] && told.values.count == 1)
    }

    @Test func applyMutationShowsUntilItIsCancelled() throws {
        let shown = try environment.applyMutation(
            change("a", true).createDescriptor(), optimisticResponse: optimisticStatus("a", true))
        #expect(isComplete == [true, false])
        shown.cancel()
        #expect(isComplete == [false, false])
        let update = try environment.applyUpdate { $0["b"]?["complete"] = true }
        #expect(isComplete == [false, true])
        update.cancel()
        #expect(isComplete == [false, false])
    }

    private func follow(_ id: String) -> Collected<Relay.Snapshot<TodoQuery.Data>> {
        Collected(
            environment.subscribe(
                snapshot: environment.lookup(
                    selector: TodoQuery(id: id).createDescriptor().fragment,
                    as: TodoQuery.Data.self)))
    }

    @Test func oneThatItsOwnUpdaterCancelsIsNeverSent() {
        let cancelled = Holder()
        environment.commitMutation(
            change("a", true),
            optimisticUpdater: { store, _ in
                store.create(dataID: "shown", typeName: "Todo")["text"] = "x"
                cancelled.subscription?.cancel()
            }
        ).subscribe(cancelled)
        #expect(environment.mockNetwork.executionCount == 0)
        #expect(environment.store.snapshot.existing("shown") == nil)
    }

    /// A subscriber that knows its subscription before anything begins.
    private final class Holder: Subscriber {
        var subscription: (any Subscription)?

        func receive(subscription: any Subscription) {
            self.subscription = subscription
            subscription.request(.unlimited)
        }

        func receive(_ input: ChangeTodoStatusMutation.Data?) -> Subscribers.Demand { .none }
        func receive(completion: Subscribers.Completion<any Error>) {}
    }

    @Test func whatIsNotConfirmedIsListedUntilItEnds() throws {
        #expect(environment.optimisticEntries.isEmpty)
        let first = Collected(
            environment.commitMutation(
                change("a", true), optimisticResponse: optimisticStatus("a", true)))
        let request = try #require(environment.mostRecent)
        let second = Collected(environment.commitMutation(change("b", true)))
        let shown = try environment.applyMutation(
            change("b", true).createDescriptor(), optimisticResponse: optimisticStatus("b", true))
        let entries = environment.optimisticEntries
        #expect(entries.map(\.operation) == Array(repeating: "ChangeTodoStatusMutation", count: 3))
        #expect(entries.map(\.transactionID).map { $0 != nil } == [true, true, false])
        #expect(entries[0].transactionID == request.cacheConfig.transactionID)
        #expect(entries[0].variables.description == #"{input:{complete:true,id:"a"}}"#)
        #expect(entries.map { $0.records.contains(DataID("a")) } == [true, false, false])
        #expect(entries.map { $0.records.contains(DataID("b")) } == [false, false, true])
        #expect(entries.map(\.id) == entries.map(\.id).sorted())
        #expect(environment.optimisticEntries(knowing: entries) == entries)
        request.resolve(Payloads.status("a", complete: true))
        #expect(environment.optimisticEntries == Array(entries[1...]))
        shown.cancel()
        #expect(environment.optimisticEntries == [entries[1]])
        try #require(environment.mostRecent).resolve(
            #"{"data":{"changeTodoStatus":null},"errors":[{"message":"no"}]}"#)
        #expect(environment.optimisticEntries.isEmpty)
        #expect(first.isFinished && second.error is NetworkError)
    }
}
