import RelayArtifacts
import RelayJSON
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// What a mutation shows that was not answered before the process ended: the next process has its writes, not its
/// updater.
@Suite(.bounded) struct RestoredEntryTests {
    private static let connection = DataID("client:u:__Todos_todos_connection")

    /// What a mutation does to the list while it waits.
    enum Change: CaseIterable {
        case delete
        case append
        case prepend
        case insertBehind
        case deleteAndAppend
        case replaceFirst
        case moveToEnd
        case moveToStart
        case moveAndAppend

        /// Whether it brings `x`.
        var brings: Bool { ![.delete, .moveToEnd, .moveToStart].contains(self) }

        func run(_ source: inout any RecordSourceProxy) throws {
            let handler = ConnectionHandler.default
            let connection = try #require(source[RestoredEntryTests.connection])
            func edge(_ id: String) -> any RecordProxy {
                let todo = source[DataID(id)] ?? source.create(dataID: DataID(id), typeName: "Todo")
                todo["id"] = id
                todo["text"] = "shown"
                return handler.createEdge(
                    &source, connection: connection, node: todo, type: "TodoEdge")
            }
            switch self {
            case .delete: handler.delete(connection: connection, nodeID: "b")
            case .append: handler.insert(connection: connection, edge: edge("x"), after: nil)
            case .prepend: handler.insert(connection: connection, edge: edge("x"), before: nil)
            case .insertBehind:
                handler.insert(connection: connection, edge: edge("x"), after: "cb")
            case .deleteAndAppend:
                handler.delete(connection: connection, nodeID: "b")
                handler.insert(connection: connection, edge: edge("x"), after: nil)
            case .moveToEnd, .moveToStart:
                let todos = source["u"]?.connection("Todos_todos")
                let isEnd = self == .moveToEnd
                todos?.move(nodeID: isEnd ? "a" : "c", to: isEnd ? .end : .start)
            case .moveAndAppend:
                source["u"]?.connection("Todos_todos")?.move(nodeID: "a", to: .end)
                handler.insert(connection: connection, edge: edge("x"), after: nil)
            case .replaceFirst:
                handler.delete(connection: connection, nodeID: "a")
                handler.insert(connection: connection, edge: edge("x"), before: nil)
            }
        }
    }

    private static let lists: [[String]] = [
        ["a", "b", "c"], ["z", "a", "b", "c"], ["a", "c", "e"], ["a", "b", "c", "x"],
        ["x", "a", "b", "c"], ["a"], ["c", "b", "a"], ["b"], ["x"], ["d", "e"],
    ]

    private func page(_ ids: [String]) -> JSONValue {
        let edges = ids.map { id -> JSONValue in
            [
                "cursor": .string("c" + id),
                "node": [
                    "__typename": "Todo", "id": .string(id), "text": .string("T" + id),
                    "complete": true,
                ],
            ]
        }
        return [
            "data": [
                "me": [
                    "id": "u",
                    "todos": [
                        "edges": .array(edges),
                        "pageInfo": [
                            "endCursor": .string("c" + (ids.last ?? "")),
                            "startCursor": .string("c" + (ids.first ?? "")),
                            "hasNextPage": true, "hasPreviousPage": false,
                        ],
                    ],
                ]
            ]
        ]
    }

    private func nodes(_ store: Store) throws -> [String] {
        let connection = try store.json("Page", ["count": 9])["me"]?["todos"]
        return connection?["edges"]?.array?.map { $0["node"]?["id"]?.string ?? "-" } ?? ["?"]
    }

    private func restarted(_ store: Store) throws -> Store {
        var options = StoreOptions()
        options.schedule = { _ in }
        options.journal = InMemoryJournal()
        return Store(try store.confirmed, options: options)
    }

