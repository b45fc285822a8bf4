import RelayArtifacts
import RelayJSON
import Testing
import Threads

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Which updaters run again when something below them changes.
@Suite(.bounded) struct RebaseTests {
    /// Counts the runs of updaters by a name.
    private final class Runs: Sendable {
        private let counts = Lock<[String: Int]>([:])

        subscript(_ name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
        var total: Int { counts.withLock { $0.values.reduce(0, +) } }

        func counting(_ name: String, _ updater: @escaping StoreUpdater) -> StoreUpdater {
            { [self] source in
                counts.withLock { $0[name, default: 0] += 1 }
                try updater(&source)
            }
        }
    }

    private func store(_ records: String..., journaled: Bool = true) throws -> Store {
        let store = Store.quiet { if journaled { $0.journal = InMemoryJournal() } }
        try store.commitUpdate { source in
            for id in records { source.create(dataID: DataID(id), typeName: "Todo")["text"] = id }
        }
        return store
    }

    /// Sets a text to another record's, with something behind it.
    private func copying(_ id: String, to other: String) -> StoreUpdater {
        { source in
            let text = source[DataID(id)]?["text"] as? String ?? "nothing"
            source[DataID(other)]?["text"] = "\(text)+"
        }
    }

    @Test func answersOfAQueueRunNoUpdaterThatTheyDoNotConcern() throws {
        let store = try store()
        let runs = Runs()
        let count = 50
        let queue = try (0..<count).map { number in
            try store.applyUpdate(
                runs.counting("each") { source in
                    source.create(dataID: DataID("t\(number)"), typeName: "Todo")["text"] = "shown"
                })
        }
        for (number, entry) in queue.enumerated() {
            let todo: JSONObject = ["id": .string("t\(number)"), "text": "said"]
            let response: JSONValue = ["data": ["change": ["todo": .object(todo)]]]
            try store.commitResponse(
                entry, TodoDocuments.operation("Change", ["id": "t\(number)"]), response.bytes)
            #expect(store.field("t\(number)", "text") == .string("said"))
            if number + 1 < count {
                #expect(store.field("t\(count - 1)", "text") == .string("shown"))
            }
        }
        #expect(runs.total == count)
    }

    @Test func anUpdaterRunsAgainWhenWhatItLookedAtChanges() throws {
        let store = try store("a", "b", "c", "d")
        let runs = Runs()
        _ = try store.applyUpdate(runs.counting("a to b", copying("a", to: "b")))
        _ = try store.applyUpdate(runs.counting("b to c", copying("b", to: "c")))
        _ = try store.applyUpdate(runs.counting("d") { $0["d"]?["text"] = "shown" })
        try store.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(store.field("c", "text") == .string("new++"))
        #expect(store.field("d", "text") == .string("shown"))
        #expect(runs["a to b"] == 2)
        #expect(runs["b to c"] == 2)
        #expect(runs["d"] == 1)
    }

    @Test func oneThatWritesTheSameAsBeforeConcernsNobodyAboveIt() throws {
        let store = try store("a", "b", "c")
        let runs = Runs()
        _ = try store.applyUpdate(
            runs.counting("below") { source in
                let text = source["a"]?["text"] as? String ?? ""
                source["b"]?["text"] = text.isEmpty ? "empty" : "full"
            })
        _ = try store.applyUpdate(runs.counting("above", copying("b", to: "c")))
        try store.commitUpdate { $0["a"]?["text"] = "other" }
        #expect(runs["below"] == 2)
        #expect(runs["above"] == 1)
        try store.commitUpdate { $0["a"]?["text"] = "" }
        #expect(runs["above"] == 2)
        #expect(store.field("c", "text") == .string("empty+"))
    }

    @Test func theEndOfAnEntryConcernsThoseAboveItAlone() throws {
        let store = try store("a")
        let runs = Runs()
        func appending(_ text: String) -> StoreUpdater {
            runs.counting(text) { source in
                let old = source["a"]?["text"] as? String ?? ""
                source["a"]?["text"] = old + text
            }
        }
        _ = try store.applyUpdate(appending("1"))
        let second = try store.applyUpdate(appending("2"))
        _ = try store.applyUpdate(appending("3"))
        store.revert(second)
        #expect(store.field("a", "text") == .string("a13"))
        #expect(runs["1"] == 1)
        #expect(runs["3"] == 2)
    }

