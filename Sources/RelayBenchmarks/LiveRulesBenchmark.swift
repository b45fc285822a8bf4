import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Many live queries in one process, while a record of each changes: `relay bench live-rules`.
///
/// Everything but sockets and a disk: a mutation is run and journaled in memory, live queries are executed again and
/// their results handed over.
final class LiveRulesBenchmark: Sendable {
    enum Rules: String, CaseIterable {
        /// The schema has no rules, and whoever asks may see everything.
        case none
        /// Viewers may see all records that are asked for, and of another type only their own.
        case `public`
        /// Viewers may see their own records, as a field says.
        case owner

        fileprivate func identity(_ viewer: Int) -> Identity {
            self == .none ? .unrestricted : .viewer(Viewer(id: "v\(viewer)"))
        }

        fileprivate var schema: String {
            let own = "@access(read: { field: { owner: \"$viewer\" } })"
            let rules: (seen: String, person: String, other: String) =
                switch self {
                case .none: ("", "", "")
                case .public:
                    ("@access(read: { viewer: true })", "@access(read: { viewer: true })", own)
                case .owner: (own, "@access(read: { viewer: true })", own)
                }
            return """
                interface Node { id: ID! }
                type Person implements Node \(rules.person) { id: ID! name: String }
                type Project implements Node \(rules.seen) { id: ID! owner: Person issues(first: Int): IssueConnection }
                type Issue implements Node \(rules.seen) { id: ID! title: String! n: Int! owner: Person }
                type Secret implements Node \(rules.other) { id: ID! owner: Person }
                type IssueConnection { edges: [IssueEdge] pageInfo: PageInfo! }
                type IssueEdge { node: Issue cursor: String! }
                type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
                type Query { issue(id: ID!): Issue @lookup project(id: ID!): Project @lookup }
                type Mutation { change(input: ChangeInput!): ChangePayload @update(type: "Issue") }
                input ChangeInput { id: ID! n: Int! }
                type ChangePayload { issue: Issue }
                """
        }
    }

    enum Query: String, CaseIterable {
        /// One record each.
        case record
        /// A page of records each.
        case page

        fileprivate var text: String {
            switch self {
            case .record: "query($id: ID!) @live { issue(id: $id) { id title n owner { name } } }"
            case .page:
                "query($id: ID!) @live { project(id: $id) { issues(first: 20) { edges { node { id title n } } } } }"
            }
        }
    }

    /// Records of a page.
    static let pageLength = 20
    private static let viewers = 100

    private let service: GraphQLService
    private let tally: Tally
    private let queries: Int

    /// - Parameter queries: the live queries, each of a record or a page of its own; their viewers take turns.
    init(_ rules: Rules, _ query: Query, queries: Int) async throws {
        let schema = try ServiceSchema(rules.schema)
        var writer = WriteSetWriter()
        for viewer in 0..<Self.viewers {
            writer.write(
                DataID("v\(viewer)"), type: "Person", fields: [("name", .string("v\(viewer)"))])
        }
        let perQuery = query == .page ? Self.pageLength : 1
        for number in 0..<queries {
            let owner = DataID("v\(number % Self.viewers)")
            let issues = (0..<perQuery).map { DataID(Self.issue(number, $0)) }
            for issue in issues {
                writer.write(
                    issue, type: "Issue",
                    fields: [
                        ("title", .string("Issue \(number)")), ("n", .int(0)),
                        ("owner", .link(owner)),
                    ])
            }
            guard query == .page else { continue }
            writer.write(
                DataID("p\(number)"), type: "Project",
                fields: [("owner", .link(owner)), ("issues", .links(issues))])
        }
        let tally = Tally()
        self.tally = tally
        self.queries = queries
        let genesis = EventBody.genesis(schema: rules.schema, seed: writer.writeSet)
        let journal = InMemoryJournal()
        _ = try await journal.append(
            [NewEvent(timeMicroseconds: 0, body: genesis)], expecting: 0)
        var snapshot = Snapshot(indexes: schema.indexes)
        var changes = ChangeSet()
        try snapshot.fold(
            Event(sequence: 1, timeMicroseconds: 0, body: genesis), changes: &changes)
        service = GraphQLService(
            SchemaService(schema, symbols: snapshot.symbols), journal: journal, storeID: "bench",
            snapshot: snapshot, inputs: EngineInputs(now: { 0 }),
            deliver: { tally.add($0.count) })
        for number in 0..<queries {
            let id = query == .page ? "p\(number)" : Self.issue(number, 0)
            let request = GraphQLRequest(
                query: query.text, variables: ["id": .string(id)],
                identity: rules.identity(number % Self.viewers))
            try service.subscribe(
                try service.prepare(request), request, sink: LiveRulesSink())
        }
        await tally.reach(queries)
    }

    private static func issue(_ query: Int, _ number: Int) -> String { "i\(query)-\(number)" }

    /// Changes a record of each of so many live queries.
    /// - Returns: the microseconds of processor time that each took, until its result was handed over.
    func microseconds(commits: Int, from first: Int) async throws -> Double {
        let before = Self.processorMicroseconds()
        for number in first..<first + commits {
            let request = GraphQLRequest(
                query: "mutation($i: ChangeInput!) { change(input: $i) { issue { n } } }",
                variables: [
                    "i": [
                        "id": .string(Self.issue(number % queries, 0)),
                        "n": .int(Int64(number + 1)),
                    ]
                ])
            service.execute(try service.prepare(request), request) { _ in }
        }
        await tally.reach(commits)
        return (Self.processorMicroseconds() - before) / Double(commits)
    }

    private static func processorMicroseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

private final class LiveRulesSink: SubscriptionSink {}

/// Counts deliveries.
private final class Tally: Sendable {
    private struct State {
        var count = 0
        var waiting: (count: Int, continuation: CheckedContinuation<Void, Never>)?

        /// Who waits, if there are enough now.
        mutating func taken() -> CheckedContinuation<Void, Never>? {
            guard let waiting, count >= waiting.count else { return nil }
            count -= waiting.count
            self.waiting = nil
            return waiting.continuation
        }
    }

    private let state = Lock(State())

    func add(_ count: Int) {
        state.withLock { state in
            state.count += count
            return state.taken()
        }?.resume()
    }

    /// Returns when so many have come since the last call.
    func reach(_ count: Int) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting = (count, continuation)
                return state.taken()
            }?.resume()
        }
    }
}
