import RelayArtifacts
import RelayJSON
import Testing

@testable import RelayNormalization
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Which pages a connection has, where their parts belong, and what its end is, whatever comes between the parts.
@Suite(.bounded) struct ConnectionPageTests: PagedConnection {
    let store = Store.quiet { $0.journal = InMemoryJournal() }
    let parts = ResponseParts()
    private let following: VariableData = ["count": 2, "cursor": "cb"]

    private func takeFirst() throws {
        try take("Page", ["count": 2], [first(["a", "b"], info("a", "b", hasNext: true))])
    }

    // MARK: What a response has not brought

    /// The record of a page outlives a refetch of the first one, with a pageInfo of before.
    @Test func anOldPageInfoIsNotTaken() throws {
        try takeFirst()
        try take("Page", following, [first(["c"]), deferred(info("c", "c", hasNext: false))])
        #expect(end == [.string("cc"), .bool(false)])
        try takeFirst()
        try take("Page", following, [first(["c"])])
        #expect(end == [.string("cb"), .bool(true)])
        try take(
            "Page", following,
            [streamed(["d"], at: 1), deferred(info("c", "d", hasNext: true))])
        #expect(try nodes == ["a", "b", "c", "d"])
        #expect(end == [.string("cd"), .bool(true)])
    }

    @Test func oldEdgesAreNotTaken() throws {
        let begun: JSONValue = ["data": ["me": ["id": "u", "todos": [:]]], "hasNext": true]
        try takeFirst()
        try take("Page", following, [first(["c"]), deferred(info("c", "c", hasNext: false))])
        try takeFirst()
        try take("Page", following, [begun])
        #expect(try nodes == ["a", "b"])
        let rest: JSONObject = [
            "edges": .array(["c", "d"].map(edge)), "pageInfo": info("c", "d", hasNext: true),
        ]
        try take("Page", following, [deferredMembers(rest)])
        #expect(try nodes == ["a", "b", "c", "d"])
        #expect(end == [.string("cd"), .bool(true)])
    }

    /// All of the first page is deferred: what was there is shown until it comes.
    @Test func aFirstPageBeginsWhenItsEdgesCome() throws {
        let begun: JSONValue = ["data": ["me": ["id": "u", "todos": [:]]], "hasNext": true]
        try takeFirst()
        try take("Page", following, [first(["c"], info("c", "c", hasNext: false))])
        try take("Page", ["count": 2], [begun])
        #expect(try nodes == ["a", "b", "c"])
        let rest: JSONObject = [
            "edges": .array(["x", "y"].map(edge)), "pageInfo": info("x", "y", hasNext: true),
        ]
        try take("Page", ["count": 2], [deferredMembers(rest)])
        #expect(try nodes == ["x", "y"])
        #expect(end == [.string("cy"), .bool(true)])
    }

    /// A pageInfo that comes before the edges begins no page: what is shown stays until the edges come.
    @Test(arguments: [2, 20])
    func aFirstPageBeginsWithItsEdgesAndNotWithItsPageInfo(_ count: Int) throws {
        try takeFirst()
        let begun: JSONValue = [
            "data": ["me": ["id": "u", "todos": ["pageInfo": info("x", "y", hasNext: true)]]],
            "hasNext": true,
        ]
        let variables: VariableData = ["count": count]
        try take("Page", variables, [begun])
        #expect(try nodes == ["a", "b"])
        let rest: JSONObject = ["edges": .array(["x", "y"].map(edge))]
        try take("Page", variables, [begun, deferredMembers(rest)])
        #expect(try nodes == ["x", "y"])
        #expect(end == [.string("cy"), .bool(true)])
    }