    @Test func aRecordThatNobodySpokeOfIsLookedForAgainWhenItComes() throws {
        let store = try store("a")
        _ = try store.applyUpdate(copying("unheard of", to: "a"))
        #expect(store.field("a", "text") == .string("nothing+"))
        try store.commitUpdate { source in
            source.create(dataID: "unheard of", typeName: "Todo")["text"] = "here"
        }
        #expect(store.field("a", "text") == .string("here+"))
        try store.commitUpdate { $0.delete(dataID: "unheard of") }
        #expect(store.field("a", "text") == .string("nothing+"))
    }

    @Test func oneThatThrewIsTriedWhenWhatItLookedAtChanges() throws {
        struct Missing: Error {}
        let store = try store("a", "b")
        let runs = Runs()
        _ = try store.applyUpdate(
            runs.counting("failing") { source in
                guard let record = source["a"] else { throw Missing() }
                record["text"] = "shown"
            })
        try store.commitUpdate { $0.delete(dataID: "a") }
        try store.commitUpdate { $0["b"]?["text"] = "other" }
        #expect(runs["failing"] == 2)
        try store.commitUpdate { _ = $0.create(dataID: "a", typeName: "Todo") }
        #expect(runs["failing"] == 3)
        #expect(store.field("a", "text") == .string("shown"))
    }

    @Test(arguments: [true, false])
    func anOptimisticResponseStaysWhenAnotherUpdaterRunsAgain(journaled: Bool) throws {
        let store = try store("a", "b", journaled: journaled)
        _ = try store.begin(
            "Change", ["id": "b"],
            expecting: ["data": ["change": ["todo": ["id": "b", "text": "shown"]]]])
        _ = try store.applyUpdate(copying("a", to: "a"))
        try store.commitUpdate { $0["a"]?["text"] = "new" }
        #expect(store.field("a", "text") == .string("new+"))
        #expect(store.field("b", "text") == .string("shown"))
        #expect(try store.read("One", ["id": "b"]).data != nil)
    }

    // MARK: Connections

    /// Ways to add a node to a connection.
    enum Addition: CaseIterable {
        case appendEdge, prependNode, updaterAtStart, updaterAtEnd, sharedUpdater
    }

    private static let connection = DataID("client:u1:__Todos_todos_connection")

    private func connected(_ runs: Runs) throws -> Store {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        let edges: JSONValue = .array(
            ["a", "b"].map { id in
                ["cursor": .string("c-\(id)"), "node": ["id": .string(id), "__typename": "Todo"]]
            })
        let me: JSONObject = ["id": "u1", "name": "Me", "todos": ["edges": edges]]
        try store.commit("Me", [:], ["data": ["me": .object(me)]])
        return store
    }

    /// What the server would answer to the addition of a node.
    private func answer(_ id: String, _ addition: Addition) -> JSONValue {
        let todo: JSONObject = ["id": .string(id), "text": "said", "__typename": "Todo"]
        return switch addition {
        case .appendEdge:
            ["data": ["add": ["edge": ["cursor": .string("c-\(id)"), "node": .object(todo)]]]]
        case .prependNode: ["data": ["add": ["todo": .object(todo)]]]
        default: ["data": ["change": ["todo": .object(todo)]]]
        }
    }

    private func add(_ id: String, _ addition: Addition, to store: Store, _ runs: Runs) throws
        -> (entry: OptimisticEntryID, operation: OperationDescriptor)
    {
        let connections: VariableData = [
            "connections": [Self.connection.rawValue]
        ]
        let isDirective = addition == .appendEdge || addition == .prependNode
        let name = addition == .appendEdge ? "Append" : isDirective ? "Prepend" : "Change"
        // As an environment does: each mutation has a root of its own.
        let operation = OperationDescriptor(
            try TodoDocuments.operation(name).request.node, variables: connections,
            root: DataID("client:root:\(id)"))
        let updater = runs.counting("each") { source in
            if isDirective { return }
            let node = source.create(dataID: DataID(id), typeName: "Todo")
            let user = try #require(source["u1"])
            if addition == .sharedUpdater {
                user.connection("Todos_todos")?.insert(node, edgeType: "TodoEdge", at: .end)
                return
            }
            let handler = ConnectionHandler.default
            let list = try #require(handler.getConnection(user, key: "Todos_todos"))
            let edge = handler.createEdge(
                &source, connection: list, node: node, type: "TodoEdge")
            if addition == .updaterAtStart {
                handler.insert(connection: list, edge: edge, before: nil)
            } else {
                handler.insert(connection: list, edge: edge)
            }
        }
        let entry = try store.applyMutation(
            operation,
            optimistic: OptimisticMutation(
                response: isDirective ? answer(id, addition).bytes : nil,
                updater: { source, _ in
                    var records: any RecordSourceProxy = source
                    try updater(&records)
                }))
        return (entry, operation)
    }

