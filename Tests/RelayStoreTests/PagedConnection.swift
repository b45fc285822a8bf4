import RelayArtifacts
import RelayJSON

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// What a server says of a user's todos, page by page and part by part, and what the connection has then.
protocol PagedConnection {
    var store: Store { get }
    /// Of the response that is under way.
    var parts: ResponseParts { get }
}

extension PagedConnection {
    var connection: String { "client:u:__Todos_todos_connection" }

    /// - Parameter answer: the parts of which response these are, where several are under way.
    func take(
        _ name: String, _ variables: VariableData, _ responses: [JSONValue],
        of answer: ResponseParts? = nil
    ) throws {
        let operation = try TodoDocuments.operation(name, variables)
        for response in responses {
            let payload = ArrivedPayload(operation, response.bytes, parts: answer ?? parts)
            _ = try store.commitPayloads([payload])[0].get()
        }
    }

    func edge(_ id: String) -> JSONValue {
        [
            "cursor": .string("c" + id),
            "node": [
                "__typename": "Todo", "id": .string(id), "text": .string("T" + id),
                "complete": true,
            ],
        ]
    }

    func first(_ ids: [String], _ info: JSONValue? = nil) -> JSONValue {
        var todos: JSONObject = ["edges": .array(ids.map(edge))]
        if let info { todos["pageInfo"] = info }
        return ["data": ["me": ["id": "u", "todos": .object(todos)]], "hasNext": true]
    }

    func info(_ start: String, _ end: String, hasNext: Bool) -> JSONValue {
        [
            "startCursor": .string("c" + start), "endCursor": .string("c" + end),
            "hasNextPage": .bool(hasNext), "hasPreviousPage": .bool(hasNext),
        ]
    }

    func streamed(_ ids: [String], at place: Int64) -> JSONValue {
        [
            "incremental": [
                [
                    "path": ["me", "todos", "edges", .int(place)],
                    "items": .array(ids.map(edge)),
                ]
            ], "hasNext": true,
        ]
    }

    func deferred(_ info: JSONValue) -> JSONValue { deferredMembers(["pageInfo": info]) }

    /// These members of the connection come later.
    func deferredMembers(_ members: JSONObject) -> JSONValue {
        [
            "incremental": [["path": ["me", "todos"], "data": .object(members)]],
            "hasNext": false,
        ]
    }

    var nodes: [String] { get throws { try nodes(of: "Page") } }

    func nodes(of name: String) throws -> [String] {
        let edges = try store.json(name, ["count": 2])["me"]?["todos"]?["edges"]?.array
        return edges?.map { $0["node"]?["id"]?.string ?? "-" } ?? ["?"]
    }

    func info(_ name: String) -> FieldValue? { store.field(connection + ":pageInfo", name) }

    /// The end cursor, and whether something follows.
    var end: [FieldValue?] { [info("endCursor"), info("hasNextPage")] }

    /// What others write between the parts.
    func append(_ id: String) throws {
        try store.commitUpdate { source in
            let node = source.create(dataID: DataID(id), typeName: "Todo")
            source["u"]?.connection("Todos_todos")?
                .insert(node, edgeType: "TodoEdge", at: .end)
        }
    }

    func delete(_ id: String) throws {
        try store.commitUpdate { source in
            source["u"]?.connection("Todos_todos")?.delete(nodeID: DataID(id))
        }
    }
}