    /// Cut behind its beginning, it does not lead on behind edges that are gone.
    @Test func aFirstPageWithoutPageInfoHasNoEndYet() throws {
        try takeFirst()
        try take("Page", following, [first(["c"], info("c", "c", hasNext: true))])
        try take("Page", ["count": 2], [first(["a"])])
        #expect(try nodes == ["a"])
        #expect(end == [.null, .bool(false)])
        try take(
            "Page", ["count": 2, "cursor": "cc"], [first(["d"], info("d", "d", hasNext: false))])
        #expect(try nodes == ["a"])
        try take(
            "Page", ["count": 2],
            [first(["a"]), streamed(["b"], at: 1), deferred(info("a", "b", hasNext: true))])
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("cb"), .bool(true)])
    }

    /// A following page of the list before is asked for, and comes, while another first page streams.
    @Test func aPageOfTheListBeforeIsLeftOut() throws {
        let (refetch, next) = (ResponseParts(), ResponseParts())
        try takeFirst()
        try take("Page", ["count": 4], [first(["a", "b"])], of: refetch)
        try take("Page", following, [first(["c", "d"], info("c", "d", hasNext: true))], of: next)
        try take(
            "Page", ["count": 4],
            [streamed(["x", "c"], at: 2), deferred(info("a", "c", hasNext: true))], of: refetch)
        #expect(try nodes == ["a", "b", "x", "c"])
        #expect(end == [.string("cc"), .bool(true)])
    }

    /// Members that come before the deferred edges are the connection's, too.
    @Test func membersBeforeTheEdgesAreKept() throws {
        let begun: JSONValue = ["data": ["me": ["id": "u", "todos": [:]]], "hasNext": true]
        try take(
            "Counted", ["count": 2],
            [
                begun, deferredMembers(["totalCount": 7]),
                deferredMembers(["edges": .array(["a", "b"].map(edge))]),
            ])
        #expect(try nodes == ["a", "b"])
        #expect(try store.json("Counted", ["count": 2])["me"]?["todos"]?["totalCount"] == 7)
    }

    // MARK: Where a page stands

    /// It streams from nothing, and the page behind it comes first.
    @Test func aPageKeepsItsPlaceBeforeItsFirstEdge() throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try takeFirst()
        try take("Page", following, [first([], info("c", "e", hasNext: true))], of: one)
        try take(
            "Page", ["count": 2, "cursor": "ce"], [first(["f"], info("f", "f", hasNext: false))],
            of: other)
        for (place, id) in ["c", "d", "e"].enumerated() {
            try take("Page", following, [streamed([id], at: Int64(place))], of: one)
        }
        #expect(try nodes == ["a", "b", "c", "d", "e", "f"])
        #expect(end == [.string("cf"), .bool(false)])
    }

    /// And backwards.
    @Test func aPrecedingPageKeepsItsPlaceBeforeItsFirstEdge() throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try take("PageBack", ["count": 2], [first(["e", "f"], info("e", "f", hasNext: true))])
        let variables: VariableData = ["count": 2, "cursor": "ce"]
        try take("PageBack", variables, [first([], info("c", "d", hasNext: true))], of: one)
        try take(
            "PageBack", ["count": 2, "cursor": "cc"],
            [first(["a", "b"], info("a", "b", hasNext: false))], of: other)
        try take("PageBack", variables, [streamed(["c"], at: 0), streamed(["d"], at: 1)], of: one)
        #expect(try nodes == ["a", "b", "c", "d", "e", "f"])
        #expect(info("startCursor") == .string("ca"))
    }

    /// The edge that it follows has been taken out meanwhile.
    @Test func aPageKeepsItsPlaceWithoutTheEdgeBeforeIt() throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try takeFirst()
        try take("Page", following, [first([], info("c", "d", hasNext: true))], of: one)
        try take(
            "Page", ["count": 2, "cursor": "cd"], [first(["e"], info("e", "e", hasNext: false))],
            of: other)
        try delete("b")
        try take("Page", following, [streamed(["c"], at: 0), streamed(["d"], at: 1)], of: one)
        #expect(try nodes == ["a", "c", "d", "e"])
    }

    @Test func aLastPageThatStreamsStandsBeforeWhatOthersAppend() throws {
        try take("PageBack", ["count": 2], [first([])])
        try append("n")
        try take("PageBack", ["count": 2], [streamed(["c"], at: 0), streamed(["d"], at: 1)])
        #expect(try nodes == ["c", "d", "n"])
    }

    /// `while hasNext { loadNext }` ends only where the end goes on.
    @Test func aPageThatOnlyRepeatsEdgesEnds() throws {
        try takeFirst()
        try take("Page", following, [first(["a"]), deferred(info("a", "a", hasNext: false))])
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("ca"), .bool(false)])
    }

    /// A page broke off, and is fetched again: edges that the server no longer has there go.
    @Test func aPageThatIsFetchedAgainIsAsItIsNow() throws {
        try takeFirst()
        try take("Page", following, [first(["c"]), streamed(["d"], at: 1)])
        try append("n")
        try take(
            "Page", following,
            [first(["c"]), streamed(["x"], at: 1), deferred(info("c", "x", hasNext: false))])
        #expect(try nodes == ["a", "b", "c", "x", "n"])
        #expect(end == [.string("cx"), .bool(false)])
    }

    /// Another page has joined behind it: what it is now may not reach that one.
    @Test func aPageInTheMiddleIsLeftOutWithItsParts() throws {
        try takeFirst()
        try take("Page", following, [first(["c", "d"], info("c", "d", hasNext: true))])
        try take(
            "Page", ["count": 2, "cursor": "cd"], [first(["e"], info("e", "e", hasNext: false))])
        try take(
            "Page", following,
            [first(["c"]), streamed(["x"], at: 1), deferred(info("c", "x", hasNext: true))])
        #expect(try nodes == ["a", "b", "c", "d", "e"])
        #expect(end == [.string("ce"), .bool(false)])
    }

    /// Pages of two sizes behind one cursor, of which none has told its end: the one that begins last counts.
    @Test func aPageTakesThePlaceOfOneThatWaits() throws {
        let (short, long) = (ResponseParts(), ResponseParts())
        let variables: VariableData = ["count": 4, "cursor": "cb"]
        try takeFirst()
        try take("Page", following, [first(["c"])], of: short)
        try take("Page", variables, [first([])], of: long)
        try take(
            "Page", following, [streamed(["d"], at: 1), deferred(info("c", "d", hasNext: true))],
            of: short)
        try take(
            "Page", variables,
            [streamed(["c", "x", "d", "e"], at: 0), deferred(info("c", "e", hasNext: false))],
            of: long)
        #expect(try nodes == ["a", "b", "c", "x", "d", "e"])
        #expect(end == [.string("ce"), .bool(false)])
    }

    /// And backwards.
    @Test func aPrecedingPageTakesThePlaceOfOneThatWaits() throws {
        let (short, long) = (ResponseParts(), ResponseParts())
        try take("PageBack", ["count": 2], [first(["d"], info("d", "d", hasNext: true))])
        try take("PageBack", ["count": 2, "cursor": "cd"], [first(["b", "c"])], of: short)
        try take(
            "PageBack", ["count": 3, "cursor": "cd"],
            [first(["a", "b", "c"], info("a", "c", hasNext: false))], of: long)
        #expect(try nodes == ["a", "b", "c", "d"])
        #expect(info("startCursor") == .string("ca"))
    }

    // MARK: Two answers to one request

    /// The pageInfo of one says nothing of where the other has come to.
    @Test func aPageHasItsPageInfoFromTheAnswerThatItsEdgesAreOf() throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try takeFirst()
        try take("Page", following, [first(["c"]), streamed(["d"], at: 1)], of: one)
        try take("Page", following, [first(["c"])], of: other)
        // The other one is cut, and is not heard of again.
        try take("Page", following, [deferred(info("c", "d", hasNext: true))], of: one)
        #expect(try nodes == ["a", "b", "c"])
        #expect(end == [.string("cb"), .bool(true)])
    }

    /// What the server had when it was asked last.
    @Test func aPageHasTheEdgesOfTheAnswerThatBeganLast() throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try takeFirst()
        try take("Page", following, [first(["c"])], of: one)
        try take("Page", following, [first(["c"])], of: other)
        try take("Page", following, [streamed(["x"], at: 1)], of: one)
        try take("Page", following, [streamed(["d"], at: 1)], of: other)
        try take("Page", following, [deferred(info("c", "x", hasNext: false))], of: one)
        try take("Page", following, [deferred(info("c", "d", hasNext: true))], of: other)
        #expect(try nodes == ["a", "b", "c", "d"])
        #expect(end == [.string("cd"), .bool(true)])
    }

    /// One that came whole ends what streams.
    @Test func aPageThatCameWholeIsNotAddedTo() throws {
        let one = ResponseParts()
        try takeFirst()
        try take("Page", following, [first(["c"])], of: one)
        let whole: JSONValue = [
            "data": [
                "me": [
                    "id": "u",
                    "todos": [
                        "edges": .array(["c"].map(edge)), "pageInfo": info("c", "c", hasNext: true),
                    ],
                ]
            ]
        ]
        try take("Page", following, [whole])
        try take(
            "Page", following, [streamed(["x"], at: 1), deferred(info("c", "x", hasNext: false))],
            of: one)
        #expect(try nodes == ["a", "b", "c"])
        #expect(end == [.string("cc"), .bool(true)])
    }

    /// Another has joined behind the page that streams; so it cannot begin anew, and goes on.
    @Test func aPageInTheMiddleGoesOnWhenItIsAskedForAgain() throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try takeFirst()
        try take("Page", following, [first(["c"], info("c", "e", hasNext: true))], of: one)
        try take(
            "Page", ["count": 2, "cursor": "ce"], [first(["f"], info("f", "f", hasNext: false))])
        try take("Page", following, [streamed(["d"], at: 1)], of: one)
        try take("Page", following, [first(["x"])], of: other)
        try take("Page", following, [streamed(["y"], at: 1)], of: other)
        try take("Page", following, [streamed(["e"], at: 2)], of: one)
        #expect(try nodes == ["a", "b", "c", "d", "e", "f"])
        #expect(end == [.string("cf"), .bool(false)])
    }

    /// What is fetched again may be less, or nothing; and it has no end until that has come.
    @Test func aPageThatIsFetchedAgainEndsWhereItStands() throws {
        try takeFirst()
        try take("Page", following, [first(["c", "d"], info("c", "d", hasNext: true))])
        try take("Page", following, [first(["c"])])
        #expect(end == [.string("cb"), .bool(true)])
        let next = ResponseParts()
        try take(
            "Page", ["count": 2, "cursor": "cd"], [first(["e"], info("e", "e", hasNext: true))],
            of: next)
        #expect(try nodes == ["a", "b", "c"])
        let nothing: JSONValue = [
            "startCursor": nil, "endCursor": nil, "hasNextPage": false, "hasPreviousPage": false,
        ]
        try take("Page", following, [first([], nothing)])
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("cb"), .bool(false)])
    }

    /// Nothing followed the cursor; that is known.
    @Test func anEmptyPageMayBeTheFirst() throws {
        let nothing: JSONValue = [
            "startCursor": nil, "endCursor": nil, "hasNextPage": false, "hasPreviousPage": false,
        ]
        try take("Page", following, [first([], nothing)])
        #expect(try nodes == [])
        #expect(try store.read("Page", following).isMissingData == false)
        #expect(end == [.string("cb"), .bool(false)])
    }

    /// Its edges could not be given: it is not known where it ends.
    @Test func aPageWithoutEdgesDoesNotMoveTheEnd() throws {
        try takeFirst()
        let failed: JSONValue = [
            "data": [
                "me": [
                    "id": "u",
                    "todos": ["edges": nil, "pageInfo": info("c", "d", hasNext: false)],
                ]
            ],
            "errors": [["message": "lost", "path": ["me", "todos", "edges"]]],
        ]
        try take("Page", following, [failed])
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("cb"), .bool(true)])
        try take("Page", ["count": 2], [failed])
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("cb"), .bool(true)])
    }

    // MARK: Two connections over one field

    /// They share the page's record. What the one is answered says nothing of what the other has.
    @Test(arguments: [true, false]) func aPageStreamsIntoItsOwnConnection(_ isWhole: Bool) throws {
        let (one, other) = (ResponseParts(), ResponseParts())
        try take("Page", ["count": 2], [first(["a"])], of: one)
        let all = first(["a", "b"], info("a", "b", hasNext: true))
        if isWhole {
            try store.commit("Other", ["count": 2], all)
        } else {
            try take("Other", ["count": 2], [first(["a"])], of: other)
        }
        try take(
            "Page", ["count": 2],
            [streamed(["b"], at: 1), deferred(info("a", "b", hasNext: true))], of: one)
        #expect(try nodes == ["a", "b"])
        #expect(end == [.string("cb"), .bool(true)])
        if !isWhole { try take("Other", ["count": 2], [streamed(["b"], at: 1)], of: other) }
        #expect(try nodes(of: "Other") == ["a", "b"])
    }

    // MARK: A list that begins in the middle

    /// What its server says of the other end.
    private func middle(_ start: String, _ end: String, hasMore: Bool = true) -> JSONValue {
        [
            "startCursor": .string("c" + start), "endCursor": .string("c" + end),
            "hasNextPage": .bool(hasMore), "hasPreviousPage": .bool(hasMore),
        ]
    }

    private var ends: [FieldValue?] {
        [info("startCursor"), info("hasPreviousPage"), info("endCursor"), info("hasNextPage")]
    }

    /// `after` in the first query, or `before`; all of its info comes at last.
    @Test(arguments: ["Page", "PageBack"]) func itsPageInfoCountsForBothEnds(_ name: String) throws
    {
        let variables: VariableData = ["count": 2, "cursor": "cx"]
        try take(
            name, variables,
            [first(["m"]), streamed(["n"], at: 1), deferred(middle("m", "n"))])
        #expect(ends == [.string("cm"), .bool(true), .string("cn"), .bool(true)])
    }

    @Test(arguments: ["Page", "PageBack"]) func bothEndsAreThoseOfTheLastAnswer(_ name: String)
        throws
    {
        let variables: VariableData = ["count": 2, "cursor": "cx"]
        let nothing: JSONValue = [
            "startCursor": nil, "endCursor": nil, "hasNextPage": true, "hasPreviousPage": true,
        ]
        try store.commit(name, variables, first([], nothing))
        try store.commit(name, variables, first(["m", "n"], middle("m", "n")))
        #expect(ends == [.string("cm"), .bool(true), .string("cn"), .bool(true)])
        // The rows at both ends are gone.
        try store.commit(name, variables, first(["o"], middle("o", "o", hasMore: false)))
        #expect(ends == [.string("co"), .bool(false), .string("co"), .bool(false)])
        // Where it has no rows left, what was before them is still found.
        try store.commit(name, variables, first([], nothing))
        let isBackward = name == "PageBack"
        #expect(info(isBackward ? "endCursor" : "startCursor") == .string("co"))
        #expect(info(isBackward ? "hasNextPage" : "hasPreviousPage") == .bool(true))
        #expect(info(isBackward ? "startCursor" : "endCursor") == .string("cx"))
    }

    /// Pages have come at both ends: it tells of its own side only.
    @Test func aPageThatOthersFollowTellsNothingOfTheirEnds() throws {
        let variables: VariableData = ["count": 2, "cursor": "cl"]
        try store.commit("Page", variables, first(["m"], middle("m", "m")))
        try store.commit(
            "PageBack", ["count": 2, "cursor": "cm"], first(["k"], middle("k", "k")))
        try store.commit("Page", variables, first(["m", "n"], middle("m", "n")))
        #expect(try nodes == ["k", "m", "n"])
        #expect(ends == [.string("ck"), .bool(true), .string("cn"), .bool(true)])
    }

    // MARK: Edges

    /// A row that was moved out of the page is not taken for its place.
    @Test func aRowThatWasMovedStaysWhenItsPageIsFetchedAgain() throws {
        try takeFirst()
        try take("Page", following, [first(["c", "d"], info("c", "d", hasNext: true))])
        try store.commitUpdate { source in
            source["u"]?.connection("Todos_todos")?.move(nodeID: "d", to: .start)
        }
        try take("Page", following, [first(["c"], info("c", "c", hasNext: true))])
        #expect(try nodes == ["d", "a", "b", "c"])
    }

    /// They come again with their page, and not besides.
    @Test func nullsOfAPageThatIsFetchedAgainGoWithIt() throws {
        func page(_ edges: [JSONValue]) -> JSONValue {
            let todos: JSONValue = [
                "edges": .array(edges), "pageInfo": info("c", "c", hasNext: true),
            ]
            return ["data": ["me": ["id": "u", "todos": todos]]]
        }
        try takeFirst()
        for _ in 1...3 {
            try store.commit("Page", following, page([edge("c"), nil]))
            #expect(try nodes == ["a", "b", "c", "-"])
        }
        try append("n")
        try store.commit("Page", following, page([nil, edge("c"), nil]))
        #expect(try nodes == ["a", "b", "-", "c", "-", "n"])
        try store.commit("Page", following, page([edge("d")]))
        #expect(try nodes == ["a", "b", "d", "n"])
        try store.commit("PageBack", ["count": 2, "cursor": "ca"], page([nil, edge("z"), nil]))
        try store.commit("PageBack", ["count": 2, "cursor": "ca"], page([nil, edge("z"), nil]))
        #expect(try nodes == ["-", "z", "-", "a", "b", "d", "n"])
    }

    /// Edges that are named by their places are the connection's own, and the page's all the same.
    @Test func aPageThatIsFetchedAgainKeepsNoneOfItsOwnCopies() throws {
        func page(_ cursors: String...) -> JSONValue {
            let edges = cursors.map { cursor -> JSONValue in
                ["cursor": .string(cursor), "node": ["__typename": "Todo", "text": "T"]]
            }
            let info = info("x", "y", hasNext: true)
            return [
                "data": [
                    "me": ["id": "u", "todos": ["edges": .array(edges), "pageInfo": info]]
                ]
            ]
        }
        try takeFirst()
        try take("Page", following, [page("cx", "cy")])
        #expect(try nodes.count == 4)
        try append("n")
        try take("Page", following, [page("cx")])
        #expect(try nodes == ["a", "b", "-", "n"])
    }

    /// A page that goes is taken out in one step, however many rows it has.
    @Test func aPageThatIsFetchedAgainIsTakenOutInOneStep() throws {
        let ids = (0..<2_000).map { "x\($0)" }
        try takeFirst()
        try take("Page", following, [first(ids, info("x0", "x1999", hasNext: false))])
        try append("n")
        try take("Page", following, [first(["c"], info("c", "c", hasNext: false))])
        #expect(try nodes == ["a", "b", "c", "n"])
    }

    /// Each part is joined without a look at all that is there.
    @Test(arguments: [true, false]) func partsOfAPageCostWhatTheyBring(_ isFirst: Bool) throws {
        let variables: VariableData = isFirst ? ["count": 2] : following
        let ids = (0..<500).map { "x\($0)" }
        try takeFirst()
        try take("Page", variables, [first([])])
        for (place, id) in ids.enumerated() {
            if place == 250 { try append("n") }
            try take("Page", variables, [streamed([id], at: Int64(place))])
        }
        #expect(try nodes == (isFirst ? [] : ["a", "b"]) + ids + ["n"])
        let lookCount = try #require(parts.response?.memory.lookCount)
        #expect(lookCount < 20 * ids.count)
    }

    /// Nulls are told apart by nothing but their places.
    @Test func anEdgeThatIsNullIsNoOther() throws {
        let begun: JSONValue = [
            "data": [
                "me": [
                    "id": "u",
                    "todos": ["edges": [nil], "pageInfo": info("b", "b", hasNext: true)],
                ]
            ], "hasNext": true,
        ]
        let next: JSONValue = [
            "data": [
                "me": [
                    "id": "u",
                    "todos": [
                        "edges": [edge("c"), nil, edge("d")],
                        "pageInfo": info("c", "d", hasNext: true),
                    ],
                ]
            ]
        ]
        let (one, other) = (ResponseParts(), ResponseParts())
        try take("Page", ["count": 2], [begun], of: one)
        try take("Page", following, [next], of: other)
        try take("Page", ["count": 2], [streamed(["b"], at: 1)], of: one)
        #expect(try nodes == ["-", "b", "c", "-", "d"])
    }

    /// Until its node comes, an edge is known by its place in its page.
    @Test func anEdgeWhoseNodeCameLaterIsTheConnectionsOwn() throws {
        func begun(_ cursor: String) -> JSONValue {
            [
                "data": [
                    "me": [
                        "id": "u",
                        "todos": [
                            "edges": [["cursor": .string("c" + cursor)]],
                            "pageInfo": info("c", "c", hasNext: true),
                        ],
                    ]
                ], "hasNext": true,
            ]
        }
        func node(_ id: String) -> JSONValue {
            [
                "incremental": [
                    [
                        "path": ["me", "todos", "edges", 0],
                        "data": ["node": edge(id)["node"] ?? nil],
                    ]
                ], "hasNext": false,
            ]
        }
        try takeFirst()
        try take("Page", following, [begun("c"), node("c")])
        #expect(try nodes == ["a", "b", "c"])
        try take(
            "Page", ["count": 2, "cursor": "cc"], [first(["d"], info("d", "d", hasNext: false))])
        try take("Page", following, [begun("x"), node("x")])
        #expect(try nodes == ["a", "b", "c", "d"])
    }

    // MARK: Mutations

    /// What was taken out of a connection meanwhile does not come back with a part of its record.
    @Test func aPartOfANodeDoesNotBringItBack() throws {
        try takeFirst()
        let variables: VariableData = ["connections": [connection]]
        let node: JSONValue = ["__typename": "Todo", "id": "n"]
        try take(
            "Prepend", variables, [["data": ["add": ["todo": node]], "hasNext": true]])
        #expect(try nodes == ["n", "a", "b"])
        try delete("n")
        let part: JSONValue = ["path": ["add", "todo"], "data": ["text": "later"]]
        try take("Prepend", variables, [["incremental": [part], "hasNext": false]])
        #expect(try nodes == ["a", "b"])
        #expect(store.field("n", "text") == .string("later"))
    }

    @Test func aPartOfAnEdgeDoesNotBringItBack() throws {
        try takeFirst()
        let variables: VariableData = ["connections": [connection]]
        let edge: JSONValue = ["node": ["__typename": "Todo", "id": "n"]]
        try take("Append", variables, [["data": ["add": ["edge": edge]], "hasNext": true]])
        #expect(try nodes == ["a", "b", "n"])
        try delete("n")
        let part: JSONValue = ["path": ["add", "edge"], "data": ["cursor": "cn"]]
        try take("Append", variables, [["incremental": [part], "hasNext": false]])
        #expect(try nodes == ["a", "b"])
    }

    /// In the order in which the server has them.
    @Test(arguments: ["PrependAll", "PrependEdges"], [0, 1, 2])
    func whatIsPrependedMayBeStreamed(_ name: String, _ atFirst: Int) throws {
        try takeFirst()
        let variables: VariableData = ["connections": [connection]]
        let field = name == "PrependAll" ? "todos" : "edges"
        let items = ["x", "y"].map { name == "PrependAll" ? edge($0)["node"] ?? nil : edge($0) }
        let begun: JSONValue = [
            "data": ["add": .object([field: .array(Array(items.prefix(atFirst)))])],
            "hasNext": true,
        ]
        let parts = items.indices.dropFirst(atFirst).map { index -> JSONValue in
            let path: JSONValue = ["add", .string(field), .int(Int64(index))]
            return ["incremental": [["path": path, "items": [items[index]]]], "hasNext": true]
        }
        try take(name, variables, [begun] + parts)
        #expect(try nodes == ["x", "y", "a", "b"])
    }
}