    private func nodes(_ store: Store) throws -> [String] {
        let snapshot = store.snapshot
        let list = try #require(snapshot.existing(Self.connection.rawValue))
        let key = try #require(snapshot.symbols.findName("node"))
        return snapshot.links("edges", of: list)?.records.map { edge in
            edge.flatMap { snapshot.link(key, of: $0) }.map { snapshot.symbols.idString($0) } ?? "-"
        } ?? []
    }

    /// Beginning, every answer and every failure: nobody is in the way of the others, and none runs again.
    @Test(arguments: Addition.allCases)
    func additionsToOneConnectionRunOnce(_ addition: Addition) throws {
        let runs = Runs()
        let store = try connected(runs)
        let count = 40
        let added = try (0..<count).map { try add("t\($0)", addition, to: store, runs) }
        let isAtStart = addition == .prependNode || addition == .updaterAtStart
        func expect(_ ids: [String]) throws {
            #expect(
                try nodes(store) == (isAtStart ? ids.reversed() + ["a", "b"] : ["a", "b"] + ids))
        }
        var ids = (0..<count).map { "t\($0)" }
        try expect(ids)
        for (number, (entry, operation)) in added.enumerated() {
            if number % 5 == 4 {
                store.revoke(entry, reason: "failed")
                ids.removeAll { $0 == "t\(number)" }
            } else if number % 2 == 0 || addition != .appendEdge && addition != .prependNode {
                // What was guessed, and confirmed: the connection has it from below now.
                try store.commitResponse(entry, operation, answer("t\(number)", addition).bytes) {
                    source, _ in
                    if addition == .appendEdge || addition == .prependNode { return }
                    let user = try #require(source["u1"])
                    let node = try #require(source[DataID("t\(number)")])
                    user.connection("Todos_todos")?
                        .insert(node, edgeType: "TodoEdge", at: isAtStart ? .start : .end)
                }
            } else {
                // The server has another id.
                try store.commitResponse(entry, operation, answer("s\(number)", addition).bytes)
                if let place = ids.firstIndex(of: "t\(number)") { ids[place] = "s\(number)" }
            }
            try expect(ids)
        }
        #expect(runs.total == count)
    }

    /// A node that has come to the connection from below is not there twice, and is there again when it has gone.
    @Test func anAdditionWhoseNodeIsThereAlreadyRunsAgain() throws {
        let runs = Runs()
        let store = try connected(runs)
        let first = try add("t", .appendEdge, to: store, runs)
        _ = try add("x", .appendEdge, to: store, runs)
        _ = try add("t", .updaterAtEnd, to: store, runs)
        #expect(try nodes(store) == ["a", "b", "t", "x"])
        store.revoke(first.entry, reason: "failed")
        #expect(try nodes(store) == ["a", "b", "x", "t"])
        try store.commitUpdate { source in
            let node = source.create(dataID: "t", typeName: "Todo")
            source["u1"]?.connection("Todos_todos")?
                .insert(node, edgeType: "TodoEdge", at: .start)
        }
        #expect(try nodes(store) == ["t", "a", "b", "x"])
        try store.commitUpdate { source in
            source["u1"]?.connection("Todos_todos")?.delete(nodeID: "t")
        }
        #expect(try nodes(store) == ["a", "b", "x", "t"])
        // An edge that the connection has comes to lead to the node.
        try store.commitUpdate { source in
            let edge = source["u1"]?.getLinkedRecord("__Todos_todos_connection")?
                .getLinkedRecords("edges")?.first
            (edge ?? nil)?.setLinkedRecord(
                "node", record: source.create(dataID: "t", typeName: "Todo"))
        }
        #expect(try nodes(store) == ["t", "b", "x"])
    }

    @Test func aNodeThatNobodyHasHeardOfIsTakenOutWhenAnEdgeComesToLeadToIt() throws {
        let store = try connected(Runs())
        _ = try store.applyUpdate { source in
            source["u1"]?.connection("Todos_todos")?.delete(nodeID: "unheard of")
        }
        #expect(try nodes(store) == ["a", "b"])
        try store.commitUpdate { source in
            let edge = source["u1"]?.getLinkedRecord("__Todos_todos_connection")?
                .getLinkedRecords("edges")?.first
            let node = source.create(dataID: "unheard of", typeName: "Todo")
            (edge ?? nil)?.setLinkedRecord("node", record: node)
        }
        #expect(try nodes(store) == ["b"])
    }

