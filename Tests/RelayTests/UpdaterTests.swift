import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded) struct UpdaterTests {
    private let environment = MockEnvironment()

    init() throws {
        try environment.cachePayload(UserQuery(), Payloads.user(["a"]))
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "A", complete: false))
        try environment.cachePayload(TodoQuery(id: "b"), Payloads.todo("b", "B", complete: false))
    }

    private func commit(
        _ mutation: ChangeTodoStatusMutation, optimisticResponse: [String: Any]? = nil,
        optimisticUpdater: SelectorStoreUpdater? = nil, updater: SelectorStoreUpdater? = nil
    ) throws -> (Collected<ChangeTodoStatusMutation.Data?>, MockNetwork.Request) {
        let result = Collected(
            environment.commitMutation(
                mutation, optimisticResponse: optimisticResponse,
                optimisticUpdater: optimisticUpdater, updater: updater))
        return (result, try #require(environment.mostRecent))
    }

    private var list: [String?]? {
        environment.lookup(
            selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self
        ).data?.user
            .flatMap { environment.lookup(List_user(key: $0)).data?.todos?.edges }
            .map { $0.map { $0?.node?.id } }
    }

    @Test func promises7And30TheResponseMeetsACleanSlate() throws {
        let (result, request) = try commit(
            change("a", true), optimisticResponse: optimisticStatus("a", true),
            optimisticUpdater: { store, _ in
                let draft = store.create(dataID: "draft", typeName: "Todo")
                draft["text"] = "shown for now"
                store["a"]?["text"] = "shown"
            },
            updater: { store, _ in
                #expect(store["draft"] == nil)
                #expect(store["a"]?["text"] as? String == "A")
                store["a"]?["text"] = "confirmed"
            })
        #expect(environment.todo("a")?.text == "shown")
        #expect(environment.store.snapshotText(of: "draft", "text") == "shown for now")
        request.resolve(Payloads.status("a", complete: true))
        #expect(result.isFinished)
        #expect(environment.todo("a")?.text == "confirmed")
        #expect(environment.store.snapshotText(of: "draft", "text") == nil)
    }

    /// A store from disk may be read before any response comes.
    @Test func whatIsReadTellsUpdatersHowItsFieldsAreCalled() throws {
        let environment = MockEnvironment()
        _ = environment.lookup(
            selector: UserQuery(id: "nobody").createDescriptor().fragment, as: UserQuery.Data.self)
        try environment.commitUpdate { store in
            let user = store.create(dataID: "u", typeName: "User")
            store.root.setLinkedRecord("user", args: ["id": VariableValue.null], record: user)
            #expect(store.root.getLinkedRecord("user", args: nil) == nil)
        }
    }

    /// Its updater, or another, may name the field before the response comes.
    @Test func whatIsAskedForTellsUpdatersHowItsFieldsAreCalled() throws {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(UserQuery(id: "nobody")))
        try environment.commitUpdate { store in
            let user = store.create(dataID: "u", typeName: "User")
            store.root.setLinkedRecord("user", args: ["id": VariableValue.null], record: user)
            #expect(store.root.getLinkedRecord("user", args: nil) == nil)
        }
        #expect(!result.isFinished)
    }

    /// Not into the store, and not into what the store's writer has for itself.
    @Test func whatIsWrittenToAKeptRecordLaterGoesNowhere() throws {
        var kept: (any RecordProxy)?
        try environment.commitUpdate { store in
            kept = store["a"]
            kept?["text"] = "written"
        }
        let record = try #require(kept)
        record["text"] = "too late"
        record["more"] = "too late"
        record.setLinkedRecord("other", record: record)
        #expect(record["text"] as? String == "written" && record["more"] == nil)
        #expect(environment.todo("a")?.text == "written")
    }

    @Test func promise23AnOptimisticResponseIsShownAtOnce() throws {
        let publisher = environment.commitMutation(
            change("a", true), optimisticResponse: optimisticStatus("a", true))
        #expect(environment.todo("a")?.complete == false)
        let result = Collected(publisher)
        #expect(environment.todo("a")?.complete == true)
        #expect(result.values.isEmpty)
        result.cancel()
    }

    @Test func promise27TheUpdaterRunsOnceTheResponseIsInTheStore() throws {
        var seen: [Any?] = []
        let (result, request) = try commit(
            change("a", true),
            updater: { store, _ in seen.append(store["a"]?["complete"]) })
        #expect(seen.isEmpty)
        request.resolve(Payloads.status("a", complete: true))
        #expect(seen.count == 1 && seen[0] as? Bool == true)
        #expect(result.isFinished)
    }

    @Test(arguments: [
        #"{"data":null,"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no"}]}"#,
        "no response",
    ])
    func promise31ErrorsDoNotRunUpdaters(_ response: String) throws {
        var updates = 0
        let (result, request) = try commit(
            change("a", true), updater: { _, _ in updates += 1 })
        request.resolve(response)
        #expect(updates == 0 && result.error != nil)
        let (failed, second) = try commit(change("a", true), updater: { _, _ in updates += 1 })
        second.reject(URLError(.timedOut))
        #expect(updates == 0 && failed.error is URLError)
    }

    /// A root field that may be null says that a mutation was refused where another has no data at all.
    @Test(arguments: [
        #"{"data":{"changeTodoStatus":null},"errors":[{"message":"no"}]}"#,
        #"{"errors":[{"message":"no"}],"data":{"__typename":"Mutation","changeTodoStatus":null}}"#,
    ])
    func aRefusalOfTheOnlyFieldRunsNoUpdater(_ response: String) throws {
        var updates = 0
        let (result, request) = try commit(
            change("a", true), updater: { _, _ in updates += 1 })
        request.resolve(response)
        #expect(updates == 0)
        #expect((result.error as? NetworkError)?.errors.map(\.message) == ["no"])
    }

    /// It was carried out.
    @Test(arguments: [
        #"{"data":{"changeTodoStatus":null}}"#,
        #"{"data":{"changeTodoStatus":{"todo":{"id":"a","complete":true}}},"errors":[{"message":"?"}]}"#,
    ])
    func errorsBesideItsDataAreNoRefusal(_ response: String) throws {
        var updates = 0
        let (result, request) = try commit(
            change("a", true), updater: { _, _ in updates += 1 })
        request.resolve(response)
        #expect(updates == 1 && result.isFinished)
    }

    @Test func promise33DataThatMissesWhatItNeedsIsNil() throws {
        var data: [SelectorData?] = []
        var roots: [DataID?] = []
        let note: SelectorStoreUpdater = { store, shown in
            data.append(shown)
            roots.append(store.getRootField("changeTodoStatus")?.getLinkedRecord("todo")?.dataID)
        }
        let (result, request) = try commit(
            change("new", true), optimisticResponse: ["changeTodoStatus": ["todo": ["id": "new"]]],
            optimisticUpdater: note, updater: note)
        request.resolve(#"{"data":{"changeTodoStatus":{"todo":{"id":"new"}}}}"#)
        // `complete` has to be there, and is not; the records that came are there all the same.
        #expect(data.count == 2 && data.allSatisfy { $0 == nil })
        #expect(roots == ["new", "new"])
        #expect((result.error as? ReadError)?.path == ["changeTodoStatus", "todo", "complete"])
        let (_, whole) = try commit(change("new", true), updater: note)
        whole.resolve(Payloads.status("new", complete: true))
        #expect(data.last??.get(SelectorData?.self, "changeTodoStatus") != nil)
    }

    @Test func promise34RootFieldsAreMergedRecords() throws {
        var text: Any?
        let (result, request) = try commit(
            change("a", true),
            updater: { store, _ in
                text = store.getRootField("changeTodoStatus")?.getLinkedRecord("todo")?["text"]
            })
        request.resolve(Payloads.status("a", complete: true))
        #expect(text as? String == "A" && result.isFinished)
    }

    @Test func promise35OneFunctionCanBeBothUpdaters() throws {
        let addToList: SelectorStoreUpdater = { store, _ in
            guard let todo = store.getRootField("changeTodoStatus")?.getLinkedRecord("todo"),
                let user = store["U"],
                let connection = ConnectionHandler.default.getConnection(user, key: "List_todos")
            else { return }
            let edge = ConnectionHandler.default.createEdge(
                &store, connection: connection, node: todo, type: "TodoEdge")
            ConnectionHandler.default.insert(connection: connection, edge: edge)
        }
        let (result, request) = try commit(
            change("b", true), optimisticResponse: optimisticStatus("b", true),
            optimisticUpdater: addToList, updater: addToList)
        #expect(list == ["a", "b"])
        // Runs again on the new state, and adds nothing twice.
        try environment.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(list == ["a", "b"])
        request.resolve(Payloads.status("b", complete: true))
        #expect(list == ["a", "b"] && result.isFinished)
    }

    @Test func promise36RecordsMergeByTheirID() throws {
        let (result, request) = try commit(change("a", true))
        request.resolve(Payloads.status("a", complete: true))
        #expect(result.isFinished)
        // What the mutation did not select stays; what it did select is new wherever it is shown.
        #expect(environment.todo("a")?.text == "A" && environment.todo("a")?.complete == true)
    }

    @Test func promise37AnIDNamesOneRecordWhateverTypesItComesWith() throws {
        try environment.cachePayload(
            UserQuery(id: "other"),
            #"{"data":{"user":{"id":"a","userId":"other","totalCount":0,"todos":null}}}"#)
        try environment.commitUpdate { store in
            let record = try #require(store["a"])
            #expect(record.typeName == "User")
            #expect(record["userId"] as? String == "other")
        }
    }
}
