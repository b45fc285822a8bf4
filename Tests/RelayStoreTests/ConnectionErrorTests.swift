import RelayArtifacts
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Readers of a connection are shown what was wrong with its pages.
@Suite(.bounded) struct ConnectionErrorTests: PagedConnection {
    let store = Store.quiet { $0.journal = InMemoryJournal() }
    let parts = ResponseParts()
    private let following: VariableData = ["count": 2, "cursor": "cb"]

    private func page(
        _ edges: [JSONValue], _ end: String, errors: (message: String, index: Int)...
    ) -> JSONValue {
        [
            "data": [
                "me": [
                    "id": "u",
                    "todos": ["edges": .array(edges), "pageInfo": info("a", end, hasNext: true)],
                ]
            ],
            "errors": .array(
                errors.map { error in
                    [
                        "message": .string(error.message),
                        "path": ["me", "todos", "edges", .int(Int64(error.index))],
                    ]
                }),
        ]
    }

    private var all: [String] {
        get throws {
            try store.read("Page", ["count": 2]).errors.flatMap { error in
                error.errors.array?.compactMap { $0["message"]?.string } ?? []
            }
        }
    }

    @Test func aConnectionThatFailedHasItsError() throws {
        try take("Page", ["count": 2], [page([edge("a"), edge("b")], "b")])
        let failed: JSONValue = [
            "data": ["me": ["id": "u", "todos": nil]],
            "errors": [["message": "lost", "path": ["me", "todos"]]],
        ]
        try take("Page", ["count": 2], [failed])
        #expect(try all == ["lost"])
        try take("Page", ["count": 2], [["data": ["me": ["id": "u", "todos": nil]]]])
        #expect(try all.isEmpty)
    }

    /// What has come of it before stays, and the page can be asked for again.
    @Test func aFollowingPageThatFailedLeavesTheConnectionAsItIs() throws {
        try take("Page", ["count": 2], [page([edge("a"), edge("b")], "b")])
        let failed: JSONValue = [
            "data": ["me": ["id": "u", "todos": nil]],
            "errors": [["message": "lost", "path": ["me", "todos"]]],
        ]
        try take("Page", following, [failed])
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("cb"), .bool(true)])
        try take("Page", following, [page([edge("c")], "c")])
        #expect(try nodes == ["a", "b", "c"])
    }

    @Test func errorsOfEdgesAreThoseOfAllPages() throws {
        try take("Page", ["count": 2], [page([edge("a"), nil], "b", errors: ("one", 1))])
        #expect(try all == ["one"])
        try take("Page", following, [page([nil], "c", errors: ("two", 0))])
        #expect(try all == ["one", "two"])
        // The server has mended the first, and then the other.
        try take("Page", following, [page([edge("c")], "c")])
        #expect(try all == ["one"])
        try take("Page", ["count": 2], [page([edge("a"), edge("b")], "b")])
        #expect(try all.isEmpty)
    }

    /// A collection takes the records of pages that only pages' own operations have asked for.
    @Test func errorsOfEdgesStayAsLongAsTheEdges() throws {
        let retention = try store.retain(TodoDocuments.operation("Page", ["count": 2]))
        try take("Page", ["count": 2], [page([edge("a"), edge("b")], "b")])
        try take("Page", following, [page([edge("c"), nil], "d", errors: ("lost", 1))])
        for place in 0..<12 {
            let cursor = place == 0 ? "cd" : "cx\(place - 1)"
            let variables: VariableData = ["count": 2, "cursor": cursor]
            try take("Page", variables, [page([edge("x\(place)")], "x\(place)")])
        }
        store.collectGarbage()
        try take("Page", ["count": 2, "cursor": "cx11"], [page([edge("y")], "y")])
        #expect(try nodes.prefix(5) == ["a", "b", "c", "-", "x0"])
        #expect(try all == ["lost"])
        retention.cancel()
    }

    /// The edges are those of the answer before, and so are their errors.
    @Test func errorsOfAPageThatIsLeftOutAreNotTheConnections() throws {
        try take("Page", ["count": 2], [page([edge("a"), edge("b")], "b")])
        try take("Page", following, [page([edge("c"), nil], "d", errors: ("lost", 1))])
        try take("Page", ["count": 2, "cursor": "cd"], [page([edge("e")], "e")])
        try take("Page", following, [page([nil], "d", errors: ("other", 0))])
        #expect(try nodes == ["a", "b", "c", "-", "e"])
        #expect(try all == ["lost"])
        // What is left out may have come whole.
        try store.commit("Page", following, page([nil], "d", errors: ("other", 0)))
        try take("Page", ["count": 2, "cursor": "ce"], [page([edge("f")], "f")])
        #expect(try all == ["lost"])
    }

    @Test func errorsOfStreamedEdgesAreShown() throws {
        try take("Page", ["count": 2], [first(["a"])])
        let part: JSONValue = [
            "incremental": [
                [
                    "path": ["me", "todos", "edges", 1], "items": [nil],
                    "errors": [["message": "lost", "path": ["me", "todos", "edges", 1]]],
                ]
            ], "hasNext": true,
        ]
        try take("Page", ["count": 2], [part])
        #expect(try nodes == ["a", "-"])
        #expect(try all == ["lost"])
    }
}
