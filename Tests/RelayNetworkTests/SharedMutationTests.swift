import Foundation
import Relay
import RelayArtifacts
import RelayJSON
import RelayServer
@_spi(Rooms) import RelayStore
import SchemaService
import Testing
import TodoMutations

@testable import RelayNetwork

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// One function is the server's handler and the client's optimistic updater: those of the example
/// (`TodoMutations`).
@Suite(.bounded, .timeLimit(.minutes(10)))
struct SharedMutationTests {
    private static let user = "VXNlcjptZQ=="

    private static func serve(_ body: (ServedTodos) async throws -> Void) async throws {
        try await ServedTodos.run(
            {
                $0.schema += TodoMutations.schema
                $0.handlers.mutation("changeAllTodos", TodoMutations.changeAllTodos)
                $0.handlers.mutation("sinkFinishedTodos", TodoMutations.sinkFinishedTodos)
                $0.handlers.mutation("moveTodo", TodoMutations.moveTodo)
            }, body)
    }

    /// What a client shows before the answer and after it.
    private static func run(
        _ name: String, _ input: VariableData,
        _ body: @escaping (inout any RecordSourceProxy, VariableData) throws -> DataID?,
        in environment: Environment
    ) async throws -> (shown: [String], confirmed: [String]) {
        let (mutation, answered) = try begin(name, input, body, in: environment)
        let shown = list(environment.store.snapshot)
        await eventually { answered.all.count == 1 }
        withExtendedLifetime(mutation) {}
        return (shown, list(environment.store.snapshot))
    }

    private static func begin(
        _ name: String, _ input: VariableData,
        _ body: @escaping (inout any RecordSourceProxy, VariableData) throws -> DataID?,
        in environment: Environment
    ) throws -> (AnyCancellable, answered: Noted<Int>) {
        let operation = try TodoOperations.descriptor(
            name, ["input": input], adding: TodoMutations.schema)
        let answered = Noted<Int>()
        let mutation = environment.execute(
            operation: operation,
            optimisticUpdater: sharedUpdater(body, input: operation.request.variables)
        ).sink(receiveCompletion: { _ in answered.note(1) }, receiveValue: { _ in })
        return (mutation, answered)
    }

    private static func fetch(_ environment: Environment) async throws {
        let list = try TodoOperations.descriptor("ListQuery", [:], adding: TodoMutations.schema)
        let fetched = Noted<Int>()
        let fetch = environment.execute(operation: list).sink(
            receiveCompletion: { _ in }, receiveValue: { _ in fetched.note(1) })
        await eventually { fetched.all.count == 1 }
        withExtendedLifetime(fetch) {}
    }

    @Test func whatIsShownIsWhatIsConfirmed() async throws {
        try await Self.serve { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            try await Self.fetch(environment)
            let before = Self.list(environment.store.snapshot)
            // One is done and stands first, one is not.
            #expect(before.map { $0.hasSuffix("true") } == [true, false])
            let sunk = try await Self.run(
                "SinkMutation", ["userId": Self.user], TodoMutations.sinkFinishedTodos,
                in: environment)
            #expect(sunk.shown == before.reversed())
            #expect(sunk.confirmed == sunk.shown)
            let changed = try await Self.run(
                "ChangeAllMutation", ["complete": true, "userId": Self.user],
                TodoMutations.changeAllTodos, in: environment)
            #expect(changed.shown == sunk.shown.map { $0.replacing("false", with: "true") })
            #expect(changed.confirmed == changed.shown)
            // What the client has is what the server has: a second client that fetches sees the same.
            let other = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            try await Self.fetch(other)
            #expect(Self.list(other.store.snapshot) == changed.confirmed)
        }
    }

    @Test func aTodoThatIsMovedIsWhereItWasShown() async throws {
        try await Self.serve { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            try await Self.fetch(environment)
            let before = Self.list(environment.store.snapshot)
            let (first, second) = ("VG9kbzow", "VG9kbzox")
            let down = try await Self.run(
                "MoveMutation", ["id": first, "after": second, "userId": Self.user],
                TodoMutations.moveTodo, in: environment)
            #expect(down.shown == before.reversed() && down.confirmed == down.shown)
            let up = try await Self.run(
                "MoveMutation", ["id": first, "userId": Self.user], TodoMutations.moveTodo,
                in: environment)
            #expect(up.shown == before && up.confirmed == before)
        }
    }

    /// A file that imports both ends: `RecordReader` is one thing. Whoever reads the nodes alone is told once,
    /// when the guess is shown.
    private struct NodeIDs: ReadableRecord {
        init(_ record: inout RecordReader) throws { _ = record.dataID }
    }

    @Test func nobodyIsToldOfAnAnswerThatEqualsTheGuess() async throws {
        try await Self.serve { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let id = DataID("VG9kbzox")
            let todo = try TodoOperations.todo(id.rawValue)
            let fetched = Noted<Int>()
            let fetch = environment.execute(operation: todo).sink(
                receiveCompletion: { _ in }, receiveValue: { _ in fetched.note(1) })
            await eventually { fetched.all.count == 1 }
            let told = Noted<Int>()
            let now: Relay.Snapshot<NodeIDs> = environment.lookup(selector: todo.fragment)
            let following = environment.subscribe(snapshot: now).sink { _ in told.note(1) }
            let answered = Noted<Int>()
            let renaming = environment.execute(
                operation: try TodoOperations.rename(id.rawValue, "Renamed"),
                optimisticResponse: [
                    "renameTodo": ["todo": ["id": id.rawValue, "text": "Renamed"]]
                ]
            ).sink(receiveCompletion: { _ in answered.note(1) }, receiveValue: { _ in })
            #expect(told.all.count == 1)
            await eventually { answered.all.count == 1 }
            #expect(told.all.count == 1)
            withExtendedLifetime((fetch, following, renaming)) {}
        }
    }

