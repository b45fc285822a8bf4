import RelayArtifacts
import RelayJSON
import Testing

@testable import RelayReading
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Fragments with `@alias`: objects of their own in the data, or null.
@Suite(.bounded) struct AliasTests {
    private let store = Store.quiet()

    private func commit(_ fields: JSONValue, _ id: String) throws {
        try store.commit("Aliased", ["id": id], ["data": ["node": fields]])
    }

    private func node(_ id: String) throws -> DataNode? {
        guard
            case .node(let node)? = try store.read("Aliased", ["id": id]).data?
                .child(named: "node")
        else { return nil }
        return node
    }

    private let todo: JSONValue = [
        "__typename": "Todo", "id": "a", "text": "first", "author": ["id": "u", "name": "Ada"],
    ]

    @Test func anAliasIsReadFromRecordsOfItsTypeAndNullForOthers() throws {
        try commit(todo, "a")
        #expect(
            try node("a")?.json == [
                "id": "a", "todo": ["text": "first", "author": ["id": "u", "name": "Ada"]],
                "user": .null, "always": ["__typename": "Todo"],
            ])
        try commit(["__typename": "User", "id": "u", "name": "Ada"], "u")
        #expect(
            try node("u")?.json == [
                "id": "u", "todo": .null, "user": [:], "always": ["__typename": "User"],
            ])
    }

    @Test func aSpreadIsAPointerInTheObjectOfItsAlias() throws {
        try commit(["__typename": "User", "id": "u", "name": "Ada"], "u")
        let node = try #require(try node("u"))
        guard case .node(let user)? = node.child(named: "user") else {
            Issue.record("There is no user.")
            return
        }
        #expect(user.reading.spreads["Name_user"] == SpreadArguments())
        #expect(user.record == node.record)
        #expect(node.reading.spreads.isEmpty)
        var cursor = DataCursor(node)
        #expect(try cursor.cursor("user") != nil)
        #expect(try cursor.cursor("todo") == nil)
        #expect(try cursor.node("always") != nil)
        withExtendedLifetime(node) {}
    }

    @Test func readersAreToldOfChangesUnderAnAlias() throws {
        try commit(todo, "a")
        let told = Told()
        let first = try store.read("Aliased", ["id": "a"])
        let token = try store.subscribe(first) { told.add($0) }
        try store.commitUpdate { $0["a"]?["complete"] = true }
        #expect(told.count == 0)
        try store.commitUpdate { $0["a"]?["text"] = "second" }
        #expect(told.count == 1)
        try store.commitUpdate { $0["u"]?["name"] = "Eve" }
        #expect(told.count == 2)
        #expect(
            try node("a")?.json["todo"] == [
                "text": "second", "author": ["id": "u", "name": "Eve"],
            ])
        token.cancel()
    }

    @Test func equalPartsUnderAnAliasAreGivenAgain() throws {
        try commit(todo, "a")
        let selector = ReaderSelector(try TodoDocuments.operation("Aliased", ["id": "a"]))
        let before = store.lookup(selector)
        #expect(store.lookup(selector, previous: before).data === before.data)
    }

    @Test func aMissingFieldUnderAnAliasIsMissing() throws {
        try store.commitUpdate { $0.create(dataID: "a", typeName: "Todo")["text"] = "first" }
        try store.commitUpdate {
            $0.root.setLinkedRecord("node", args: ["id": "a"], record: $0["a"])
        }
        #expect(try store.read("Aliased", ["id": "a"]).isMissingData)
    }
}
