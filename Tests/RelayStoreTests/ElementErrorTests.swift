import RelayArtifacts
import RelayJSON
import RelayReading
import Testing

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// Errors about single elements of a list: readers are shown them, told of them, and rid of them.
@Suite(.bounded) struct ElementErrorTests {
    private func search(_ second: JSONValue, errors: [JSONValue] = []) -> JSONValue {
        [
            "data": ["search": [["__typename": "User", "id": "u", "name": "Ada"], second]],
            "errors": .array(errors),
        ]
    }

    private let todo: JSONValue = ["__typename": "Todo", "id": "t", "text": "x"]
    private let failure: JSONValue = ["message": "lost", "path": ["search", 1]]

    @Test func aGoodResponseTakesThemAwayAndReadersAreTold() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit("Search", search(nil))
        let told = Told()
        let following = try store.subscribe(store.read("Search")) { told.add($0) }
        // The list is what it was; its errors are not.
        try store.commit("Search", search(nil, errors: [failure]))
        #expect(told.last?.errors.map(\.message) == ["lost"] && told.count == 1)
        try store.commit("Search", search(nil, errors: [failure]))
        #expect(told.count == 1)
        try store.commit("Search", search(nil))
        #expect(told.last?.errors.isEmpty == true && told.count == 2)
        try store.commit("Search", search(nil, errors: [failure]))
        try store.commit("Search", search(todo))
        #expect(told.last?.errors.isEmpty == true && told.count == 4)
        following.cancel()
    }

    @Test func otherErrorsTakeTheirPlace() throws {
        let store = Store.quiet()
        try store.commit("Search", search(nil, errors: [failure]))
        try store.commit(
            "Search", search(nil, errors: [["message": "gone", "path": ["search", 1]]]))
        #expect(try store.read("Search").errors.map(\.message) == ["gone"])
    }

    @Test func elementsOfALeafHaveErrorsToo() throws {
        let store = Store.quiet()
        func one(_ tags: JSONValue, errors: [JSONValue] = []) -> JSONValue {
            [
                "data": ["node": ["__typename": "Todo", "id": "a", "text": "x", "tags": tags]],
                "errors": .array(errors),
            ]
        }
        try store.commit("One", ["id": "a"], one(["y", nil]))
        let told = Told()
        let following = try store.subscribe(store.read("One", ["id": "a"])) { told.add($0) }
        try store.commit(
            "One", ["id": "a"],
            one(["y", nil], errors: [["message": "lost", "path": ["node", "tags", 1]]]))
        #expect(told.last?.errors.map(\.message) == ["lost"])
        #expect(told.last?.errors.map(\.path) == [["node", "tags"]])
        try store.commit("One", ["id": "a"], one(["y", "z"]))
        #expect(told.last?.errors.isEmpty == true && told.count == 2)
        following.cancel()
    }

    /// As of an object or of a list of objects: the whole field has failed, and only whoever reads it is told.
    @Test func elementsOfACaughtLeafHaveThemToo() throws {
        let store = Store.quiet()
        func caught(_ tags: JSONValue, errors: [JSONValue] = []) -> JSONValue {
            [
                "data": [
                    "node": ["__typename": "Todo", "id": "a", "tags": tags, "none": tags]
                ],
                "errors": .array(errors),
            ]
        }
        func error(_ field: String) -> JSONValue {
            ["message": "lost", "path": ["node", .string(field), 1]]
        }
        func tags(_ read: SelectorSnapshot?) throws -> (Result<JSONValue?, DataError>, JSONValue?) {
            let node = try #require(read?.data)
            var root = DataCursor(node)
            let todo = try #require(try root.node("node"))
            var cursor = DataCursor(todo)
            let result: Result<JSONValue?, DataError>
            do { result = .success(try cursor.json("tags")) } catch { result = .failure(error) }
            return (result, try cursor.json("none"))
        }
        let good = caught(["y", nil])
        let bad = caught(["y", nil], errors: [error("tags"), error("none")])
        try store.commit("CaughtTags", ["id": "a"], good)
        let told = Told()
        let following = try store.subscribe(store.read("CaughtTags", ["id": "a"])) { told.add($0) }
        let first = try tags(store.read("CaughtTags", ["id": "a"])).0
        #expect(first == .success(["y", nil]))
        // The list is what it was; its errors are not.
        try store.commit("CaughtTags", ["id": "a"], bad)
        let (result, none) = try tags(told.last)
        guard case .failure(let failure) = result, case .failed(let errors) = failure.problem else {
            Issue.record("it is read as \(result)")
            return
        }
        #expect(errors.map(\.message) == ["lost"] && errors.map(\.path) == [["tags"]])
        #expect(none == nil && told.last?.errors.isEmpty == true && told.count == 1)
        try store.commit("CaughtTags", ["id": "a"], bad)
        #expect(told.count == 1)
        try store.commit("CaughtTags", ["id": "a"], good)
        let last = try tags(told.last).0
        #expect(last == .success(["y", nil]) && told.count == 2)
        following.cancel()
    }

    @Test func thoseOfAStoreThatWasOnDiskAreKnown() throws {
        let before = Store.quiet()
        try before.commit("Search", search(nil, errors: [failure]))
        let store = Store(source: try before.source)
        #expect(try store.read("Search").errors.map(\.message) == ["lost"])
        try store.commit("Search", search(todo))
        #expect(try store.read("Search").errors.isEmpty)
    }

    /// What a server may send in one message: each is looked at once, and told once.
    @Test(arguments: [true, false]) func aFieldMayHaveAHundredThousandOfThem(
        isAboutElements: Bool
    ) throws {
        let store = Store.quiet()
        let count = 100_000
        let path: JSONValue = isAboutElements ? ["search", 1] : ["search"]
        let errors = (0..<count + count / 2).map { number -> JSONValue in
            ["message": .string("lost \(number % count)"), "path": path]
        }
        let response: JSONValue =
            isAboutElements
            ? search(nil, errors: errors)
            : ["data": ["search": nil], "errors": .array(errors)]
        try store.commit("Search", response)
        let told = try store.read("Search").errors
        #expect(told.count == 1)
        #expect(told.first?.errors == .array(Array(errors.prefix(count))))
    }

    /// A response that gives the field no value, and says again what is wrong: that counts, and not what was before.
    @Test(arguments: [2, 100_000]) func anotherResponseTakesTheirPlace(_ count: Int) throws {
        let store = Store.quiet()
        func lost(_ numbers: Range<Int>) -> [JSONValue] {
            numbers.map { ["message": .string("lost \($0)"), "path": ["search"]] }
        }
        let (old, new) = (lost(0..<count), lost(count..<2 * count))
        try store.commit("Search", ["data": ["search": nil], "errors": .array(old)])
        try store.commit("Search", ["data": [:], "errors": .array(new)])
        #expect(try store.read("Search").errors.first?.errors == .array(new))
    }

    /// JSON objects have no order.
    @Test(arguments: [true, false]) func theOrderOfTheirMembersIsNoChange(_ isElement: Bool) throws
    {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        let path: JSONValue = isElement ? ["search", 1] : ["search"]
        func response(_ error: JSONValue) -> JSONValue {
            if isElement { return search(nil, errors: [error]) }
            return ["data": ["search": nil], "errors": [error]]
        }
        try store.commit(
            "Search", response(["message": "lost", "path": path, "extensions": ["a": 1, "b": 2]]))
        let told = Told()
        let following = try store.subscribe(store.read("Search")) { told.add($0) }
        let before = try store.confirmed
        try store.commit(
            "Search", response(["extensions": ["b": 2, "a": 1], "path": path, "message": "lost"]))
        #expect(told.count == 0)
        let root = try #require(before.existing(DataID.rootID.rawValue))
        let after = try store.confirmed
        for key in ["search", "search:errors"] {
            let texts = [before, after].map { $0.fieldValue(key, of: root).map { "\($0)" } }
            #expect(texts[0] == texts[1])
        }
        following.cancel()
    }

    /// Those of a part stand beside what an earlier part said.
    @Test func thoseOfAPartAreAdded() throws {
        let store = Store.quiet()
        let parts = ResponseParts()
        let operation = try TodoDocuments.operation("Search")
        let gone: JSONValue = ["message": "gone", "path": ["search"]]
        let lost: JSONValue = ["message": "lost", "path": ["search"]]
        for response: JSONValue in [
            ["data": ["search": nil], "errors": [lost], "hasNext": true],
            ["incremental": [["path": [], "data": [:], "errors": [gone]]], "hasNext": false],
        ] {
            let payload = ArrivedPayload(operation, response.bytes, parts: parts)
            _ = try store.commitPayloads([payload])[0].get()
        }
        #expect(try store.read("Search").errors.first?.errors == [lost, gone])
    }

    /// Lists that others have changed meanwhile are compared once each, whatever the order of the errors.
    @Test func errorsMayAlternateBetweenLists() throws {
        let store = Store.quiet()
        let parts = ResponseParts()
        let operation = try TodoDocuments.operation("Histories")
        let count = 50_000
        func histories(_ last: JSONValue) -> JSONValue {
            let list = JSONValue.array(Array(repeating: nil, count: count - 1) + [last])
            return [
                "data": ["todos": [["id": "a", "history": list], ["id": "b", "history": list]]],
                "hasNext": true,
            ]
        }
        let errors = (0..<2 * count).map { number -> JSONValue in
            let path: JSONValue = [
                "todos", .int(Int64(number % 2)), "history", .int(Int64(number / 2)),
            ]
            return ["message": .string("lost \(number)"), "path": path]
        }
        let part: JSONValue = ["path": [], "data": [:], "errors": .array(errors)]
        for response in [histories(nil), ["incremental": [part], "hasNext": false]] {
            let payload = ArrivedPayload(operation, response.bytes, parts: parts)
            _ = try store.commitPayloads([payload])[0].get()
            if parts.state != nil { try store.commit("Histories", histories(["id": "c"])) }
        }
        #expect(try store.read("Histories").errors.isEmpty)
    }
}
