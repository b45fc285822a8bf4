import Foundation
import OpenCombine
import Relay
import RelayArtifacts
import Testing
import Threads
import TodoFixtures

/// A list that begins in the middle is paged to both of its ends.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct PagingBothWaysTests {
    /// A list as a server pages it: the algorithm of Relay's Cursor Connections specification over an array.
    private struct ServerList {
        let rows = (0..<13).map { "t\($0)" }

        func page(_ variables: VariableData) -> String {
            func place(_ cursor: String) -> Int? {
                variables[cursor]?.stringValue.flatMap { rows.firstIndex(of: $0) }
            }
            var page = rows.indices.filter { index in
                (place("after").map { index > $0 } ?? true)
                    && (place("before").map { index < $0 } ?? true)
            }
            if let first = variables["first"]?.intValue { page = Array(page.prefix(first)) }
            if let last = variables["last"]?.intValue { page = Array(page.suffix(last)) }
            let edges = page.map { index in
                """
                {"cursor":"\(rows[index])","node":{"__typename":"Todo","id":"\(rows[index])"}}
                """
            }
            func cursor(_ index: Int?) -> String { index.map { "\"\(rows[$0])\"" } ?? "null" }
            let hasNext = (page.last ?? place("before").map { $0 - 1 }).map { $0 < rows.count - 1 }
            let hasPrevious = (page.first ?? place("after").map { $0 + 1 }).map { $0 > 0 }
            return """
                {"edges":[\(edges.joined(separator: ","))],"pageInfo":{\
                "startCursor":\(cursor(page.first)),"endCursor":\(cursor(page.last)),\
                "hasNextPage":\(hasNext ?? false),"hasPreviousPage":\(hasPrevious ?? false)}}
                """
        }
    }

    enum Order: CaseIterable {
        case nextFirst
        case previousFirst
        case inTurn
    }

    private let list = ServerList()
    private let asked = Asked()

    /// The variables of each request, in order.
    private final class Asked: Sendable {
        private let variables = Lock<[VariableData]>([])

        var all: [VariableData] { variables.withLock { $0 } }

        func note(_ asked: VariableData) { variables.withLock { $0.append(asked) } }
    }

    private func begin(
        _ variables: WindowQuery.Variables, in environment: MockEnvironment
    ) throws -> Window_user {
        environment.answer { [list, asked] request in
            asked.note(request.request.variables)
            let field = request.request.node.params.name == "WindowQuery" ? "user" : "node"
            let page = list.page(request.request.variables)
            return Data(
                #"{"data":{"\#(field)":{"__typename":"User","id":"U","todos":\#(page)}}}"#.utf8)
        }
        let fetched = Collected(environment.fetchQuery(WindowQuery(variables: variables)))
        return Window_user(key: try #require(fetched.values.first??.user))
    }

    @Test(
        arguments: [
            .init(first: 3, after: "t4"), .init(last: 3, before: "t8"), .init(first: 2),
            .init(last: 2), .init(first: 1, after: "t11"), .init(last: 1, before: "t1"),
        ] as [WindowQuery.Variables], Order.allCases)
    func everyRowIsThereOnceAndInOrder(
        _ beginning: WindowQuery.Variables, _ order: Order
    ) async throws {
        for count in [1, 4, 20] {
            let environment = MockEnvironment()
            let fragment = try begin(beginning, in: environment)
            let pages = PaginationResource(fragment, environment: environment)
            var loads = 0
            func loadNext() async throws {
                loads += 1
                try await pages.loadNext(count)
            }
            func loadPrevious() async throws {
                loads += 1
                try await pages.loadPrevious(count)
            }
            // No page is empty, so that a loop that does not end is found.
            let limit = list.rows.count
            switch order {
            case .nextFirst:
                while pages.hasNext, loads < limit { try await loadNext() }
                while pages.hasPrevious, loads < limit { try await loadPrevious() }
            case .previousFirst:
                while pages.hasPrevious, loads < limit { try await loadPrevious() }
                while pages.hasNext, loads < limit { try await loadNext() }
            case .inTurn:
                while pages.hasNext || pages.hasPrevious, loads < limit {
                    if pages.hasNext { try await loadNext() }
                    if pages.hasPrevious { try await loadPrevious() }
                }
            }
            #expect(!pages.hasNext && !pages.hasPrevious, "\(loads) loads of \(count)")
            let rows = environment.lookup(fragment).data?.todos?.edges?.map { $0?.node?.id }
            #expect(rows == list.rows, "\(count) at a time")
        }
    }

    /// As Relay's `getPaginationVariables`: a page has the variables of one direction.
    @Test func theVariablesOfTheOtherDirectionAreNull() async throws {
        let environment = MockEnvironment()
        let pages = PaginationResource(
            try begin(.init(first: 3, after: "t4"), in: environment), environment: environment)
        try await pages.loadPrevious(2)
        try await pages.loadNext(2)
        let none = VariableValue.null
        let expected: [VariableData] = [
            ["id": "U", "first": none, "after": none, "last": 2, "before": "t5"],
            ["id": "U", "first": 2, "after": "t7", "last": none, "before": none],
        ]
        #expect(Array(asked.all.dropFirst()) == expected)
    }

    @Test func theCompilerSaysTheSameOfTheFragment() {
        #expect(Window_user.node.metadata.connections.first == Window_user.metadata.connection)
    }
}
