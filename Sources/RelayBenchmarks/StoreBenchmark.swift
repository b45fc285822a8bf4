import Console
import RelayArtifacts
import RelayIR
import RelayJSON
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import RelayStore

/// What the client's store costs: `relay bench store`.
struct StoreBenchmark {
    let payload: StorePayload
    let response: [UInt8]
    private let all: OperationDescriptor
    private let change: OperationDescriptor
    private let row: ReaderFragment

    init(todoCount: Int) throws {
        payload = StorePayload(todoCount: todoCount)
        response = payload.response
        let documents = try StorePayload.documents()
        guard let all = documents.operation("All"), let change = documents.operation("Change"),
            let row = documents.fragment("Row")
        else { throw CommandFailure("Could not compile the documents of the benchmark.") }
        self.all = OperationDescriptor(all.request, variables: [:])
        self.change = OperationDescriptor(change.request, variables: ["id": "todo:0"])
        self.row = row.node
    }

    func emptyStore() -> Store {
        var options = StoreOptions()
        options.schedule = { _ in }
        return Store(options: options)
    }

    func filledStore() throws -> Store {
        let store = emptyStore()
        try normalize(into: store)
        return store
    }

    /// Response bytes into records, JSON included.
    func normalize(into store: Store) throws { try store.commitPayload(all, response) }

    /// Everything by one selector, from nothing.
    func readAll(_ store: Store) -> SelectorSnapshot { store.lookup(ReaderSelector(all)) }

    /// A fragment of 11 scalars.
    func readRow(_ store: Store, _ index: Int) -> SelectorSnapshot {
        store.lookup(selector(index))
    }

    private func selector(_ index: Int) -> ReaderSelector {
        ReaderSelector(row, dataID: DataID("todo:\(index)"), variables: [:])
    }

    func subscribe(_ store: Store, count: Int) throws -> [Retention] {
        try (0..<count).map { index in
            try store.subscribe(readRow(store, index)) { _ in }
        }
    }

    /// One record changed optimistically and changed back.
    func applyAndRevert(_ store: Store, _ index: Int) throws {
        let id = DataID("todo:\(index)")
        let entry = try store.applyUpdate { $0[id]?["text"] = "optimistic" }
        store.revert(entry)
    }

    /// A mutation begins and is answered; the answer changes one record.
    func mutate(_ store: Store, _ answer: [UInt8]) throws {
        let entry = try store.applyMutation(change)
        try store.commitResponse(entry, change, answer)
    }

    /// Marks and sweeps, with everything reachable.
    func collect(_ store: Store) throws {
        let retention = try store.retain(all)
        store.collectGarbage()
        retention.cancel()
    }

    /// Loads other todos in place of the earlier ones and drops the latter.
    func turnOver(_ store: Store, round: Int) throws {
        let other = StorePayload(todoCount: payload.todoCount, first: round * payload.todoCount)
        try store.commitPayload(all, other.response)
        store.collectGarbage()
    }

    // MARK: Folding

    /// Events that change one record each, as a replay reads them.
    func events(count: Int) -> [Event] {
        (0..<count).map { index in
            var writes = WriteSetWriter()
            writes.write(
                DataID("todo:\(index % payload.todoCount)"), type: "Todo",
                fields: [("text", .string("Text \(index)")), ("complete", .bool(index & 1 == 0))])
            let body = EventBody.update(LocalUpdate(name: "bench", writes: writes.writeSet))
            return Event(sequence: UInt64(index) + 1, timeMicroseconds: 0, body: body)
        }
    }

    func fold(_ events: [Event], on snapshot: Snapshot) throws -> Snapshot {
        var snapshot = snapshot
        var changes = ChangeSet()
        let first = snapshot.sequence
        for var event in events {
            event.sequence += first
            try snapshot.fold(event, changes: &changes)
            if changes.fields.count > 1_024 { changes = ChangeSet() }
        }
        return snapshot
    }
}

// MARK: Decoding

extension StoreBenchmark {
    struct Todo {
        var id: String
        var text: String?
        var complete: Bool?
        var notes: String?
        var priority: Int?
        var position: Int?
        var weight: Double?
        var color: String?
        var createdAt: String?
        var dueAt: String?
        var author: Author?
        var typename: String?
        var cursor: String?
    }

    struct Author {
        var id: String
        var name: String?
        var typename: String?
    }

    /// The data of everything, as the structs of generated code.
    func decode(_ snapshot: SelectorSnapshot) throws -> [Todo] {
        guard let data = snapshot.data else { return [] }
        var root = DataCursor(data)
        guard let user = try root.node("user") else { return [] }
        var fields = DataCursor(user)
        guard let connection = try fields.node("todos") else { return [] }
        var parts = DataCursor(connection)
        guard let edges = try parts.list("edges") else { return [] }
        var todos: [Todo] = []
        todos.reserveCapacity(edges.elements.count)
        for case let edge? in edges.elements {
            var edge = DataCursor(edge)
            let cursor = try edge.string("cursor")
            if let node = try edge.node("node") { todos.append(try todo(node, cursor)) }
        }
        return todos
    }

    private func todo(_ node: DataNode, _ edgeCursor: String?) throws(DataError) -> Todo {
        var fields = DataCursor(node)
        let typename = try fields.string("__typename")
        return Todo(
            id: try fields.string("id") ?? "", text: try fields.string("text"),
            complete: try fields.bool("complete"), notes: try fields.string("notes"),
            priority: try fields.int("priority"), position: try fields.int("position"),
            weight: try fields.double("weight"), color: try fields.string("color"),
            createdAt: try fields.string("createdAt"), dueAt: try fields.string("dueAt"),
            author: try author(try fields.node("author")), typename: typename,
            cursor: edgeCursor)
    }

    private func author(_ node: DataNode?) throws(DataError) -> Author? {
        guard let node else { return nil }
        var fields = DataCursor(node)
        let typename = try fields.string("__typename")
        return Author(
            id: try fields.string("id") ?? "", name: try fields.string("name"),
            typename: typename)
    }
}
