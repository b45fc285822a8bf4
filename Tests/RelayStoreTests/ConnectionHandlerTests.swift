import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct ConnectionHandlerTests {
    private let connectionID = "client:u:__Todos_todos_connection"

    private func page(
        _ ids: [String], hasNext: Bool = true, hasPrevious: Bool = false
    ) -> JSONValue {
        let edges = ids.map { id -> JSONValue in
            [
                "cursor": .string("c" + id),
                "node": [
                    "__typename": "Todo", "id": .string(id), "text": .string("T" + id),
                    "complete": true,
                ],
            ]
        }
        func cursor(_ id: String?) -> JSONValue { id.map { .string("c" + $0) } ?? .null }
        return [
            "data": [
                "me": [
                    "id": "u",
                    "todos": [
                        "edges": .array(edges),
                        "pageInfo": [
                            "endCursor": cursor(ids.last), "startCursor": cursor(ids.first),
                            "hasNextPage": .bool(hasNext), "hasPreviousPage": .bool(hasPrevious),
                        ],
                    ],
                ]
            ]
        ]
    }

    private func store(_ ids: [String]) throws -> Store {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Page", ["count": 2], page(ids))
        return store
    }

    private func nodes(
        _ store: Store, _ name: String = "Page", _ variables: VariableData = ["count": 2]
    )
        throws -> [String]
    {
        let connection = try store.json(name, variables)["me"]?["todos"]
        return connection?["edges"]?.array?.map { $0["node"]?["id"]?.string ?? "-" } ?? ["?"]
    }

    private func info(_ store: Store, _ name: String) throws -> FieldValue? {
        store.field(connectionID + ":pageInfo", name)
    }

    @Test func aFollowingPageIsPutBehind() throws {
        let store = try store(["a", "b"])
        try store.commit(
            "Page", ["count": 2, "cursor": "cb"], page(["c", "a", "d"], hasNext: false))
        #expect(try nodes(store) == ["a", "b", "c", "d"])
        #expect(try info(store, "endCursor") == .string("cd"))
        #expect(try info(store, "hasNextPage") == .bool(false))
        #expect(try info(store, "startCursor") == .string("ca"))
    }

    /// An empty page has no cursors.
    @Test func anEmptyPageLeavesTheCursors() throws {
        let store = try store(["a", "b"])
        try store.commit("Page", ["count": 2, "cursor": "cb"], page([], hasNext: false))
        #expect(try nodes(store) == ["a", "b"])
        #expect(try info(store, "endCursor") == .string("cb"))
        #expect(try info(store, "hasNextPage") == .bool(false))
        try store.commit("PageBack", ["count": 2, "cursor": "ca"], page([]))
        #expect(try info(store, "startCursor") == .string("ca"))
    }

    @Test func aPrecedingPageIsPutBefore() throws {
        let store = try store(["c", "d"])
        try store.commit(
            "PageBack", ["count": 2, "cursor": "cc"], page(["a", "b", "d"], hasPrevious: true))
        #expect(try nodes(store) == ["a", "b", "c", "d"])
        #expect(try info(store, "startCursor") == .string("ca"))
        #expect(try info(store, "hasPreviousPage") == .bool(true))
        #expect(try info(store, "endCursor") == .string("cd"))
    }

    @Test func aPageThatWouldLeaveAGapIsLeftOut() throws {
        let store = try store(["a", "b"])
        try store.commit("Page", ["count": 2, "cursor": "cx"], page(["y"]))
        try store.commit("PageBack", ["count": 2, "cursor": "cx"], page(["z"]))
        #expect(try nodes(store) == ["a", "b"])
    }

    @Test func aPageFromTheStartIsTheWholeConnection() throws {
        let store = try store(["a", "b"])
        try store.commit("Page", ["count": 3], page(["x", "a", "x"], hasNext: false))
        #expect(try nodes(store) == ["x", "a"])
        #expect(try info(store, "hasNextPage") == .bool(false))
    }

    /// With or without a default: a list of the client's own is named without a schema.
    @Test func aFilterThatIsNullIsAnotherThanNone() throws {
        let store = Store.quiet()
        let handler = ConnectionHandler.default
        func page(_ id: String) -> JSONValue {
            ["data": ["me": ["id": "u", "tasks": ["edges": [["node": ["id": .string(id)]]]]]]]
        }
        let all: VariableData = ["open": VariableValue.null, "tag": VariableValue.null]
        try store.commit("Tasks", all, page("a"))
        try store.commit("Tasks", [:], page("b"))
        try store.commit("Tasks", ["open": false], page("c"))
        try store.commitPayload(TodoDocuments.operation("Me"), Array(#"{"data":{}}"#.utf8)) {
            store, _ in
            guard let user = store["u"] else { return }
            for (filters, expected) in [(all, "a"), ([:], "b"), (["open": false], "c")] {
                let connection = handler.getConnection(user, key: "Tasks_tasks", filters: filters)
                let edges = connection?.getLinkedRecords("edges", args: nil) ?? []
                #expect(
                    edges.compactMap { $0?.getLinkedRecord("node", args: nil)?.dataID } == [
                        DataID(expected)
                    ])
                let id = handler.getConnectionID(
                    parentID: "u", key: "Tasks_tasks", filters: filters)
                #expect(id == connection?.dataID)
            }
        }
    }

    @Test func filtersTellConnectionsApart() throws {
        let store = Store.quiet()
        try store.commit("Filtered", ["complete": true], page(["a"]))
        try store.commit("Filtered", ["complete": false], page(["b"]))
        #expect(try nodes(store, "Filtered", ["complete": true]) == ["a"])
        #expect(try nodes(store, "Filtered", ["complete": false]) == ["b"])
        let handler = ConnectionHandler.default
        try store.commitUpdate { source in
            let user = try #require(source["u"])
            #expect(handler.getConnection(user, key: "Filtered_todos") == nil)
            let filtered = handler.getConnection(
                user, key: "Filtered_todos", filters: ["complete": true] as VariableData)
            #expect(
                filtered?.dataID
                    == handler.getConnectionID(
                        parentID: "u", key: "Filtered_todos",
                        filters: ["complete": true] as VariableData))
        }
    }

    /// T11: a connection that is null, or was deleted, or lost its link.
    @Test func trap11NullAndDeletedConnections() throws {
        let store = try store(["a", "b"])
        try store.commitUpdate { $0.delete(dataID: DataID(connectionID)) }
        try store.commit("Page", ["count": 2], page(["a", "b"]))
        #expect(try nodes(store) == ["a", "b"])
        try store.commitUpdate { $0["u"]?["__Todos_todos_connection"] = nil }
        try store.commit("Page", ["count": 2], page(["b", "c"]))
        #expect(try nodes(store) == ["b", "c"])
        try store.commit("Page", ["count": 2], ["data": ["me": ["id": "u", "todos": nil]]])
        #expect(try store.json("Page", ["count": 2])["me"]?["todos"] == .null)
    }

    @Test func edgesWithoutNodesStay() throws {
        let store = Store.quiet()
        try store.commit(
            "Page", ["count": 2],
            [
                "data": [
                    "me": [
                        "id": "u",
                        "todos": [
                            "edges": [["cursor": "1", "node": nil], nil],
                            "pageInfo": ["endCursor": "1"],
                        ],
                    ]
                ]
            ])
        #expect(try nodes(store) == ["-", "-"])
    }

    // MARK: Mutations

    private var connections: VariableData { ["text": "x", "connections": [connectionID]] }

    private func added(_ id: String) -> JSONValue {
        ["__typename": "Todo", "id": .string(id), "text": "new"]
    }

    /// T12: a node that is in the connection is not put in again.
    @Test func trap12EdgesAndNodesAreAddedOnce() throws {
        let store = try store(["a", "b"])
        for _ in 0..<2 {
            try store.commit(
                "Append", connections,
                ["data": ["add": ["edge": ["cursor": "cn", "node": added("n")]]]])
            try store.commit("Prepend", connections, ["data": ["add": ["todo": added("m")]]])
            try store.commit(
                "AppendAll", connections,
                ["data": ["add": ["todos": [added("o"), nil, added("a"), added("p")]]]])
        }
        #expect(try nodes(store) == ["m", "a", "b", "n", "o", "p"])
    }

    /// T12: nulls and missing arguments are nothing to add.
    @Test func trap12NullsAreLeftOut() throws {
        let store = try store(["a", "b"])
        let nothing: [JSONValue] = [
            ["data": ["add": nil]], ["data": ["add": ["edge": nil]]],
            ["data": ["add": ["edge": ["cursor": "x", "node": nil]]]],
        ]
        for response in nothing { try store.commit("Append", connections, response) }
        try store.commit(
            "Prepend", ["connections": ["nowhere"]], ["data": ["add": ["todo": added("n")]]])
        try store.commit("Prepend", connections, ["data": ["add": ["todo": nil]]])
        try store.commit("AppendAll", connections, ["data": ["add": ["todos": nil]]])
        try store.commit(
            "Remove", ["id": "a", "connections": [connectionID]],
            ["data": ["remove": ["deletedID": nil, "deletedIDs": nil]]])
        #expect(try nodes(store) == ["a", "b"])
    }

    @Test func deletingAnEdgeKeepsTheRecordAndDeletingARecordKeepsLinks() throws {
        let store = try store(["a", "b", "c"])
        try store.commit(
            "Remove", ["id": "a", "connections": [connectionID]],
            ["data": ["remove": ["deletedID": "a", "deletedIDs": ["b"]]]])
        #expect(try nodes(store) == ["-", "c"])
        #expect(store.snapshot.existing("a") != nil)
        #expect(store.snapshot.deletedIDs() == ["b"])
    }

    /// T12: some servers send numbers where the schema says ID.
    @Test func trap12NumericIDsDeleteEdgesAndRecords() throws {
        let store = try store(["1", "2", "3"])
        try store.commit(
            "Remove", ["id": "1", "connections": [connectionID]],
            ["data": ["remove": ["deletedID": 1, "deletedIDs": [2, "3"]]]])
        #expect(try nodes(store) == ["-", "-"])
        #expect(store.snapshot.existing("1") != nil)
        #expect(store.snapshot.deletedIDs() == ["2", "3"])
    }

    /// The page's edge is at place 7, and its node is called "7", or ends so: that does not make it the node's for
    /// ever.
    @Test(arguments: [JSONValue.int(0), "0", "10"])
    func anEdgeBelongsToItsNodeAndNotToItsPlace(_ id: JSONValue) throws {
        func page(_ ids: [JSONValue]) -> JSONValue {
            let edges = ids.map { id -> JSONValue in
                [
                    "cursor": .string("c" + (id.string ?? id.text)),
                    "node": ["__typename": "Todo", "id": id, "text": "T", "complete": true],
                ]
            }
            return [
                "data": [
                    "me": [
                        "id": "u",
                        "todos": [
                            "edges": .array(edges),
                            "pageInfo": [
                                "endCursor": nil, "startCursor": nil, "hasNextPage": false,
                                "hasPreviousPage": false,
                            ],
                        ],
                    ]
                ]
            ]
        }
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Page", ["count": 2], page([id]))
        func nodes() throws -> [JSONValue?]? {
            try store.json("Page", ["count": 2])["me"]?["todos"]?["edges"]?.array?
                .map { $0["node"]?["id"] }
        }
        let name = id.string ?? id.text
        let before = try store.read("Page", ["count": 2])
        #expect(try nodes() == [id])
        // The same page again, with another node at the place.
        try store.commit("Page", ["count": 2], page([7, id]))
        #expect(try nodes() == [7, id])
        let edges = try store.json("Page", ["count": 2])["me"]?["todos"]?["edges"]?.array
        #expect(edges?.map { $0["cursor"]?.string } == ["c7", "c" + name])
        #expect(before.data?.json["me"]?["todos"]?["edges"]?.array?.count == 1)
    }

    /// Edges that nobody can name are told apart from those that are named by a node.
    @Test func anEdgeWithoutANodeIsNoOtherEdge() throws {
        let store = try store([])
        var page = page(["0"]).object?["data"]?["me"]?["todos"]?.object ?? [:]
        let edge = page["edges"]?.array?.first ?? .null
        page["edges"] = [["cursor": "none", "node": nil], edge]
        try store.commit(
            "Page", ["count": 2], ["data": ["me": ["id": "u", "todos": .object(page)]]])
        let edges = try store.json("Page", ["count": 2])["me"]?["todos"]?["edges"]?.array
        #expect(edges?.map { $0["cursor"]?.string } == ["none", "c0"])
    }

    @Test func anOptimisticEdgeAndItsAnswerAreOneEdge() throws {
        let store = try store(["a"])
        let operation = try TodoDocuments.operation("Append", connections)
        let response: JSONValue = [
            "data": ["add": ["edge": ["cursor": "cn", "node": added("n")]]]
        ]
        let entry = try store.applyMutation(
            operation, optimistic: OptimisticMutation(response: response.bytes))
        #expect(try nodes(store) == ["a", "n"])
        try store.commit("Page", ["count": 2, "cursor": "ca"], page(["b"]))
        #expect(try nodes(store) == ["a", "b", "n"])
        try store.commitResponse(entry, operation, response.bytes)
        #expect(try nodes(store) == ["a", "b", "n"])
    }

    @Test func sharedMutationsInsertMoveAndDeleteByNode() throws {
        let store = try store(["a", "b", "c"])
        try store.commitUpdate { source in
            let connection = try #require(source["u"]?.connection("Todos_todos"))
            let node = source.create(dataID: "n", typeName: "Todo")
            connection.insert(node, edgeType: "TodoEdge", at: .after(nodeID: "a"))
            connection.insert(node, edgeType: "TodoEdge", at: .end)
            connection.move(nodeID: "c", to: .start)
            connection.move(nodeID: "c", to: .before(nodeID: "c"))
            connection.move(nodeID: "nothing", to: .start)
            connection.delete(nodeID: "b")
            #expect(connection.nodes.map(\.dataID) == ["c", "a", "n"])
        }
        let nodes = try nodes(store)
        #expect(nodes == ["c", "a", "n"])
    }

    /// The result is what the server has said, also of a record that it has deleted.
    @Test func aResponseIsReadWithWhatItsDirectivesDelete() throws {
        let text = """
            mutation Drop($id: ID!) { change(id: $id) { todo { id @deleteRecord text } } }
            """
        let documents = try RelayDocuments(
            try Document(parsing: text), schema: try Schema.build([Source(TodoDocuments.schema)]))
        let compiled = try #require(documents.operation("Drop"))
        let operation = OperationDescriptor(compiled.request, variables: ["id": "a"])
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commitUpdate { $0.create(dataID: "a", typeName: "Todo")["text"] = "old" }
        let entry = try store.applyMutation(operation)
        let response: JSONValue = ["data": ["change": ["todo": ["id": "a", "text": "last"]]]]
        let written = try store.commitResponse(entry, operation, response.bytes) { source, data in
            #expect(source["a"] == nil)
            #expect(data?.data?.json["change"]?["todo"]?["text"] == "last")
        }
        #expect(written.reading.data?.json["change"]?["todo"]?["text"] == "last")
        #expect(store.snapshot.existing("a") == nil)
    }
}