    /// The nodes of the list, in order.
    private struct Nodes: ReadableRecord, Equatable {
        var ids: [DataID] = []

        init(_ record: inout RecordReader) throws {
            ids =
                try record.optionalLinked("user", User.self)?.todos?.edges.compactMap {
                    $0?.node?.id
                } ?? []
        }

        struct User: ReadableRecord {
            var todos: Todos?

            init(_ record: inout RecordReader) throws { todos = try record.optionalLinked("todos") }
        }

        struct Todos: ReadableRecord {
            var edges: [Edge?]

            init(_ record: inout RecordReader) throws { edges = try record.list("edges") }
        }

        struct Edge: ReadableRecord {
            var node: Node?

            init(_ record: inout RecordReader) throws { node = try record.optionalLinked("node") }
        }

        struct Node: ReadableRecord {
            var id: DataID

            init(_ record: inout RecordReader) throws { id = record.dataID }
        }
    }

    /// A move gives its edge another cursor. Whoever reads the nodes alone is told once, when the guess is shown; who
    /// reads cursors, as a fragment with `@connection` does, is told of those with the answer.
    @Test func aMoveIsToldOnceWithoutCursorsAndTwiceWithThem() async throws {
        try await Self.serve { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            try await Self.fetch(environment)
            let list = try TodoOperations.descriptor(
                "ListQuery", [:], adding: TodoMutations.schema)
            let node = list.request.node
            let nodesAlone = OperationDescriptor(
                request: RequestDescriptor(
                    node: ConcreteRequest(
                        fragment: Self.nodesAlone, operation: node.operation, params: node.params),
                    variables: [:]))
            let (plain, paged) = (Noted<[DataID]>(), Noted<[DataID]>())
            func follow(_ operation: OperationDescriptor, _ told: Noted<[DataID]>) -> AnyCancellable
            {
                let now: Relay.Snapshot<Nodes> = environment.lookup(selector: operation.fragment)
                return environment.subscribe(snapshot: now).sink { told.note($0.data?.ids ?? []) }
            }
            let before: Relay.Snapshot<Nodes> = environment.lookup(selector: list.fragment)
            let order = Array(try #require(before.data).ids.reversed())
            #expect(order.count == 2)
            let following = [follow(nodesAlone, plain), follow(list, paged)]
            let sunk = try await Self.run(
                "SinkMutation", ["userId": Self.user], TodoMutations.sinkFinishedTodos,
                in: environment)
            #expect(sunk.shown == sunk.confirmed)
            await eventually { paged.all.count == 2 }
            #expect(plain.all == [order])
            #expect(paged.all == [order, order])
            for following in following { following.cancel() }
        }
    }

    private static let nodesAlone = ReaderFragment(
        name: "ListQuery", type: "Query",
        selections: [
            .field(
                ReaderLinkedField(
                    name: "user", concreteType: "User",
                    selections: [
                        .field(
                            ReaderLinkedField(
                                name: "__List_todos_connection", alias: "todos",
                                concreteType: "TodoConnection",
                                selections: [
                                    .field(
                                        ReaderLinkedField(
                                            name: "edges", concreteType: "TodoEdge", plural: true,
                                            selections: [
                                                .field(
                                                    ReaderLinkedField(
                                                        name: "node", concreteType: "Todo",
                                                        selections: []))
                                            ]))
                                ]))
                    ]))
        ])

    @Test func aClientWithoutTheRecordsShowsNothingAndSendsItAllTheSame() async throws {
        let input: VariableData = ["complete": true, "userId": "me"]
        let offline = Environment(
            network: try WebSocketNetwork(url: "ws://127.0.0.1:1/graphql"), store: Store())
        let (mutation, _) = try Self.begin(
            "ChangeAllMutation", input, TodoMutations.changeAllTodos, in: offline)
        #expect(Self.list(offline.store.snapshot).isEmpty)
        mutation.cancel()
        try await Self.serve { todos in
            let environment = Environment(
                network: try WebSocketNetwork(url: todos.url), store: Store())
            let changed = try await Self.run(
                "ChangeAllMutation", input, TodoMutations.changeAllTodos, in: environment)
            #expect(changed.confirmed.count == 2)
            #expect(changed.confirmed.allSatisfy { $0.hasSuffix("true") })
        }
    }

    /// The list as the client shows it: a line for each node of the connection, in order.
    private static func list(_ snapshot: RelayStore.Snapshot) -> [String] {
        func links(_ id: String, _ key: String) -> [String] {
            guard let record = snapshot.existing(id) else { return [] }
            switch snapshot.fieldValue(key, of: record) {
            case .link(let id)?: return [id.rawValue]
            case .links(let ids)?: return ids.compactMap { $0?.rawValue }
            default: return []
            }
        }
        return links(user, "__List_todos_connection").flatMap { links($0, "edges") }
            .flatMap { links($0, "node") }
            .map { id in
                let isComplete = snapshot.existing(id).flatMap {
                    snapshot.fieldValue("complete", of: $0)
                }
                return isComplete == .bool(true) ? "\(id) true" : "\(id) false"
            }
    }
}
