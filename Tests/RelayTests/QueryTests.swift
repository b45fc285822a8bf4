import Foundation
import OpenCombine
import Relay
import Testing
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10)))
struct QueryTests {
    @Test func promise3FetchQueryGivesTheDataAndKeepsItInTheStore() throws {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(UserQuery()))
        let request = try #require(environment.mostRecent)
        #expect(request.parameters.name == "UserQuery")
        #expect(request.parameters.operationKind == .query)
        // T18: the default of `$id` is sent and counts in storage keys.
        #expect(request.variables == ["id": "me"])
        request.resolve(Payloads.user(["a", "b"]))
        let user = try #require(result.values.first??.user)
        #expect(result.isFinished && user.totalCount == 2)

        let list = environment.lookup(List_user(key: user))
        #expect(!list.isMissingData)
        let edges = try #require(list.data?.todos?.edges)
        #expect(edges.compactMap { $0?.node?.id } == ["a", "b"])
        let item = try #require(edges[1]?.node)
        #expect(environment.lookup(Item_todo(key: item)).data?.text == "tb")
    }

    @Test func promise50AQueryMaySucceedWithoutData() throws {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(UserQuery()))
        environment.mostRecent?.resolve(#"{"data":null}"#)
        #expect(result.values.count == 1 && result.values[0] == nil)
        #expect(result.isFinished)
    }

    @Test(arguments: [
        #"{"data":null,"errors":[{"message":"no","path":["user",0],"locations":[{"line":1,"column":2}],"extensions":{"code":"FORBIDDEN"}}]}"#,
        #"{"errors":[{"message":"no","path":["user",0],"locations":[{"line":1,"column":2}],"extensions":{"code":"FORBIDDEN"}}]}"#,
    ])
    func trap6ErrorsWithoutDataAreANetworkErrorHoweverTheyAreSent(_ response: String) throws {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(UserQuery()))
        environment.mostRecent?.resolve(response)
        let error = try #require(result.error as? NetworkError)
        #expect(
            error.errors == [
                Relay.GraphQLError(
                    message: "no", locations: [.init(line: 1, column: 2)],
                    path: [.key("user"), .index(0)], extensions: ["code": "FORBIDDEN"])
            ])
        #expect(error.errors.first?.code == "FORBIDDEN")
        #expect(error.operation === UserQuery.node && error.variables == ["id": "me"])
        #expect(!environment.isActive(request: UserQuery().createDescriptor().request))
    }

    @Test func trap7ErrorsBesideDataReachTheCallerAndTheReader() async throws {
        let environment = MockEnvironment()
        try environment.mockResponse(
            TodoQuery(id: "a"),
            [
                "data": ["node": NSNull()],
                "errors": [["message": "gone", "path": ["node"]]],
            ])
        let result = try await environment.fetch(TodoQuery(id: "a"))
        #expect(result.errors.map(\.message) == ["gone"])
        let snapshot = environment.lookup(
            selector: TodoQuery(id: "a").createDescriptor().fragment, as: TodoQuery.Data.self)
        #expect(snapshot.errors.map(\.message) == ["gone"])
    }

    @Test(arguments: [
        "", "nonsense", "[]", "{}", #"{"data":7}"#, #"{"data":{"node":"text"}}"#,
        #"{"data":{"node":{"__typename":"Todo","id":{},"text":[],"complete":{"a":1}}}}"#,
        #"{"data":{"node":{"__typename":7,"id":7,"text":7,"complete":7}}}"#,
    ])
    func trap12NoResponseKillsTheProcess(_ response: String) {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        environment.mostRecent?.resolve(response)
        #expect(result.error != nil || result.isFinished)
    }

    @Test func trap16DataThatDoesNotFitIsAnErrorWithItsPlace() throws {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(TodoQuery(id: "a")))
        environment.mostRecent?.resolve(
            #"{"data":{"node":{"__typename":"Todo","id":"a","text":"x","complete":"yes"}}}"#)
        let error = try #require(result.error as? ReadError)
        #expect(error.path == ["node", "complete"])
        #expect(error.reason == .mismatch(expected: "boolean"))
    }

    @Test func trap14ResultsComeWithoutAMainRunLoop() async throws {
        let environment = MockEnvironment()
        environment.mockResponse(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
        let result = try await environment.fetch(TodoQuery(id: "a"))
        #expect(result.data?.node?.asTodo?.complete == true)
    }

    @Test func trap17OnlyWhatChangedIsToldAndOnlyWhenItDid() throws {
        let environment = MockEnvironment()
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: false))
        try environment.cachePayload(TodoQuery(id: "b"), Payloads.todo("b", "y", complete: false))
        let snapshot = environment.lookup(
            selector: TodoQuery(id: "a").createDescriptor().fragment, as: TodoQuery.Data.self)
        let told = Collected(environment.subscribe(snapshot: snapshot))
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: false))
        try environment.cachePayload(TodoQuery(id: "b"), Payloads.todo("b", "z", complete: false))
        #expect(told.values.isEmpty)
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: true))
        #expect(told.values.map(\.data?.node?.asTodo?.complete) == [true])
        told.cancel()
        try environment.cachePayload(TodoQuery(id: "a"), Payloads.todo("a", "x", complete: false))
        #expect(told.values.count == 1)
    }

    @Test func cancellingAQueryTellsTheNetwork() {
        let environment = MockEnvironment()
        let result = Collected(environment.fetchQuery(UserQuery()))
        #expect(environment.isActive(request: UserQuery().createDescriptor().request))
        result.cancel()
        #expect(environment.mockNetwork.requests.isEmpty)
        #expect(!environment.isActive(request: UserQuery().createDescriptor().request))
    }
}