    /// It shows on other lists what its updater would show there. (Where `x` was to stand behind a row that is gone, the
    /// updater puts it at the end, and so does what is left of it, or next to the row that stood behind it.)
    @Test(arguments: Change.allCases, lists)
    func itShowsOnAnotherListWhatItsUpdaterWould(_ change: Change, _ list: [String]) throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Page", ["count": 9], page(["a", "b", "c"]))
        _ = try store.applyUpdate { try change.run(&$0) }
        let next = try restarted(store)
        #expect(try nodes(next) == nodes(store))
        try store.commit("Page", ["count": 9], page(list))
        try next.commit("Page", ["count": 9], page(list))
        let shown = try nodes(next)
        if change != .insertBehind || list.contains("b") {
            #expect(try shown == nodes(store))
        }
        #expect(Set(shown).count == shown.count)
        #expect(shown.contains("x") == (change.brings || list.contains("x")))
        // And so does the process after that one. (What changed nothing on that list is not known to it any more.)
        let last = try restarted(next)
        #expect(try nodes(last) == shown)
        try last.commit("Page", ["count": 9], page(["a", "b", "c", "d"]))
        let later = try nodes(last)
        #expect(Set(later).count == later.count && later.contains("d"))
    }

    /// What belongs to no mutation ends with the store that showed it.
    @Test func anUpdateOfAnotherStoreIsNotShown() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Page", ["count": 9], page(["a", "b", "c"]))
        _ = try store.applyUpdate { try Change.append.run(&$0) }
        let other = Store(source: try store.source)
        #expect(try nodes(other) == ["a", "b", "c"])
        #expect(try other.unfinishedMutations.isEmpty)
    }

    /// As long as a list may be.
    @Test func manyInsertionsIntoALongList() throws {
        let (count, insertionCount) = (20_000, 1_000)
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        func list(_ ids: [String]) throws {
            try store.commitUpdate { source in
                let connection =
                    source[Self.connection]
                    ?? source.create(dataID: Self.connection, typeName: "TodoConnection")
                connection.setLinkedRecords(
                    "edges",
                    records: ids.map { source.create(dataID: DataID($0), typeName: "TodoEdge") })
            }
        }
        let ids = (0..<count).map { "e\($0)" }
        try list(ids)
        _ = try store.applyUpdate { source in
            let connection = source[Self.connection]
            var edges = connection?.getLinkedRecords("edges") ?? []
            for number in (0..<insertionCount).reversed() {
                let new = source.create(dataID: DataID("n\(number)"), typeName: "TodoEdge")
                edges.insert(new, at: number * 19 + 1)
            }
            connection?.setLinkedRecords("edges", records: edges)
        }
        let next = try restarted(store)
        try next.commitUpdate { source in
            let connection = source[Self.connection]
            let edges = connection?.getLinkedRecords("edges") ?? []
            connection?.setLinkedRecords("edges", records: Array(edges.dropLast(10_000)))
        }
        let record = try #require(next.snapshot.existing(Self.connection.rawValue))
        guard case .links(let shown)? = next.snapshot.fieldValue("edges", of: record) else {
            Issue.record("there is no list")
            return
        }
        #expect(shown.count == 10_000 + insertionCount)
        #expect(shown.prefix(3) == ["e0", "n0", "e1"])
    }

    /// Where a list has none of the rows next to which a row was put, that stays where it is.
    @Test func aRowWithoutItsNeighboursIsNotMoved() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Page", ["count": 9], page(["a", "b", "c", "d", "e", "f"]))
        _ = try store.applyUpdate { source in
            source["u"]?.connection("Todos_todos")?.move(nodeID: "d", to: .before(nodeID: "c"))
        }
        let next = try restarted(store)
        try next.commit("Page", ["count": 9], page(["d", "e", "f"]))
        #expect(try nodes(next) == ["d", "e", "f"])
        try next.commit("Page", ["count": 9], page(["c", "d", "e", "f"]))
        #expect(try nodes(next) == ["d", "c", "e", "f"])
    }

    /// A list that the program has put into another order is shown as it was.
    @Test func aListInAnotherOrderIsShownAsItWas() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Page", ["count": 9], page(["a", "b", "c"]))
        _ = try store.applyUpdate { source in
            let connection = source[Self.connection]
            let edges = connection?.getLinkedRecords("edges") ?? []
            connection?.setLinkedRecords("edges", records: edges.reversed())
        }
        #expect(try nodes(restarted(store)) == ["c", "b", "a"])
    }

    /// What comes later is shown with what was added.
    @Test func aListThatWasNotThereHidesNothing() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Best", ["data": ["me": ["id": "u", "name": "Ada", "best": nil]]])
        _ = try store.applyUpdate { source in
            let user = source["u"]
            let new = source.create(dataID: "n", typeName: "User")
            new["id"] = "n"
            user?.setLinkedRecords(
                "friends", records: (user?.getLinkedRecords("friends") ?? []) + [new])
        }
        let next = try restarted(store)
        for store in [store, next] {
            #expect(store.field("u", "friends") == .links(["n"]))
            try store.commitUpdate { source in
                source["u"]?.setLinkedRecords(
                    "friends",
                    records: ["a", "b"].map { source.create(dataID: DataID($0), typeName: "User") })
            }
            #expect(store.field("u", "friends") == .links(["a", "b", "n"]))
        }
    }
}