    /// The updater itself has an edge lead to the node; later the connection has that edge.
    @Test func anEdgeThatTheUpdaterWritesCountsOnceItIsInTheConnection() throws {
        let handler = ConnectionHandler.default
        let store = try connected(Runs())
        func edge(
            to id: String, _ source: inout any RecordSourceProxy
        ) throws -> any RecordProxy {
            let list = try #require(source[Self.connection])
            let node = source.create(dataID: DataID(id), typeName: "Todo")
            return handler.createEdge(&source, connection: list, node: node, type: "TodoEdge")
        }
        try store.commitUpdate { _ = try edge(to: "x", &$0) }
        _ = try store.applyUpdate { source in
            let node = source.create(dataID: "t", typeName: "Todo")
            source[Self.connection.clientID(storageKey: "x")]?
                .setLinkedRecord("node", record: node)
            let list = try #require(source[Self.connection])
            handler.insert(connection: list, edge: try edge(to: "t", &source))
        }
        #expect(try nodes(store) == ["a", "b", "t"])
        try store.commitUpdate { source in
            let list = try #require(source[Self.connection])
            handler.insert(connection: list, edge: try edge(to: "x", &source))
        }
        #expect(try nodes(store) == ["a", "b", "t"])
    }

    @Test func anAdditionComesBackWithItsConnection() throws {
        let runs = Runs()
        let store = try connected(runs)
        _ = try add("t", .appendEdge, to: store, runs)
        try store.commitUpdate { $0.delete(dataID: Self.connection) }
        #expect(store.snapshot.existing(Self.connection.rawValue) == nil)
        try store.commitUpdate { source in
            source.create(dataID: Self.connection, typeName: "TodoConnection")
                .setLinkedRecords("edges", records: [])
        }
        #expect(try nodes(store) == ["t"])
        #expect(runs.total == 3)
    }

    /// A page is joined by what its edges and those of the connection lead to, also where the operation itself reads
    /// nothing of them.
    @Test func aPageThatIsExpectedIsJoinedAgainWhenAnEdgeLeadsElsewhere() throws {
        let store = Store.quiet()
        func page(_ ids: String...) -> JSONValue {
            let edges = ids.map { id -> JSONValue in
                ["cursor": .string("c" + id), "node": ["__typename": "Todo", "id": .string(id)]]
            }
            let info: JSONValue = [
                "startCursor": .string("c" + ids[0]), "endCursor": .string("c" + ids.last!),
                "hasNextPage": true, "hasPreviousPage": false,
            ]
            return [
                "data": [
                    "me": ["id": "u", "todos": ["edges": .array(edges), "pageInfo": info]]
                ]
            ]
        }
        func nodes() throws -> [String] {
            let connection = try store.json("Page", ["count": 2])["me"]?["todos"]
            return connection?["edges"]?.array?.map { $0["node"]?["id"]?.string ?? "-" } ?? ["?"]
        }
        try store.commit("Page", ["count": 2], page("a", "b"))
        _ = try store.begin("Next", ["count": 2, "cursor": "cb"], expecting: page("c", "d"))
        #expect(try nodes() == ["a", "b", "c", "d"])
        try store.commitUpdate { source in
            let connection = source["client:u:__Todos_todos_connection"]
            let node = source.create(dataID: "c", typeName: "Todo")
            connection?.getLinkedRecords("edges")?[0]?.setLinkedRecord("node", record: node)
        }
        #expect(try nodes() == ["c", "b", "d"])
    }

    /// What is shown of a record goes with its entry, also where nothing else changes.
    @Test func aRecordThatOnlyAnEntryMadeGoesWithIt() throws {
        let store = try store("a")
        let shown = try store.applyUpdate {
            $0.create(dataID: "b", typeName: "Todo")["text"] = "shown"
            $0.delete(dataID: "a")
        }
        _ = try store.applyUpdate { _ = $0.create(dataID: "c", typeName: "Todo") }
        #expect(store.snapshot.recordCount == 2)
        store.revert(shown)
        #expect(store.ids().sorted() == ["a", "c"])
        #expect(store.snapshot.recordCount == 2)
    }
}
