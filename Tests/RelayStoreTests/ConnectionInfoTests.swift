import RelayArtifacts
import RelayJSON
import Testing

@testable import RelayNormalization
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// What a connection's pageInfo has besides what the client pages by.
@Suite(.bounded) struct ConnectionInfoTests: PagedConnection {
    let store = Store.quiet()
    let parts = ResponseParts()

    /// - Parameter total: is in each of the fields.
    private func info(_ end: String, total: Int64) -> JSONValue {
        [
            "__typename": "TodoPageInfo", "endCursor": .string("c" + end), "hasNextPage": true,
            "total": .int(total), "range": ["from": .int(total)],
            "marks": [["from": .int(total)], nil],
        ]
    }

    private func expect(_ total: Int64, of query: String = "Informed") throws {
        let read = try store.json(query, ["count": 2])["me"]?["todos"]?["pageInfo"]
        #expect(read?["total"] == .int(total))
        #expect(read?["range"] == ["from": .int(total)])
        #expect(read?["marks"] == [["from": .int(total)], nil])
        #expect(read?["__typename"] == "TodoPageInfo")
        #expect(try !store.read(query, ["count": 2]).isMissingData)
    }

    /// Like the connection's own fields: as the newest page has them.
    @Test func allThatThePagesHaveCanBeRead() throws {
        try take("Informed", ["count": 2], [first(["a", "b"], info("b", total: 3))])
        try expect(3)
        try take(
            "Informed", ["count": 2, "cursor": "cb"], [first(["c"], info("c", total: 4))])
        #expect(try nodes(of: "Informed") == ["a", "b", "c"])
        try expect(4)
        #expect(end == [.string("cc"), .bool(true)])
        try take("Informed", ["count": 2], [first(["a"], info("a", total: 5))])
        try expect(5)
        #expect(end == [.string("ca"), .bool(true)])
    }

    @Test func itMayComeLater() throws {
        try take("Informed", ["count": 2], [first(["a", "b"])])
        #expect(try store.read("Informed", ["count": 2]).isMissingData)
        try take("Informed", ["count": 2], [deferred(info("b", total: 3))])
        try expect(3)
        #expect(end == [.string("cb"), .bool(true)])
    }

    /// A page that is left out says nothing about the list that is shown.
    @Test func aPageBehindAGapIsLeftOut() throws {
        try take("Informed", ["count": 2], [first(["a", "b"], info("b", total: 3))])
        try take("Informed", ["count": 2, "cursor": "cx"], [first(["y"], info("y", total: 4))])
        try expect(3)
        #expect(end == [.string("cb"), .bool(true)])
    }

    /// Another query, which selects less, takes nothing away.
    @Test func whatAnotherQueryDoesNotSelectStays() throws {
        try take("Informed", ["count": 2], [first(["a", "b"], info("b", total: 3))])
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: false))])
        try expect(3)
        #expect(end == [.string("cb"), .bool(false)])
    }
}
