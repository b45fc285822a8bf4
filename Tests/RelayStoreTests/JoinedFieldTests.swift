import RelayArtifacts
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// One field that is selected in several places, with directives in some of them.
@Suite(.bounded) struct JoinedFieldTests {
    private let store = Store.quiet()

    private func page(_ ids: [String], hasNext: Bool) -> JSONValue {
        [
            "edges": .array(
                ids.map {
                    [
                        "cursor": .string("c" + $0),
                        "node": ["__typename": "Todo", "id": .string($0)],
                    ]
                }), "totalCount": 3,
            "pageInfo": [
                "endCursor": .string("c" + (ids.last ?? "")), "hasNextPage": .bool(hasNext),
            ],
        ]
    }

    /// Two pages arrive, and the data of the first has both.
    @Test(
        arguments: [
            ("Full", "full", "me"), ("FullFirst", "count", "me"), ("FullOfType", nil, "search"),
        ] as [(String, String?, String)])
    func aConnectionIsReadWhereverItIsSelected(
        _ query: String, _ condition: String?, _ field: String
    ) throws {
        func variables(_ cursor: String?) -> VariableData {
            var values: [String: VariableValue] = [:]
            if let cursor { values["cursor"] = .string(cursor) }
            if let condition { values[condition] = true }
            return VariableData(values)
        }
        for (cursor, ids) in [(nil, ["a", "b"]), ("cb", ["c"])] as [(String?, [String])] {
            let user: JSONValue = [
                "__typename": "User", "__isNode": "User", "id": "u",
                "todos": page(ids, hasNext: cursor == nil),
            ]
            let value: JSONValue = field == "search" ? [user] : user
            try store.commit(query, variables(cursor), ["data": .object([field: value])])
        }
        let value = try store.json(query, variables(nil))[field]
        let todos = (value?.array?.first ?? value)?["todos"]
        #expect(todos?["edges"]?.array?.map { $0["node"]?["id"] } == ["a", "b", "c"])
        #expect(todos?["totalCount"] == 3)
        #expect(try !store.read(query, variables(nil)).isMissingData)
    }

    /// Where the condition leaves the connection out, there is none.
    @Test func aFieldThatIsNoConnectionIsReadFromItsRecord() throws {
        try store.commit(
            "Full", ["full": false], ["data": ["me": ["id": "u", "todos": ["totalCount": 3]]]])
        #expect(try store.json("Full", ["full": false])["me"]?["todos"] == ["totalCount": 3])
        #expect(try !store.read("Full", ["full": false]).isMissingData)
    }

    /// The compiler adds cursors to a connection; those that are selected under a condition have a directive.
    @Test func aLeafHasTheDirectivesOfAllItsPlaces() throws {
        try store.commit(
            "CaughtCursors", ["with": true],
            [
                "data": [
                    "me": [
                        "id": "u",
                        "todos": [
                            "edges": [
                                ["cursor": nil, "node": ["__typename": "Todo", "id": "a"]]
                            ], "pageInfo": ["endCursor": "ca", "hasNextPage": false],
                        ],
                    ]
                ],
                "errors": [["message": "lost", "path": ["me", "todos", "edges", 0, "cursor"]]],
            ])
        #expect(try store.read("CaughtCursors", ["with": false]).errors.count == 1)
        #expect(try store.read("CaughtCursors", ["with": true]).errors.isEmpty)
        func edges(_ query: String, with: Bool) throws -> JSONValue? {
            try store.json(query, ["with": with])["me"]?["todos"]?["edges"]
        }
        #expect(try edges("RequiredCursors", with: false)?.array?.count == 1)
        #expect(try edges("RequiredCursors", with: true) == [nil])
    }

    /// An error that one place catches is the value of the field that another requires; null is not.
    @Test func aCaughtErrorIsThereWhereItIsRequired() throws {
        func commit(_ errors: [JSONValue]) throws {
            let user: JSONValue = [
                "__typename": "User", "__isNamed": "User", "id": "u", "name": nil,
            ]
            try store.commit(
                "CaughtAndRequired", ["data": ["node": user], "errors": .array(errors)])
        }
        try commit([["message": "lost", "path": ["node", "name"]]])
        let failed = try store.read("CaughtAndRequired")
        #expect(failed.required == nil && failed.errors.isEmpty)
        #expect(failed.data?.json["node"]?["id"] == "u")
        try commit([])
        #expect(try store.read("CaughtAndRequired").required?.path == ["node", "name"])
    }
}
