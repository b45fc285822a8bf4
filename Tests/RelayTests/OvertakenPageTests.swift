import Foundation
import OpenCombine
import Relay
import Testing
import Threads
import TodoFixtures

/// Pages that come, and are lost before the one who loads them looks: the first page is fetched again in between.
@Suite(.bounded, .timeLimit(.minutes(10))) struct OvertakenPageTests {
    private let environment = MockEnvironment()

    private static let total = 7

    /// Todos 0 to 6, as a server pages them in both directions.
    private static func todos(_ variables: VariableData) -> String {
        func place(_ cursor: String) -> Int? { variables[cursor]?.stringValue.flatMap { Int($0) } }
        var rows = 0..<total
        if let after = place("cursor") ?? place("after") { rows = (after + 1)..<total }
        if let before = place("before") { rows = 0..<before }
        let last = variables["last"]?.intValue
        let count = variables["count"]?.intValue ?? variables["first"]?.intValue ?? 2
        return todos(last.map { rows.suffix($0) } ?? rows.prefix(count))
    }

    private static func todos(_ rows: Range<Int>) -> String {
        let edges = rows.map { #"{"cursor":"\#($0)","node":{"__typename":"Todo","id":"t\#($0)"}}"# }
        func cursor(_ row: Int?) -> String { row.map { "\"\($0)\"" } ?? "null" }
        return """
            {"edges":[\(edges.joined(separator: ","))],"pageInfo":{\
            "startCursor":\(cursor(rows.first)),"hasPreviousPage":\(rows.lowerBound > 0),\
            "endCursor":\(cursor(rows.last)),"hasNextPage":\(rows.upperBound < total)}}
            """
    }

    private static func answer(_ request: RequestDescriptor) -> String {
        answer(request, todos: todos(request.variables))
    }

    private static func answer(
        _ request: RequestDescriptor, todos: String, errors: String = "[]"
    ) -> String {
        let isPage = request.node.params.name.hasSuffix("PaginationQuery")
        let rest = errors == "[]" ? "" : #","errors":\#(errors)"#
        return """
            {"data":{"\(isPage ? "node" : "user")":{"__typename":"User","id":"U",\
            "todos":\(todos)}}\(rest)}
            """
    }

    /// What a query shows once its first page has come.
    private func begin<Q: Relay.Operation>(_ query: Q) throws -> Q.Data? {
        let operation = query.createDescriptor()
        try environment.cachePayload(query, Self.answer(operation.request))
        return environment.lookup(selector: operation.fragment, as: Q.Data.self).data
    }

    private func answerAll() { environment.answer { Data(Self.answer($0.request).utf8) } }

    private static let errors = #"[{"message":"lost","path":["node","part"]}]"#

    /// Fetches a list's first page again when the list changes.
    /// - Parameter always: not only the first time.
    private func overtake<F: Fragment, Q: Relay.Operation>(
        _ list: F, by query: Q, always: Bool = false
    ) throws -> AnyCancellable {
        let first = Self.answer(query.createDescriptor().request)
        let turns = Lock(0)
        return environment.subscribe(snapshot: environment.lookup(list)).sink {
            [environment] _ in
            let turn = turns.withLock { turns in
                turns += 1
                return turns
            }
            // Each time is told as well.
            if turn == 1 || always && !turn.isMultiple(of: 2) {
                _ = try? environment.cachePayload(query, first)
            }
        }
    }

    private var executionCount: Int { environment.mockNetwork.executionCount }

    @Test func aPageIsAskedForAgain() async throws {
        answerAll()
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        let following = try overtake(list, by: DoneQuery())
        let pages = PaginationResource(list, environment: environment)
        while pages.hasNext { try await pages.loadNext(3) }
        #expect(environment.lookup(list).data?.todos?.edges?.count == 7)
        // One that is lost, and two.
        #expect(executionCount == 3)
        following.cancel()
    }

    @Test func soIsOneBeforeTheStart() async throws {
        answerAll()
        let query = WindowQuery(variables: .init(last: 2))
        let list = Window_user(key: try #require(try begin(query)?.user))
        let following = try overtake(list, by: query)
        let pages = PaginationResource(list, environment: environment)
        while pages.hasPrevious { try await pages.loadPrevious(3) }
        #expect(environment.lookup(list).data?.todos?.edges?.count == 7 && executionCount == 3)
        following.cancel()
    }

    /// The response has it under another path than the fragment.
    @Test func soIsOneInAPartWithAName() async throws {
        answerAll()
        let list = NamedPart_user(key: try #require(try begin(NamedPartQuery())?.user))
        let following = try overtake(list, by: NamedPartQuery())
        let pages = PaginationResource(list, environment: environment)
        while pages.hasNext { try await pages.loadNext(3) }
        #expect(environment.lookup(list).data?.part.todos?.edges?.count == 7)
        #expect(executionCount == 3)
        following.cancel()
    }

    @Test func soIsOneThatComesInParts() async throws {
        let list = DeferredList_user(key: try #require(try begin(DeferredListQuery())?.user))
        let following = try overtake(list, by: DeferredListQuery())
        let pages = PaginationResource(list, environment: environment)
        let load = Task { while pages.hasNext { try await pages.loadNext(3) } }
        for execution in 1...3 {
            await eventually { executionCount == execution && environment.mostRecent != nil }
            let request = try #require(environment.mostRecent)
            request.nextValue(
                #"{"data":{"node":{"__typename":"User","id":"U"}},"hasNext":true}"#)
            request.nextValue(
                """
                {"incremental":[{"label":"list","path":["node"],\
                "data":{"todos":\(Self.todos(request.variables))}}],"hasNext":false}
                """)
            request.complete()
        }
        try await load.value
        #expect(environment.lookup(list).data?.todos?.edges?.count == 7)
        following.cancel()
    }

    @Test func soIsALastOneThatIsEmpty() async throws {
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        environment.answer {
            Data(Self.answer($0.request, todos: Self.todos(Self.total..<Self.total)).utf8)
        }
        let following = try overtake(list, by: DoneQuery())
        let pages = PaginationResource(list, environment: environment)
        while pages.hasNext { try await pages.loadNext(3) }
        #expect(environment.lookup(list).data?.todos?.edges?.count == 2 && executionCount == 2)
        following.cancel()
    }

    /// It came: its errors are about something else.
    @Test func soIsOneThatHasErrors() async throws {
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        environment.answer { operation in
            let todos = Self.todos(operation.request.variables)
            return Data(Self.answer(operation.request, todos: todos, errors: Self.errors).utf8)
        }
        let following = try overtake(list, by: DoneQuery())
        let pages = PaginationResource(list, environment: environment)
        #expect(try await pages.loadNext(3).map(\.message) == ["lost"])
        #expect(environment.lookup(list).data?.todos?.edges?.count == 2 && pages.hasNext)
        #expect(try await pages.loadNext(3).map(\.message) == ["lost"])
        #expect(environment.lookup(list).data?.todos?.edges?.count == 5)
        following.cancel()
    }

    /// It goes into a list that nobody reads, for ever.
    @Test func fiveInARowAreAnError() async throws {
        answerAll()
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        let following = try overtake(list, by: DoneQuery(), always: true)
        let pages = PaginationResource(list, environment: environment)
        for tries in [1, 2] {
            let error = await #expect(throws: RepeatedPageError.self) {
                while pages.hasNext { try await pages.loadNext(3) }
            }
            #expect(error?.cursor == "1" && executionCount == 5 * tries)
        }
        following.cancel()
    }

    /// The server begins again where it knows a cursor no longer.
    @Test func aCircleOfCursorsIsAnErrorInTheEnd() async throws {
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        environment.answer { operation in
            let cursor = operation.request.variables["cursor"]?.stringValue
            let todos = Self.todos(cursor == "1" ? 2..<4 : 0..<2)
            return Data(Self.answer(operation.request, todos: todos).utf8)
        }
        let pages = PaginationResource(list, environment: environment)
        await #expect(throws: RepeatedPageError.self) {
            while pages.hasNext { try await pages.loadNext(2) }
        }
        #expect(executionCount == 101)
        #expect(environment.lookup(list).data?.todos?.edges?.count == 4)
    }

    /// What is known of the connection's end stays, and can be tried again.
    @Test func anEndThatFailedIsTheServersErrors() async throws {
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        let isBroken = Lock(true)
        environment.answer { operation in
            let todos = Self.todos(operation.request.variables)
            guard isBroken.withLock({ $0 }) else {
                return Data(Self.answer(operation.request, todos: todos).utf8)
            }
            let broken = todos.replacing(#""endCursor":"4""#, with: #""endCursor":null"#)
            let errors = #"[{"message":"lost","path":["node","todos","pageInfo","endCursor"]}]"#
            return Data(Self.answer(operation.request, todos: broken, errors: errors).utf8)
        }
        let pages = PaginationResource(list, environment: environment)
        let error = await #expect(throws: NetworkError.self) { try await pages.loadNext(3) }
        #expect(error?.errors.map(\.message) == ["lost"] && pages.hasNext)
        isBroken.withLock { $0 = false }
        while pages.hasNext { try await pages.loadNext(3) }
        #expect(environment.lookup(list).data?.todos?.edges?.count == 7)
    }

    /// What the server says about it reaches the caller.
    @Test func aPageThatEndsWhereItBeginsIsTheServersErrors() async throws {
        let list = Done_user(key: try #require(try begin(DoneQuery())?.user))
        environment.answer { operation in
            let same = #"{"edges":[],"pageInfo":{"endCursor":null,"hasNextPage":true}}"#
            return Data(Self.answer(operation.request, todos: same, errors: Self.errors).utf8)
        }
        let pages = PaginationResource(list, environment: environment)
        let error = await #expect(throws: NetworkError.self) { try await pages.loadNext(3) }
        #expect(error?.errors.map(\.message) == ["lost"])
    }

    /// Nobody can tell whether the page has come.
    @Test func fiveWithErrorsInAPartWithANameAreTheServersErrors() async throws {
        let list = NamedPart_user(key: try #require(try begin(NamedPartQuery())?.user))
        environment.answer { operation in
            let noEdges = #"{"edges":null,"pageInfo":{"endCursor":null,"hasNextPage":true}}"#
            return Data(Self.answer(operation.request, todos: noEdges, errors: Self.errors).utf8)
        }
        let pages = PaginationResource(list, environment: environment)
        let error = await #expect(throws: NetworkError.self) {
            while pages.hasNext { try await pages.loadNext(3) }
        }
        #expect(error?.errors.map(\.message) == ["lost"] && executionCount == 5)
    }
}
