import RelayArtifacts
import RelayJSON
import Testing
import Threads

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// A connection gets what `@defer` and `@stream` bring of its page, as it gets the page.
@Suite(.bounded) struct ConnectionPartsTests: PagedConnection {
    let store = Store.quiet { $0.journal = InMemoryJournal() }
    let parts = ResponseParts()

    @Test(arguments: [[], ["a"]])
    func theFirstPageMayBeStreamed(_ atFirst: [String]) throws {
        let rest = ["a", "b", "c"].dropFirst(atFirst.count)
        try take("Page", ["count": 2], [first(atFirst)])
        for (place, id) in zip(Int64(atFirst.count)..., rest) {
            try take("Page", ["count": 2], [streamed([id], at: place)])
        }
        #expect(try nodes == ["a", "b", "c"])
        #expect(info("hasNextPage") == .bool(false))
        try take("Page", ["count": 2], [deferred(info("a", "c", hasNext: true))])
        #expect(try nodes == ["a", "b", "c"])
        #expect(info("endCursor") == .string("cc"))
        #expect(info("hasNextPage") == .bool(true))
    }

    @Test(arguments: [true, false])
    func aFollowingPageMayBeStreamed(_ hasInfoAtFirst: Bool) throws {
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: true))])
        let last = info("c", "e", hasNext: false)
        try take(
            "Page", ["count": 2, "cursor": "cb"],
            [first(["c"], hasInfoAtFirst ? last : nil), streamed(["d", "a", "e"], at: 1)]
                + (hasInfoAtFirst ? [] : [deferred(last)]))
        #expect(try nodes == ["a", "b", "c", "d", "e"])
        #expect(info("endCursor") == .string("ce"))
        #expect(info("startCursor") == .string("ca"))
    }

    @Test(arguments: [true, false])
    func aPrecedingPageMayBeStreamed(_ hasInfoAtFirst: Bool) throws {
        try take("Page", ["count": 2], [first(["d"], info("d", "d", hasNext: true))])
        let last = info("a", "c", hasNext: false)
        try take(
            "PageBack", ["count": 2, "cursor": "cd"],
            [first([], hasInfoAtFirst ? last : nil), streamed(["a"], at: 0)]
                + [streamed(["b", "c"], at: 1)] + (hasInfoAtFirst ? [] : [deferred(last)]))
        #expect(try nodes == ["a", "b", "c", "d"])
        #expect(info("startCursor") == .string("ca"))
        #expect(info("endCursor") == .string("cd"))
    }

    /// A page that would leave a gap is left out with all its parts.
    @Test func aPageElsewhereIsLeftOutWithItsParts() throws {
        try take("Page", ["count": 2], [first(["a"], info("a", "a", hasNext: true))])
        try take(
            "Page", ["count": 2, "cursor": "cx"],
            [first(["y"]), streamed(["z"], at: 1), deferred(info("y", "z", hasNext: false))])
        #expect(try nodes == ["a"])
        #expect(info("endCursor") == .string("ca"))
    }

    /// The first page is fetched again while the next one streams: what had come of that is gone with it.
    @Test(arguments: [true, false])
    func aPageWhoseBeginningIsGoneIsJoinedWhole(_ hasInfoAtFirst: Bool) throws {
        let firstPage = first(["a", "b"], info("a", "b", hasNext: true))
        let last = info("c", "e", hasNext: false)
        try take("Page", ["count": 2], [firstPage])
        try take(
            "Page", ["count": 2, "cursor": "cb"],
            [first(["c"], hasInfoAtFirst ? last : nil)])
        try store.commit("Page", ["count": 2], firstPage)
        #expect(try nodes == ["a", "b"])
        try take(
            "Page", ["count": 2, "cursor": "cb"],
            [streamed(["d"], at: 1), streamed(["e"], at: 2)]
                + (hasInfoAtFirst ? [] : [deferred(last)]))
        #expect(try nodes == ["a", "b", "c", "d", "e"])
        #expect(info("endCursor") == .string("ce"))
        #expect(info("hasNextPage") == .bool(false))
    }

    /// And backwards.
    @Test func aPrecedingPageWhoseEndIsGoneIsJoinedWhole() throws {
        let lastPage = first(["x", "y"], info("x", "y", hasNext: true))
        try take("Page", ["count": 2], [lastPage])
        try take("PageBack", ["count": 2, "cursor": "cx"], [first(["u"])])
        try store.commit("Page", ["count": 2], lastPage)
        try take(
            "PageBack", ["count": 2, "cursor": "cx"],
            [streamed(["v", "w"], at: 1), deferred(info("u", "w", hasNext: false))])
        #expect(try nodes == ["u", "v", "w", "x", "y"])
        #expect(info("startCursor") == .string("cu"))
    }

    /// Where all its edges had come, what comes behind them leads on behind a gap.
    @Test func whatComesBehindEdgesThatAreGoneIsLeftOut() throws {
        let firstPage = first(["a", "b"], info("a", "b", hasNext: true))
        let variables: VariableData = ["count": 2, "cursor": "cb"]
        try take("Page", ["count": 2], [firstPage])
        try take("Page", variables, [first(["c", "d"])])
        try store.commit("Page", ["count": 2], firstPage)
        try take("Page", variables, [deferred(info("c", "d", hasNext: false))])
        #expect(try nodes == ["a", "b"])
        #expect(info("endCursor") == .string("cb"))
        #expect(info("hasNextPage") == .bool(true))
        try take("Page", variables, [first(["c", "d"], info("c", "d", hasNext: false))])
        #expect(try nodes == ["a", "b", "c", "d"])
        #expect(info("hasNextPage") == .bool(false))
    }

    /// The page behind it is there before the first edge of it comes.
    @Test func aFirstPageThatStreamsStandsBeforeOthers() throws {
        let last = info("a", "b", hasNext: true)
        try take("Page", ["count": 2], [first([], last)])
        try store.commit(
            "Page", ["count": 2, "cursor": "cb"],
            first(["c", "d"], info("c", "d", hasNext: false)))
        try take("Page", ["count": 2], [streamed(["a"], at: 0), streamed(["b"], at: 1)])
        #expect(try nodes == ["a", "b", "c", "d"])
    }

    /// And backwards.
    @Test func aLastPageThatStreamsStandsBehindOthers() throws {
        try take("PageBack", ["count": 2], [first([], info("c", "d", hasNext: true))])
        try store.commit(
            "PageBack", ["count": 2, "cursor": "cc"],
            first(["a", "b"], info("a", "b", hasNext: false)))
        try take("PageBack", ["count": 2], [streamed(["c"], at: 0), streamed(["d"], at: 1)])
        #expect(try nodes == ["a", "b", "c", "d"])
    }

    /// Another operation has written the same field of the server's meanwhile.
    @Test func whatAnotherResponseBroughtFirstIsAddedToo() throws {
        let last = info("a", "e", hasNext: false)
        try take("Page", ["count": 2], [first(["a"], last)])
        let others = ResponseParts()
        let operation = try TodoDocuments.operation("Bare", ["count": 2])
        for response in [first(["a", "b", "c"], last), streamed(["d"], at: 3)] {
            let payload = ArrivedPayload(operation, response.bytes, parts: others)
            _ = try store.commitPayloads([payload])[0].get()
        }
        #expect(try nodes == ["a"])
        try take(
            "Page", ["count": 2], [streamed(["b"], at: 1), streamed(["c", "d"], at: 2)])
        #expect(try nodes == ["a", "b", "c", "d"])
    }

    /// The page behind one that still streams.
    @Test func aPageGoesOnWhereItBegan() throws {
        let variables: VariableData = ["count": 2, "cursor": "cb"]
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: true))])
        try take("Page", variables, [first(["c"], info("c", "e", hasNext: true))])
        try store.commit(
            "Page", ["count": 2, "cursor": "ce"], first(["f"], info("f", "f", hasNext: false)))
        try take("Page", variables, [streamed(["d"], at: 1), streamed(["e"], at: 2)])
        #expect(try nodes == ["a", "b", "c", "d", "e", "f"])
        #expect(info("endCursor") == .string("cf"))
    }

    /// Two answers bring the same nodes, as edges of their own.
    @Test func pagesOfOtherSizesMayStreamAtOnce() throws {
        try take("Page", ["count": 2], [first(["a"])])
        let others = ResponseParts()
        let operation = try TodoDocuments.operation("Page", ["count": 4])
        func takeOther(_ response: JSONValue) throws {
            let payload = ArrivedPayload(operation, response.bytes, parts: others)
            _ = try store.commitPayloads([payload])[0].get()
        }
        try takeOther(first(["a", "b"]))
        try take("Page", ["count": 2], [streamed(["b"], at: 1), streamed(["c"], at: 2)])
        try takeOther(streamed(["c"], at: 2))
        try takeOther(streamed(["d"], at: 3))
        #expect(try nodes == ["a", "b", "c", "d"])
    }

    /// A page may begin with edges that the list has already.
    @Test func aPageThatRepeatsEdgesGoesOnAtTheEnd() throws {
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: true))])
        try take(
            "Page", ["count": 2, "cursor": "cb"], [first(["a"]), streamed(["c", "d"], at: 1)])
        #expect(try nodes == ["a", "b", "c", "d"])
    }

    @Test func whatOthersChangeBetweenThePartsStays() throws {
        try take("Page", ["count": 2], [first(["a", "b"])])
        try store.commitUpdate { source in
            let connection = try #require(source["u"]?.connection("Todos_todos"))
            let node = source.create(dataID: "n", typeName: "Todo")
            connection.insert(node, edgeType: "TodoEdge", at: .end)
            connection.delete(nodeID: "a")
        }
        try take("Page", ["count": 2], [streamed(["c", "d"], at: 2)])
        #expect(try nodes == ["b", "c", "d", "n"])
        try take("Page", ["count": 2], [deferred(info("a", "d", hasNext: false))])
        #expect(try nodes == ["b", "c", "d", "n"])
    }

    /// Several parts in one message, and an edge that gets its node later.
    @Test func anEdgeMayGetItsNodeLater() throws {
        let bare: JSONValue = [
            "data": ["me": ["id": "u", "todos": ["edges": [["cursor": "ca"]]]]], "hasNext": true,
        ]
        let node: JSONValue = edge("a")["node"] ?? .null
        let later: JSONValue = [
            "incremental": [
                ["path": ["me", "todos", "edges", 1], "items": [edge("b")]],
                ["path": ["me", "todos", "edges", 0], "data": ["node": node]],
                ["path": ["me", "todos", "edges", 2], "items": [edge("c")]],
            ], "hasNext": false,
        ]
        try take("Page", ["count": 2], [bare, later])
        #expect(try nodes == ["a", "b", "c"])
    }

    /// A page whose first edge has no node at first.
    private func bare(_ id: String, _ others: [String]) -> JSONValue {
        let edges: [JSONValue] = [["cursor": .string("c" + id)]] + others.map(edge)
        return [
            "data": ["me": ["id": "u", "todos": ["edges": .array(edges)]]], "hasNext": true,
        ]
    }

    /// What the first edge gets.
    private func late(_ members: JSONObject) -> JSONValue {
        [
            "incremental": [["path": ["me", "todos", "edges", 0], "data": .object(members)]],
            "hasNext": true,
        ]
    }

    /// The node was in the connection once, and has been taken out.
    @Test func aNodeThatComesLateMayHaveLeft() throws {
        try take("Page", ["count": 2], [bare("n", [])])
        try append("n")
        try take("Page", ["count": 2], [streamed(["b"], at: 1)])
        try delete("n")
        #expect(try nodes == ["-", "b"])
        try take("Page", ["count": 2], [late(["node": edge("n")["node"] ?? .null])])
        #expect(try nodes == ["n", "b"])
    }

    /// The node is in the connection already, and stays where it is, whatever becomes of the page.
    @Test func aNodeThatComesLateStaysWhatItIs() throws {
        let next: VariableData = ["count": 2, "cursor": "cb"]
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: true))])
        try append("n")
        try take(
            "Page", next,
            [
                bare("n", ["c"]), late(["node": edge("n")["node"] ?? .null]),
                late(["cursor": "cn"]), deferred(info("n", "c", hasNext: false)),
            ])
        #expect(try nodes == ["a", "b", "n", "c"])
        let again = ResponseParts()
        try take("Page", next, [first(["d"], info("d", "d", hasNext: false))], of: again)
        #expect(try nodes == ["a", "b", "n", "d"])
    }

    /// A part of the record that has the connection says nothing of it.
    @Test func aPartOfTheParentLeavesTheConnection() throws {
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: true))])
        try take(
            "Page", ["count": 2, "cursor": "cb"], [first(["c"], info("c", "c", hasNext: true))])
        try store.commitUpdate { source in
            let connection = try #require(source["u"]?.connection("Todos_todos"))
            connection.insert(
                source.create(dataID: "n", typeName: "Todo"), edgeType: "TodoEdge", at: .end)
            connection.delete(nodeID: "a")
        }
        // Deferred with another fragment; or the connection itself is still to come.
        let deferred: JSONValue = [
            "incremental": [["path": ["me"], "data": ["id": "u"]]], "hasNext": true,
        ]
        try take("Page", ["count": 2], [["data": ["me": ["id": "u"]], "hasNext": true], deferred])
        #expect(try nodes == ["b", "c", "n"])
        #expect(info("endCursor") == .string("cc"))
    }

    /// What a mutation says of an edge may be deferred as well.
    @Test func anAppendedEdgeMayGetItsNodeLater() throws {
        try take("Page", ["count": 2], [first(["a"], info("a", "a", hasNext: false))])
        let variables: VariableData = ["text": "x", "connections": [connection]]
        let node: JSONValue = edge("b")["node"] ?? .null
        try take(
            "Append", variables,
            [
                ["data": ["add": ["edge": ["cursor": "cb"]]], "hasNext": true],
                [
                    "incremental": [["path": ["add", "edge"], "data": ["node": node]]],
                    "hasNext": false,
                ],
            ])
        #expect(try nodes == ["a", "b"])
    }

    @Test func whoIsSubscribedIsToldOfEachPart() throws {
        try take("Page", ["count": 2], [first(["a"])])
        let told = Lock<[Int]>([])
        let selector = ReaderSelector(try TodoDocuments.operation("Page", ["count": 2]))
        let subscription = try store.subscribe(store.lookup(selector)) { snapshot in
            let edges = snapshot.data?.json["me"]?["todos"]?["edges"]?.array
            told.withLock { $0.append(edges?.count ?? -1) }
        }
        try take(
            "Page", ["count": 2], [streamed(["b"], at: 1), streamed(["c"], at: 2)])
        #expect(told.withLock { $0 } == [2, 3])
        withExtendedLifetime(subscription) {}
    }
}
