import Foundation
import OpenCombine
import Relay
import Testing
import Threads
import TodoFixtures

@Suite(.bounded, .timeLimit(.minutes(10)))
struct PaginationTests {
    private let environment = MockEnvironment()
    private let list: List_user

    init() throws {
        environment.answer { Self.page($0.request.variables, name: $0.request.node.params.name) }
        let fetched = Collected(environment.fetchQuery(UserQuery()))
        list = List_user(key: try #require(fetched.values.first??.user))
    }

    /// Todos 0 to 6, as a server pages them: the first query gives two.
    private static func page(_ variables: VariableData, name: String) -> Data? {
        let start = variables["cursor"]?.stringValue.flatMap { Int($0) }.map { $0 + 1 } ?? 0
        let count = name == "UserQuery" ? 2 : variables["count"]?.intValue ?? 2
        let end = min(start + count, 7)
        let edges = (start..<end).map {
            """
            {"cursor":"\($0)","node":{"__typename":"Todo","id":"t\($0)","text":"","complete":false}}
            """
        }
        let user = """
            {"__typename":"User","id":"U","userId":"me","totalCount":7,"todos":{"edges":[\
            \(edges.joined(separator: ","))],"pageInfo":{"endCursor":"\(end - 1)",\
            "hasNextPage":\(end < 7)}}}
            """
        let field = name == "UserQuery" ? "user" : "node"
        return Data(#"{"data":{"\#(field)":\#(user)}}"#.utf8)
    }

    private var ids: [String?]? { ids(in: environment) }

    private func ids(in environment: MockEnvironment, _ list: List_user? = nil) -> [String?]? {
        environment.lookup(list ?? self.list).data?.todos?.edges?.map { $0?.node?.id }
    }

    @Test func pagesFollowUntilThereAreNoMore() async throws {
        let pages = PaginationResource(list, environment: environment)
        let told = Collected(environment.subscribe(snapshot: environment.lookup(list)))
        #expect(ids == ["t0", "t1"] && pages.hasNext && !pages.hasPrevious)
        try await pages.loadNext(3)
        #expect(ids == ["t0", "t1", "t2", "t3", "t4"] && pages.hasNext)
        try await pages.loadNext(3)
        #expect(ids?.count == 7 && !pages.hasNext && told.values.count == 2)
        let executions = environment.mockNetwork.executionCount
        try await pages.loadNext(3)
        try await pages.loadPrevious(3)
        #expect(environment.mockNetwork.executionCount == executions)
        try await pages.refetch(variables: ["count": 1])
        #expect(ids == ["t0"] && pages.hasNext)
    }

    /// The list with its first page, in an environment that answers nothing.
    private func begun(in waiting: MockEnvironment) throws -> List_user {
        try waiting.cachePayload(
            UserQuery(),
            String(decoding: try #require(Self.page([:], name: "UserQuery")), as: UTF8.self))
        let user = try #require(
            waiting.lookup(
                selector: UserQuery().createDescriptor().fragment, as: UserQuery.Data.self
            ).data?.user)
        return List_user(key: user)
    }

    @Test func oneLoadAtATimeAndErrorsEndIt() async throws {
        let waiting = MockEnvironment()
        let pages = PaginationResource(try begun(in: waiting), environment: waiting)
        let load = Task { try await pages.loadNext(3) }
        await eventually { waiting.mostRecent != nil }
        #expect(pages.isLoadingNext && !pages.isLoadingPrevious)
        #expect(waiting.mostRecent?.variables == ["id": "U", "count": 3, "cursor": "1"])
        try await pages.loadNext(3)
        #expect(waiting.mockNetwork.executionCount == 1)
        try waiting.rejectMostRecent(URLError(.timedOut))
        await #expect(throws: URLError.self) { try await load.value }
        #expect(!pages.isLoadingNext && pages.hasNext)
    }

    /// Whoever loads while there is more would ask for ever.
    @Test func aPageWhoseEdgesFailedIsAnError() async throws {
        let failed = """
            {"data":{"node":{"__typename":"User","id":"U","userId":"me","totalCount":7,"todos":{"edges":null,\
            "pageInfo":{"endCursor":"4","hasNextPage":true}}}},\
            "errors":[{"message":"lost","path":["node","todos","edges"]}]}
            """
        let environment = MockEnvironment()
        let list = try begun(in: environment)
        environment.answer { _ in Data(failed.utf8) }
        let pages = PaginationResource(list, environment: environment)
        let error = await #expect(throws: NetworkError.self) {
            while pages.hasNext { try await pages.loadNext(3) }
        }
        #expect(error?.errors.map(\.message) == ["lost"])
        #expect(ids(in: environment) == ["t0", "t1"] && pages.hasNext && !pages.isLoadingNext)
    }

    /// A server that gives one page for ever.
    @Test func aCursorThatComesAgainIsAnError() async throws {
        let environment = MockEnvironment()
        let list = try begun(in: environment)
        environment.answer { _ in
            Self.page(["count": 3, "cursor": "-1"], name: "ListPaginationQuery")
        }
        let pages = PaginationResource(list, environment: environment)
        let error = await #expect(throws: RepeatedPageError.self) {
            while pages.hasNext { try await pages.loadNext(3) }
        }
        #expect(error?.operation == "ListPaginationQuery")
        // The second one ends where it begins.
        #expect(environment.mockNetwork.executionCount == 2)
        #expect(!pages.isLoadingNext)
    }

    /// Of one whose edges have come, errors are told beside.
    @Test func errorsOfAPageThatCameAreReturned() async throws {
        let page = """
            {"data":{"node":{"__typename":"User","id":"U","userId":"me","totalCount":null,"todos":{"edges":[\
            {"cursor":"2","node":{"__typename":"Todo","id":"t2","text":"","complete":false}}],\
            "pageInfo":{"endCursor":"2","hasNextPage":true}}}},\
            "errors":[{"message":"lost","path":["node","totalCount"]}]}
            """
        let environment = MockEnvironment()
        let list = try begun(in: environment)
        environment.answer { _ in Data(page.utf8) }
        let pages = PaginationResource(list, environment: environment)
        #expect(try await pages.loadNext(3).map(\.message) == ["lost"])
        #expect(ids(in: environment) == ["t0", "t1", "t2"] && pages.hasNext)
    }

    /// Where a condition leaves the connection out, a page that was fetched would show nowhere.
    @Test(arguments: [true, false])
    func aFieldIsPagedWhereItIsAConnection(_ all: Bool) async throws {
        let environment = MockEnvironment()
        environment.answer {
            let isFirst = $0.request.node.params.name == "PreviewQuery"
            return Self.page(
                $0.request.variables, name: isFirst ? "UserQuery" : "PreviewPaginationQuery")
        }
        let fetched = Collected(environment.fetchQuery(PreviewQuery(all: all)))
        let list = Preview_user(key: try #require(fetched.values.first??.user))
        #expect(environment.lookup(list).data?.todos?.pageInfo.hasNextPage == true)
        let pages = PaginationResource(list, environment: environment)
        #expect(pages.hasNext == all)
        // Not until there is no more: that would be for ever.
        for _ in 0..<3 { try await pages.loadNext(3) }
        #expect(environment.mockNetwork.executionCount == (all ? 3 : 1))
        #expect(environment.lookup(list).data?.todos?.edges?.count == (all ? 7 : nil))
        #expect(!pages.hasNext)
    }

    /// A variable without a value has none on the further pages, either, whatever the fragment's default is.
    @Test(arguments: [nil, false, true])
    func aFilterThatIsLeftOutIsLeftOutOnAllPages(_ complete: Bool?) async throws {
        let environment = MockEnvironment()
        let last = Lock<VariableData?>(nil)
        environment.answer { operation in
            let variables = operation.request.variables
            last.withLock { $0 = variables }
            let isFirst = operation.request.node.params.name == "DoneQuery"
            return Self.page(variables, name: isFirst ? "UserQuery" : "DonePaginationQuery")
        }
        let fetched = Collected(environment.fetchQuery(DoneQuery(complete: complete)))
        let list = Done_user(key: try #require(fetched.values.first??.user))
        let pages = PaginationResource(list, environment: environment)
        while pages.hasNext { try await pages.loadNext(2) }
        #expect(environment.lookup(list).data?.todos?.edges?.count == 7)
        #expect(last.withLock { $0?["complete"] } == complete.map { .bool($0) })
        #expect(DonePaginationQuery.node.params.text?.contains("$complete: Boolean,") == true)
    }
}
