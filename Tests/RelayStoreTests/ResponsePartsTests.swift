import RelayArtifacts
import RelayJSON
import Testing
import Threads

@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

/// The results of a response that comes in parts are what the server said, whatever others write between the parts.
@Suite(.bounded) struct ResponsePartsTests {
    private let store = Store.quiet()
    private let parts = ResponseParts()

    private func payload(_ name: String, _ response: JSONValue) throws -> ArrivedPayload {
        ArrivedPayload(try TodoDocuments.operation(name), response.bytes, parts: parts)
    }

    /// What the operation reads of each.
    private func take(_ responses: JSONValue...) throws -> [JSONValue?] {
        try store.commitPayloads(responses.map { try payload("List", $0) }).map {
            try $0.get().reading.data?.json
        }
    }

    private func list(_ ids: String...) -> JSONValue {
        ["list": .array(ids.map { ["id": .string($0)] })]
    }

    private func items(_ place: Int64, _ id: String, hasNext: Bool = true) -> JSONValue {
        let items: JSONValue = [["id": .string(id)]]
        return [
            "incremental": [["path": ["list", .int(place)], "items": items]],
            "hasNext": .bool(hasNext),
        ]
    }

    @Test(arguments: [["x"], ["x", "y", "z"], []])
    func anotherListBetweenThePartsIsNotInTheResults(_ others: [String]) throws {
        #expect(try take(["data": list("a"), "hasNext": true]) == [list("a")])
        let other: JSONValue = ["list": .array(others.map { ["id": .string($0)] })]
        try store.commit("List", ["data": other])
        #expect(
            try take(items(1, "b"), items(2, "c", hasNext: false)) == [
                list("a", "b"), list("a", "b", "c"),
            ])
        #expect(parts.state == nil)
        // What another response has made a list of stays that. The records are there for whoever reads them.
        #expect(store.field("client:root", "todos(first:3)") == .links(others.map { DataID($0) }))
        #expect(["b", "c"].allSatisfy { store.snapshot.existing($0) != nil })
    }

    @Test func aListThatIsStillTheSameGoesOn() throws {
        _ = try take(["data": list("a"), "hasNext": true])
        try store.commit("List", ["data": list("a")])
        _ = try take(items(1, "b"), items(2, "c"))
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", "b", "c"]))
    }

    /// A part belongs to the record that its path led to in its own response.
    @Test func aPartGoesToItsRecordWhereOthersHaveLinkedAnother() throws {
        func take(_ response: JSONValue) throws -> JSONValue? {
            let one = ArrivedPayload(
                try TodoDocuments.operation("Authors"), response.bytes, parts: parts)
            return try store.commitPayloads([one])[0].get().reading.data?.json
        }
        func authors(_ ids: [String]) -> JSONValue {
            ["todos": .array(ids.map { ["id": .string($0)] })]
        }
        _ = try take(["data": authors(["a", "b"]), "hasNext": true])
        try store.commit("Authors", ["data": authors(["b", "a"])])
        let incremental: JSONValue = [
            ["path": ["todos", 0], "data": ["author": ["id": "A", "name": "of a"]]],
            ["path": ["todos", 1], "data": ["author": ["id": "B", "name": "of b"]]],
        ]
        _ = try take(["incremental": incremental, "hasNext": false])
        #expect(store.field("a", "author") == .link("A"))
        #expect(store.field("b", "author") == .link("B"))
        #expect(store.field("client:root", "todos(first:200)") == .links(["b", "a"]))
    }

    /// So does an error of a part.
    @Test func anErrorOfAPartGoesToItsRecordWhereOthersHaveLinkedAnother() throws {
        func take(_ response: JSONValue) throws {
            let one = ArrivedPayload(
                try TodoDocuments.operation("Authors"), response.bytes, parts: parts)
            _ = try store.commitPayloads([one])[0].get()
        }
        func authors(_ ids: [String]) -> JSONValue {
            ["todos": .array(ids.map { ["id": .string($0)] })]
        }
        try take(["data": authors(["a", "b"]), "hasNext": true])
        try store.commit("Authors", ["data": authors(["b", "a"])])
        let error: JSONValue = ["message": "no", "path": ["todos", 0, "author"]]
        let part: JSONValue = [
            "path": ["todos", 0], "data": ["author": nil], "errors": [error],
        ]
        try take(["incremental": [part], "hasNext": false])
        #expect(store.field("a", "author") == .failed([error]))
        #expect(store.field("b", "author") == nil)
    }

    /// A last word without data lets go of what was held for parts.
    @Test(
        arguments: [
            ["hasNext": false],
            [
                "incremental": [
                    ["path": ["list", 0], "data": nil, "errors": [["message": "no"]]]
                ],
                "hasNext": false,
            ],
        ] as [JSONValue])
    func nothingIsHeldBehindTheLastWord(_ last: JSONValue) throws {
        _ = try take(["data": list("a"), "hasNext": true])
        #expect(parts.state != nil)
        #expect(throws: StoreError.self) { try take(last) }
        #expect(parts.state == nil)
    }

    /// Nor does it bring back a record that somebody has deleted.
    @Test func aPartOfARecordThatWasDeletedIsNotWritten() throws {
        _ = try take(["data": list("a"), "hasNext": true])
        try store.commitUpdate { $0.delete(dataID: "a") }
        let part: JSONValue = ["path": ["list", 0], "data": ["id": "a"], "hasNext": false]
        #expect(try take(part) == [list("a")])
        #expect(store.snapshot.existing("a") == nil)
    }

    /// What it says of others is.
    @Test func aPartOfADeletedRecordCountsForOthers() throws {
        func take(_ response: JSONValue) throws {
            let one = ArrivedPayload(
                try TodoDocuments.operation("Authors"), response.bytes, parts: parts)
            _ = try store.commitPayloads([one])[0].get()
        }
        try take(["data": ["todos": [["id": "a"]]], "hasNext": true])
        try store.commitUpdate { $0.delete(dataID: "a") }
        let part: JSONValue = [
            "path": ["todos", 0], "data": ["author": ["id": "A", "name": "of a"]],
        ]
        try take(["incremental": [part], "hasNext": false])
        #expect(store.snapshot.existing("a") == nil)
        #expect(store.field("A", "name") == .string("of a"))
    }

    /// An item that is named by its place alone stays out of a list that is another by now.
    @Test func anItemWithoutAnIDIsNotWrittenIntoTheListOfOthers() throws {
        func take(_ response: JSONValue, _ parts: ResponseParts?) throws {
            let one = ArrivedPayload(
                try TodoDocuments.operation("Authors"), response.bytes, parts: parts)
            _ = try store.commitPayloads([one])[0].get()
        }
        func by(_ author: String) -> JSONValue { ["author": ["id": .string(author)]] }
        try take(["data": ["todos": [["id": "a"], ["id": "b"]]], "hasNext": true], parts)
        try take(["data": ["todos": [by("X"), by("Y"), by("Z")]]], nil)
        let named: JSONValue = ["id": "d", "author": ["id": "D"]]
        try take(
            [
                "incremental": [["path": ["todos", 2], "items": [by("C"), named]]],
                "hasNext": false,
            ], parts)
        #expect(store.field("client:root:todos(first:200):2", "author") == .link("Z"))
        #expect(store.field("d", "author") == .link("D"))
    }

    /// An error about an item, too.
    @Test func anErrorOfAnItemIsNotPutBesideTheListOfOthers() throws {
        let error: JSONValue = ["message": "no", "path": ["list", 1]]
        for others in [["a"], ["x", "y"]] {
            let (store, parts) = (Store.quiet(), ResponseParts())
            func take(_ response: JSONValue) throws {
                let one = ArrivedPayload(
                    try TodoDocuments.operation("List"), response.bytes, parts: parts)
                _ = try store.commitPayloads([one])[0].get()
            }
            try take(["data": list("a"), "hasNext": true])
            let other: JSONValue = ["list": .array(others.map { ["id": .string($0)] })]
            try store.commit("List", ["data": other])
            let item: JSONValue = [
                "incremental": [["path": ["list", 1], "data": nil, "errors": [error]]],
                "hasNext": false,
            ]
            try take(item)
            let errors = store.field("client:root", "todos(first:3)" + Symbols.elementErrorsSuffix)
            #expect((errors != nil) == (others == ["a"]))
        }
    }

    /// What came into a list is in the journal once, though each part has written the list.
    @Test func aListThatAResponseWritesTwiceIsKeptAsItIs() throws {
        let journal = StoreHistoryTests.Recorder()
        let store = Store.quiet { $0.journal = journal }
        try store.commit("List", ["data": list("a"), "hasNext": true])
        let parts: JSONValue = [
            ["path": ["list", 1], "data": ["id": "b"]],
            ["path": ["list", 2], "items": [["id": "c"]]],
        ]
        try store.commit("List", ["incremental": parts, "hasNext": false])
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", "b", "c"]))
        var replayed = Snapshot()
        var changes = ChangeSet()
        for event in journal.events { try replayed.fold(event, changes: &changes) }
        #expect(replayed.modelRecords == store.snapshot.modelRecords)
    }

    /// A record that two types share is made twice by one response; its list is in the journal once.
    @Test func aRecordThatChangesItsTypeTwiceIsKeptAsItIs() throws {
        let journal = StoreHistoryTests.Recorder()
        let store = Store.quiet { $0.journal = journal }
        func histories(_ ids: [String]) -> JSONValue {
            ["id": "1", "history": .array(ids.map { ["id": .string($0)] })]
        }
        try store.commit("Histories", ["data": ["todos": [histories(["a"])]]])
        let user: JSONValue = ["id": "1", "name": "of a user"]
        try store.commit(
            "Histories", ["data": ["me": user, "todos": [histories(["a", "b"])]]])
        #expect(store.field("1", "history") == .links(["a", "b"]))
        var replayed = Snapshot()
        var changes = ChangeSet()
        for event in journal.events { try replayed.fold(event, changes: &changes) }
        #expect(replayed.modelRecords == store.snapshot.modelRecords)
    }

    /// A stream of which a part never comes holds no old state for ever: the store lets go of it when it has to wait for it
    /// and has twice as many ids.
    @Test func whatIsHeldForPartsIsLetGoWhereTheStoreGrows() throws {
        #expect(try take(["data": list("a"), "hasNext": true]) == [list("a")])
        var count = 0
        func grow(by more: Int) throws {
            for _ in 0..<more / 100 {
                let ids = (0..<100).map { "x\(count + $0)" }
                count += 100
                try store.commit(
                    "List", ["data": ["list": .array(ids.map { ["id": .string($0)] })]])
            }
        }
        try grow(by: 5_000)
        store.collectSymbols()
        #expect(parts.state != nil)
        let young = ResponseParts()
        let first: JSONValue = ["data": list("a"), "hasNext": true]
        let begun = ArrivedPayload(
            try TodoDocuments.operation("List"), first.bytes, parts: young)
        _ = try store.commitPayloads([begun])[0].get()
        try grow(by: 20_000)
        #expect(parts.state == nil)
        // Only what is waited for goes.
        #expect(young.state != nil)
        // It goes on with what the store has.
        try store.commit("List", ["data": list("a")])
        #expect(try take(items(1, "b", hasNext: false)) == [list("a", "b")])
    }

    /// An updater that throws takes the response back, so that no part of it is read.
    @Test func aResponseThatIsTakenBackHasNoParts() throws {
        struct Refused: Error {}
        let operation = try TodoDocuments.operation("List")
        let response: JSONValue = ["data": list("a"), "hasNext": true]
        let payload = ArrivedPayload(
            operation, response.bytes, updater: { _, _ in throw Refused() }, parts: parts)
        let result = try store.commitPayloads([payload])[0]
        #expect(throws: Refused.self) { try result.get() }
        #expect(parts.state == nil)
    }

    /// In one burst, too, and a new response begins anew.
    @Test func aNewResponseHasNothingOfTheLast() throws {
        #expect(
            try take(
                ["data": list("a"), "hasNext": true], items(1, "b"),
                ["data": list("c"), "hasNext": true], items(1, "d", hasNext: false)) == [
                    list("a"), list("a", "b"), list("c"), list("c", "d"),
                ])
        #expect(try take(["data": list("e")]) == [list("e")])
        #expect(parts.state == nil)
    }

    @Test func whatOthersSayOfARecordIsNotInTheResults() throws {
        func response(_ text: String, hasNext: Bool) -> JSONValue {
            let todo: JSONValue = ["__typename": "Todo", "id": "a", "text": .string(text)]
            return ["data": ["node": todo], "hasNext": .bool(hasNext)]
        }
        func take(_ response: JSONValue) throws -> JSONValue? {
            let one = ArrivedPayload(
                try TodoDocuments.operation("One", ["id": "a"]), response.bytes, parts: parts)
            return try store.commitPayloads([one])[0].get().reading.data?.json["node"]?["text"]
        }
        #expect(try take(response("mine", hasNext: true)) == "mine")
        try store.commit("One", ["id": "a"], response("theirs", hasNext: false))
        let part: JSONValue = [
            "incremental": [["path": ["node"], "data": ["priority": 1]]], "hasNext": false,
        ]
        #expect(try take(part) == "mine")
        #expect(store.field("a", "text") == .string("theirs"))
    }

    /// The parts of a response that could not be read say so: they are not passed over in silence.
    @Test func partsOfAnUnreadableResponseAreErrors() throws {
        let operation = try TodoDocuments.operation("List")
        let whole: JSONValue = ["data": list("c")]
        let messages = [
            Array(#"{"data": {"todos": [{"id": 1"#.utf8), items(0, "b").bytes, whole.bytes,
        ]
        let results = try store.commitPayloads(
            messages.map { ArrivedPayload(operation, $0, parts: parts) })
        #expect(throws: (any Error).self) { try results[0].get() }
        guard case .failure(StoreError.responseWithoutData(let summary)) = results[1] else {
            Issue.record("\(results[1])")
            return
        }
        #expect(
            summary.errors.compactMap { $0["message"]?.string } == [
                "A part of a response whose beginning was refused was not taken in."
            ])
        _ = try results[2].get()
    }

    /// What a response was refused for may be what its parts build on.
    @Test func thePartsOfARefusedResponseAreRefused() throws {
        struct Refusal: Error {}
        try store.commit("List", ["data": list("a")])
        let first: JSONValue = ["data": list("a"), "hasNext": true]
        let refused = ArrivedPayload(
            try TodoDocuments.operation("List"),
            first.bytes,
            updater: { _, _ in throw Refusal() }, parts: parts)
        let results = try store.commitPayloads([refused, payload("List", items(1, "b"))])
        #expect(throws: Refusal.self) { try results[0].get() }
        #expect(throws: StoreError.self) { try results[1].get() }
        #expect(store.field("client:root", "todos(first:3)") == .links(["a"]))
        #expect(parts.state == nil)
        #expect(throws: StoreError.self) { try take(items(1, "b", hasNext: false)) }
        // A new response begins anew.
        #expect(
            try take(["data": list("c"), "hasNext": true], items(1, "d", hasNext: false)) == [
                list("c"), list("c", "d"),
            ])
    }

    /// What a part that failed was to bring is what an earlier response said, as long as nothing newer is known.
    @Test func aPartThatFailedLeavesWhatTheStoreHad() throws {
        func take(_ response: JSONValue) throws -> JSONValue? {
            let one = ArrivedPayload(
                try TodoDocuments.operation("Authors"), response.bytes, parts: parts)
            return try store.commitPayloads([one])[0].get().reading.data?.json
        }
        let author: JSONValue = ["id": "A", "name": "old"]
        _ = try take(["data": ["todos": [["id": "a", "author": author]]]])
        _ = try take(["data": ["todos": [["id": "a"], ["id": "b"]]], "hasNext": true])
        let incremental: JSONValue = [
            ["path": ["todos", 0], "data": nil, "errors": [["message": "no"]]],
            ["path": ["todos", 1], "data": ["author": ["id": "B", "name": "new"]]],
        ]
        let result = try take(["incremental": incremental, "hasNext": false])
        #expect(result?["todos"]?.array?[0]["author"]?["name"] == "old")
        #expect(result?["todos"]?.array?[1]["author"]?["name"] == "new")
    }

    /// A part that is refused leaves those behind it what was before it.
    @Test func thePartsBehindARefusedOneGoOn() throws {
        struct Refusal: Error {}
        _ = try take(["data": list("a"), "hasNext": true])
        let part = ArrivedPayload(
            try TodoDocuments.operation("List"), items(1, "b").bytes,
            updater: { _, _ in throw Refusal() }, parts: parts)
        #expect(throws: Refusal.self) { try store.commitPayloads([part])[0].get() }
        #expect(try take(items(1, "c", hasNext: false)) == [list("a", "c")])
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", "c"]))
    }

    /// The last of a part may free a whole old store, for which no writer waits.
    @Test(arguments: [true, false])
    func whatWasHeldGoesOutsideTheLock(_ hasData: Bool) throws {
        _ = try take(["data": list("a"), "hasNext": true])
        let epoch = try #require(parts.state?.epoch.end)
        store.endSymbols(try #require(store.beginSymbols()))
        #expect(!epoch.isOver)
        let wroteThen = Lock<Bool?>(nil)
        epoch.then { [store] in wroteThen.withLock { $0 = store.isWritingHere } }
        if hasData {
            _ = try take(items(1, "b", hasNext: false))
        } else {
            #expect(throws: StoreError.self) { try take(["hasNext": false]) }
        }
        #expect(wroteThen.withLock { $0 } == false)
    }
}
