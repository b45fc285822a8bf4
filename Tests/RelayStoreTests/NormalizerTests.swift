import GraphQLLanguage
import RelayArtifacts
import RelayIR
import RelayJSON
import Testing

@testable import RelayNormalization
@_spi(Rooms) @testable import RelayRecords
@_spi(Rooms) @testable import RelayStore

@Suite(.bounded) struct NormalizerTests {
    private func todo(_ fields: JSONObject, id: JSONValue = "t") throws -> Store {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        var object: JSONObject = ["__typename": "Todo", "id": id]
        for (key, value) in fields { object[key] = value }
        try store.commit("One", ["id": "t"], ["data": ["node": .object(object)]])
        return store
    }

    /// T8: booleans, whole numbers and fractions stay what they are.
    @Test func trap8ScalarsKeepTheirKinds() throws {
        let store = try todo([
            "complete": true, "weight": 1.0, "priority": 1, "text": "é \"x\" \u{1F600}",
            "tags": ["a", nil], "extra": ["deep": [1, ["x": nil]]],
        ])
        #expect(store.field("t", "complete") == .bool(true))
        #expect(store.field("t", "weight") == .double(1))
        #expect(store.field("t", "priority") == .int(1))
        #expect(store.field("t", "text") == .string("é \"x\" \u{1F600}"))
        #expect(store.field("t", "tags") == .json(["a", nil]))
        #expect(store.field("t", "extra") == .json(["deep": [1, ["x": nil]]]))
        let told = Told()
        let subscription = try store.subscribe(store.read("One", ["id": "t"])) { told.add($0) }
        _ = try store.begin(
            "One", ["id": "t"],
            expecting: ["data": ["node": ["__typename": "Todo", "id": "t", "complete": true]]])
        #expect(told.count == 0)
        subscription.cancel()
    }

    /// T9: an object without an id is named by where it stands; a second response makes nothing new.
    @Test func trap9ObjectsWithoutAnIDAreNamedByTheirPlace() throws {
        let store = Store.quiet()
        let response: JSONValue = [
            "data": [
                "settings": [
                    "theme": "dark",
                    "layout": ["columns": 2, "panes": [["title": "x"], nil, ["title": "y"]]],
                ]
            ]
        ]
        try store.commit("Settings", response)
        let ids = store.ids()
        #expect(
            Set(ids) == [
                "client:root", "client:root:settings", "client:root:settings:layout",
                "client:root:settings:layout:panes:0", "client:root:settings:layout:panes:2",
            ])
        let sequence = store.snapshot.sequence
        let told = Told()
        let subscription = try store.subscribe(store.read("Settings")) { told.add($0) }
        try store.commit("Settings", response)
        #expect(store.ids() == ids)
        #expect(store.snapshot.sequence == sequence + 1)
        #expect(told.count == 0)
        #expect(try store.json("Settings") == response["data"])
        subscription.cancel()
    }

    @Test func edgesAreNamedByTheirNodes() throws {
        let store = Store.quiet()
        try store.commit(
            "Page", ["count": 2],
            [
                "data": [
                    "me": [
                        "id": "u",
                        "todos": [
                            "edges": [
                                ["cursor": "1", "node": ["id": "a", "text": "A"]],
                                ["node": nil, "cursor": "2"],
                            ], "pageInfo": ["endCursor": "2", "hasNextPage": true],
                        ],
                    ]
                ]
            ])
        #expect(store.snapshot.existing("client:u:todos(first:2):edges:a") != nil)
        #expect(store.snapshot.existing("client:u:todos(first:2):edges:#1") != nil)
    }

    /// T12: whatever shape the server sends, it is a field error with a path and never a trap.
    @Test(arguments: [
        #"{"data":{"node":"text"}}"#, #"{"data":{"node":[1,2]}}"#, #"{"data":{"node":5}}"#,
        #"{"data":{"node":{"__typename":"Todo","id":"t","author":"someone"}}}"#,
        #"{"data":{"node":{"__typename":"Todo","id":"t","author":[{}]}}}"#,
    ]) func trap12WrongShapesAreFieldErrors(_ response: String) throws {
        let store = Store.quiet()
        let summary = try store.commitPayload(
            TodoDocuments.operation("One", ["id": "t"]), Array(response.utf8))
        #expect(summary.errors.count == 1)
        #expect(summary.errors[0]["path"]?.array?.first == "node")
        let snapshot = try store.read("One", ["id": "t"])
        #expect(!snapshot.errors.isEmpty)
    }

    @Test func trap12AnObjectWithoutATypeOrAnIDIsStillARecord() throws {
        let store = Store.quiet()
        try store.commit("One", ["id": "t"], ["data": ["node": ["__typename": 5, "id": ["a": 1]]]])
        #expect(store.snapshot.existing(#"client:root:node(id:"t")"#) != nil)
    }

    @Test func trap12ANumericIDIsAnID() throws {
        let store = try todo(["text": "x"], id: 7)
        #expect(store.field("7", "text") == .string("x"))
    }

    @Test(arguments: ["", "[]", "null", "{\"data\":5}", "{\"data\":{}", "{\"data\":{}} x", "nul"])
    func whatIsNoResponseIsRefusedAndChangesNothing(_ text: String) throws {
        let store = try todo(["text": "x"])
        let sequence = store.snapshot.sequence
        #expect(throws: (any Error).self) {
            try store.commitPayload(
                TodoDocuments.operation("One", ["id": "t"]), Array(text.utf8))
        }
        #expect(store.snapshot.sequence == sequence)
    }

    @Test func nestingWithoutEndIsRefused() throws {
        let deep = #"{"data":{"node":{"__typename":"Todo","id":"t","extra":"#
        let text = deep + String(repeating: "[", count: 100_000)
        #expect(throws: JSONError.self) {
            try Store.quiet().commitPayload(
                TodoDocuments.operation("One", ["id": "t"]), Array(text.utf8))
        }
    }

    /// T6: a response without data is told with its errors, and changes nothing.
    @Test(arguments: [
        #"{"data":null,"errors":[{"message":"no"}]}"#, #"{"errors":[{"message":"no"}]}"#,
    ])
    func trap6AResponseWithoutDataIsToldWithItsErrors(_ text: String) throws {
        let store = try todo(["text": "x"])
        let before = store.snapshot
        let error = #expect(throws: StoreError.self) {
            try store.commitPayload(
                TodoDocuments.operation("One", ["id": "t"]), Array(text.utf8))
        }
        guard case .responseWithoutData(let summary)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(summary.errors == [["message": "no"]])
        #expect(!summary.hasData)
        #expect(store.snapshot.sequence == before.sequence)
        #expect(store.field("t", "text") == .string("x"))
    }

    /// T7: errors are told beside the data, with their paths, and stand beside the fields.
    @Test func trap7ErrorsStandBesideTheFieldsTheyAreAbout() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        let summary = try store.commit(
            "One", ["id": "t"],
            [
                "errors": [["message": "secret", "path": ["node", "author"]]],
                "data": ["node": ["__typename": "Todo", "id": "t", "text": "x", "author": nil]],
                "extensions": ["took": 3],
            ])
        #expect(summary.errors.count == 1)
        #expect(summary.extensions == ["took": 3])
        let snapshot = try store.read("One", ["id": "t"])
        #expect(snapshot.errors.map(\.path) == [["node", "author"]])
        #expect(snapshot.errors.map(\.message) == ["secret"])
        guard case .failed? = store.field("t", "author") else {
            Issue.record("the error is not beside the field")
            return
        }
    }

    @Test func anErrorBelowANullStandsBesideTheNull() throws {
        let store = Store.quiet()
        try store.commit(
            "One", ["id": "t"],
            [
                "data": ["node": ["__typename": "Todo", "id": "t", "author": nil]],
                "errors": [["message": "no name", "path": ["node", "author", "name"]]],
            ])
        #expect(try store.read("One", ["id": "t"]).errors.map(\.path) == [["node", "author"]])
    }

    @Test func anErrorInsideAListStandsBesideTheList() throws {
        let store = Store.quiet()
        try store.commit(
            "List", [:],
            [
                "data": ["list": [["id": "a", "text": "A", "complete": true], nil]],
                "errors": [["message": "gone", "path": ["list", 1]]],
            ])
        let snapshot = try store.read("List")
        #expect(snapshot.data?.json["list"]?.array?.count == 2)
        #expect(snapshot.errors.map(\.message) == ["gone"])
    }

    @Test func aCaughtErrorIsNull() throws {
        let store = Store.quiet()
        try store.commit(
            "Caught", [:],
            ["data": ["me": nil], "errors": [["message": "no", "path": ["me"]]]])
        let snapshot = try store.read("Caught")
        #expect(snapshot.errors.isEmpty)
        #expect(snapshot.data?.json == ["me": nil])
    }

    @Test func aliasesArgumentsAndConditions() throws {
        let store = Store.quiet()
        let response: JSONValue = ["data": ["list": [["id": "a", "text": "A", "complete": true]]]]
        try store.commit("List", ["complete": true], response)
        #expect(
            store.field("client:root", "todos(complete:true,first:3)") == .links(["a"]))
        #expect(try store.json("List", ["complete": true]) == response["data"])
        #expect(
            try store.json("List", ["complete": true, "with": false, "not": true])
                == ["list": [["id": "a"]]])
        // What a condition leaves out is not taken in, whatever the server sends.
        let other = Store.quiet()
        try other.commit("List", ["not": true], response)
        #expect(other.field("a", "complete") == nil)
    }

    /// T18: a default value that was not overridden is part of the storage key, as on the server.
    @Test func trap18DefaultsOfVariablesCount() throws {
        let store = Store.quiet()
        try store.commit("Counter", ["data": ["counter": 5]])
        #expect(store.field("client:root", "counter(step:1.5)") == .int(5))
        #expect(try store.json("Counter", ["step": 1.5]) == ["counter": 5])
    }

    /// T19: texts in storage keys are escaped as JSON is.
    @Test func trap19StorageKeysEscapeTexts() throws {
        let store = Store.quiet()
        try store.commit("Search", ["text": "a\"b\n"], ["data": ["search": []]])
        #expect(store.field("client:root", #"search(text:"a\"b\n")"#) == .links([]))
    }

    @Test func abstractTypesTakeTheirOwnFields() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        let response: JSONValue = [
            "data": [
                "search": [
                    ["__typename": "Todo", "id": "t", "text": "x"],
                    ["__typename": "User", "id": "u", "name": "Ada"], nil,
                ]
            ]
        ]
        try store.commit("Search", ["text": "x"], response)
        #expect(store.field("t", "text") == .string("x"))
        #expect(store.field("u", "name") == .string("Ada"))
        #expect(try store.json("Search", ["text": "x"]) == response["data"])
    }

    /// T13: a type that is younger than the compiler's schema counts by what its objects say.
    @Test func trap13AYoungerTypeIsOfTheInterfaceItSaysItIs() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        try store.commit(
            "Nodes", ["id": "p"],
            ["data": ["node": ["__typename": "Project", "__isNode": "Project", "id": "p"]]])
        #expect(try store.json("Nodes", ["id": "p"])["node"]?["id"] == "p")
    }

    /// Types that no compiled abstract fragment counts among its own are prepared once as well: for each answer to the
    /// question whether they are of it.
    @Test func whatATypeOutsideOfAnInterfaceSelectsIsPreparedOnce() throws {
        let symbols = Symbols()
        let operation = try TodoDocuments.operation("Mixed").request.node.operation
        let plan = NormalizationPlan(operation, variables: ["text": "x"], symbols: symbols)
        let root = plan.flat(symbols.name(Snapshot.rootTypeName)) { _ in false }
        let search = try #require(root.fields.first?.child)
        let stranger = symbols.name("Stranger")
        let without = search.flat(stranger) { _ in false }
        let with = search.flat(stranger) { $0 == "__isNode" }
        #expect(search.flat(stranger) { _ in false } === without)
        #expect(search.flat(stranger) { $0 == "__isNode" } === with)
        #expect(without !== with && without.fields.isEmpty && with.discriminators == ["__isNode"])
    }

    /// A5: data over them counted as changed at every commit.
    @Test func dataOfATypeOutsideOfAnInterfaceIsTheSameWhenItIsReadAgain() throws {
        let store = Store.quiet()
        func commit(_ text: JSONValue, _ last: JSONValue) throws {
            let todo: JSONValue = [
                "__typename": "Todo", "__isNode": "Todo", "id": "t", "text": text,
            ]
            let list: JSONValue = [todo, ["__typename": "Stranger"], last]
            try store.commit("Mixed", ["text": "x"], ["data": ["search": list]])
        }
        func elements(_ read: SelectorSnapshot) throws -> ContiguousArray<DataNode?> {
            guard case .list(let list)? = read.data?.child(named: "search") else {
                throw InvalidResponse(description: "there is no list")
            }
            return list.elements
        }
        try commit("x", ["__typename": "Stranger"])
        let first = try store.read("Mixed", ["text": "x"])
        #expect(store.lookup(first.selector, previous: first).data === first.data)
        try commit("y", ["__typename": "Stranger"])
        let second = store.lookup(first.selector, previous: first)
        #expect(try elements(second)[0] !== elements(first)[0])
        #expect(try elements(second)[1] === elements(first)[1])
        // An object that says more than those before is heard.
        try commit("y", ["__typename": "Stranger", "__isNode": "Stranger", "id": "s"])
        let third = store.lookup(first.selector, previous: second)
        #expect(third.data?.json["search"]?.array?.last?["id"] == "s")
        #expect(store.lookup(first.selector, previous: third).data === third.data)
    }

    @Test func aFieldGivenTwiceHasItsLastValue() throws {
        let store = Store.quiet()
        let text = """
            {"data":{"list":[{"id":"a","text":"1","text":"2"}], "list":[{"id":"b"}]}}
            """
        try store.commitPayload(TodoDocuments.operation("List"), Array(text.utf8))
        #expect(store.field("a", "text") == .string("2"))
        #expect(store.field("client:root", "todos(first:3)") == .links(["b"]))
    }

    @Test func nullIsAnotherValueThanNoneWhereTheSchemaHasADefault() throws {
        let store = Store.quiet()
        let answer: JSONValue = [
            "user": ["id": "me"], "none": nil, "given": nil, "unnamed": ["id": "u"],
        ]
        let none: VariableData = ["id": VariableValue.null]
        try store.commit("Users", none, ["data": answer])
        #expect(try store.json("Users", none) == answer)
        #expect(store.field("client:root", "user") == .link("me"))
        #expect(store.field("client:root", "user(id:null)") == .null)
        // Without a default, null is as good as none.
        #expect(store.field("client:root", #"user(id:"u")"#) == .link("u"))
        // An updater names the same fields.
        let operation = try TodoDocuments.operation("Users", none)
        try store.commitPayload(operation, JSONValue.object(["data": answer]).bytes) { store, _ in
            let root = store.root
            let user = root.getLinkedRecord("user", args: nil)
            #expect(user?.dataID == "me")
            #expect(root.getLinkedRecord("user", args: none) == nil)
            root.setLinkedRecord("user", args: none, record: user)
        }
        #expect(store.field("client:root", "user(id:null)") == .link("me"))
    }

    /// An updater that names a field before any operation did knows the schema of its own operation, and of no other.
    @Test func anUpdaterTellsNullFromNoneAsItsSchemaDoes() throws {
        let none: VariableData = ["id": VariableValue.null]
        func named(by operation: OperationDescriptor) throws -> Store {
            let store = Store.quiet()
            try store.commitPayload(operation, Array(#"{"data":{}}"#.utf8)) { store, _ in
                let user = store.create(dataID: "u", typeName: "User")
                store.root.setLinkedRecord("user", args: none, record: user)
            }
            return store
        }
        let store = try named(by: TodoDocuments.operation("Me"))
        #expect(store.field("client:root", "user(id:null)") == .link("u"))
        #expect(store.field("client:root", "user") == nil)

        // A store from disk may show what it has before any response comes.
        for keep in [Store.retain, Store.hold]
            as [(Store) -> (OperationDescriptor) throws -> Retention]
        {
            let store = Store.quiet()
            let kept = try keep(store)(TodoDocuments.operation("Me"))
            try store.commitUpdate { store in
                store.root.setLinkedRecord(
                    "user", args: none, record: store.create(dataID: "u", typeName: "User"))
            }
            #expect(store.field("client:root", "user(id:null)") == .link("u"))
            kept.cancel()
        }

        let schema = "type Query { user(id: ID): User } type User { id: ID! }"
        let other = try RelayDocuments(
            Document(parsing: "query Other { user { id } }"),
            schema: Schema.build([Source(schema)]))
        let request = try #require(other.operation("Other")).request
        let plain = try named(by: OperationDescriptor(request, variables: [:]))
        #expect(plain.field("client:root", "user") == .link("u"))
        #expect(plain.field("client:root", "user(id:null)") == nil)
    }

    @Test func aRecordThatContainsItselfIsOneRecord() throws {
        let store = Store.quiet()
        try store.commit(
            "Best",
            [
                "data": [
                    "me": [
                        "id": "u", "name": "old",
                        "best": ["id": "u", "name": "new", "best": ["id": "u", "name": "newest"]],
                    ]
                ]
            ])
        #expect(store.ids() == ["u", "client:root"])
        #expect(store.field("u", "best") == .link("u"))
    }

    @Test func deferredPartsComeLaterOrAtOnce() throws {
        let store = Store.quiet()
        try store.commit("Deferred", ["data": ["me": ["id": "u"]], "hasNext": true])
        let selector = ReaderSelector(
            try TodoDocuments.fragment("Name_user"), dataID: "u", variables: [:])
        #expect(store.lookup(selector).isMissingData)
        let summary = try store.commit(
            "Deferred",
            [
                "incremental": [
                    ["label": "name", "path": ["me"], "data": ["name": "Ada"]],
                    ["path": ["nowhere", 7], "data": ["name": "?"]], 5,
                ], "hasNext": false,
            ])
        #expect(!summary.hasNext)
        #expect(store.lookup(selector).data?.json == ["name": "Ada"])
        try store.commit("Deferred", ["path": ["me"], "data": ["name": "Bob"], "label": "name"])
        #expect(store.field("u", "name") == .string("Bob"))
    }

    /// The older form of incremental delivery, as servers order its keys.
    @Test func thePathOfAPartMayStandBehindItsData() throws {
        let store = Store.quiet()
        try store.commit("Deferred", ["data": ["me": ["id": "u"]], "hasNext": true])
        try store.commit(
            "Deferred", ["data": ["name": "Ada", "me": nil], "path": ["me"], "hasNext": false])
        #expect(store.field("u", "name") == .string("Ada"))
        #expect(store.field("client:root", "me") == .link("u"))
    }

    /// T7 for parts: their errors are told, and stand beside their fields.
    @Test func trap7ErrorsOfAPartAreNotDropped() throws {
        let store = Store.quiet()
        try store.commit("Deferred", ["data": ["me": ["id": "u"]], "hasNext": true])
        let summary = try store.commit(
            "Deferred",
            [
                "incremental": [
                    [
                        "path": ["me"], "data": ["name": nil],
                        "errors": [["message": "secret", "path": ["me", "name"]]],
                    ]
                ]
            ])
        #expect(summary.errors.count == 1)
        let selector = ReaderSelector(
            try TodoDocuments.fragment("Name_user"), dataID: "u", variables: [:])
        #expect(store.lookup(selector).errors.map(\.message) == ["secret"])
    }

    @Test func streamedItemsGoIntoTheirList() throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a"]]], "hasNext": true])
        try store.commit(
            "List",
            ["incremental": [["path": ["list", 1], "items": [["id": "b"], nil, ["id": "c"]]]]])
        #expect(
            store.field("client:root", "todos(first:3)") == .links(["a", "b", nil, "c"]))
    }

    /// As graphql-js 15 and 16 stream: one item is one part.
    @Test func anItemMayComeAloneAtItsIndex() throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a"]]], "hasNext": true])
        for (index, id) in ["b", "c"].enumerated() {
            let summary = try store.commit(
                "List",
                [
                    "label": "x", "path": ["list", .int(Int64(index) + 1)],
                    "data": ["id": .string(id)], "hasNext": true,
                ])
            #expect(summary.errors.isEmpty)
        }
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", "b", "c"]))
    }

    /// One that failed keeps its place, so that those behind it have theirs.
    @Test func anItemThatFailsIsNull() throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a"]]], "hasNext": true])
        let parts: [JSONValue] = [nil, ["id": "c"]]
        for (index, data) in parts.enumerated() {
            try store.commit(
                "List",
                [
                    "path": ["list", .int(Int64(index) + 1)], "data": data,
                    "errors": data.isNull ? [["message": "lost"]] : [], "hasNext": true,
                ])
        }
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", nil, "c"]))
        // A deferred part of an item that failed leaves the item.
        #expect(throws: StoreError.self) {
            try store.commit("List", ["path": ["list", 2], "data": nil, "hasNext": false])
        }
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", nil, "c"]))
    }

    @Test func anItemBeyondTheEndIsRefused() throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a"]]], "hasNext": true])
        for part in [["data": ["id": "c"]], ["items": [["id": "c"]]]] as [JSONObject] {
            var part = part
            part["path"] = ["list", 3]
            let next: JSONValue = ["path": ["list", 1], "items": [["id": "b"]]]
            let summary = try store.commit("List", ["incremental": [.object(part), next]])
            #expect(summary.errors.map { $0["path"] } == [["list", 3]])
        }
        #expect(store.field("client:root", "todos(first:3)") == .links(["a", "b"]))
    }

    @Test func partsThatAreNoListAreAnError() throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a"]]], "hasNext": true])
        let summary = try store.commit(
            "List",
            ["data": ["list": [["id": "a"]]], "incremental": ["path": ["list", 1], "items": []]])
        #expect(
            summary.errors.map { $0["message"] } == [
                "The \"incremental\" of the response is no list."
            ])
    }

    @Test func whatIsWrongInAPartHasItsPathInTheResponse() throws {
        let store = Store.quiet()
        try store.commit("Authors", ["data": ["todos": [["id": "a"]]], "hasNext": true])
        let items: JSONValue = [["id": "b", "author": 5], 7, nil]
        let summary = try store.commit(
            "Authors",
            [
                "incremental": [
                    ["path": ["todos", 1], "items": items],
                    ["path": ["todos", 0], "data": ["author": "nobody"]],
                ]
            ])
        #expect(
            summary.errors.map { $0["path"] } == [
                ["todos", 1, "author"], ["todos", 2], ["todos", 0, "author"],
            ])
        #expect(
            summary.errors[1]["message"] == "Expected an object, found a number.")
        #expect(
            store.field("client:root", "todos(first:200)") == .links(["a", "b", nil, nil]))
    }

    /// A response that can't be taken in leaves no trace among others of the same burst, in the journal either.
    @Test func whatAPayloadHasWrittenIsTakenBackAlone() throws {
        struct Refused: Error {}
        let journal = StoreHistoryTests.Recorder()
        let store = Store.quiet { $0.journal = journal }
        func payload(_ id: String, updater: SelectorUpdater? = nil) throws -> ArrivedPayload {
            let todo: JSONObject = ["__typename": "Todo", "id": .string(id), "text": "new"]
            return ArrivedPayload(
                try TodoDocuments.operation("One", ["id": id]),
                (["data": ["node": .object(todo)]] as JSONValue).bytes, updater: updater)
        }
        let results = try store.commitPayloads([
            payload("a"),
            payload("b") { source, _ in
                source["a"]?["text"] = "half"
                source.delete(dataID: "b")
                source.create(dataID: "c", typeName: "Todo").setLinkedRecord(
                    "author", args: ["x": 1], record: nil)
                throw Refused()
            },
            payload("d") { source, _ in source["d"]?["priority"] = 1 },
        ])
        #expect(results.map { (try? $0.get()) == nil } == [false, true, false])
        #expect(store.field("a", "text") == .string("new"))
        #expect(store.field("d", "priority") == .int(1))
        #expect(store.snapshot.existing("c") == nil && store.snapshot.existing("b") == nil)
        var replayed = Snapshot()
        var changes = ChangeSet()
        for event in journal.events { try replayed.fold(event, changes: &changes) }
        #expect(replayed.modelRecords == store.snapshot.modelRecords)
    }

    /// T12: places that no list has kill nobody.
    @Test(arguments: [Int64.max, Int64.max - 1, 1 << 40, -1, Int64.min])
    func trap12ItemsAtImpossiblePlacesAreLeftOut(_ place: Int64) throws {
        let store = Store.quiet()
        try store.commit("List", ["data": ["list": [["id": "a"]]], "hasNext": true])
        let part: JSONValue = [
            "incremental": [["path": ["list", .int(place)], "items": [["id": "b"], ["id": "c"]]]]
        ]
        #expect(throws: StoreError.self) { try store.commit("List", part) }
        #expect(store.field("client:root", "todos(first:3)") == .links(["a"]))
    }

    /// Also where there are so many that slots are looked up in a table.
    @Test func aFieldUnderTwoNamesIsOneField() throws {
        let store = Store.quiet { $0.journal = InMemoryJournal() }
        for value in [JSONValue.int(1), 2] {
            let names = (0..<26).map { "a\($0)" } + ["again"]
            let data = JSONObject(names.map { ($0, value) })
            try store.commit("Aliases", ["data": .object(data)])
            let read = try store.json("Aliases")
            #expect(names.allSatisfy { read[$0] == value })
        }
    }

    @Test func anotherTypeUnderTheSameIDTakesItsPlace() throws {
        let store = try todo(["text": "x"])
        try store.commit(
            "One", ["id": "t"],
            ["data": ["node": ["__typename": "User", "id": "t", "name": "Ada"]]])
        #expect(
            try store.json("One", ["id": "t"])["node"]
                == ["id": "t", "name": "Ada"])
    }

    /// Whatever went wrong, something did.
    @Test func errorsThatAreNoListAreAnError() throws {
        let store = Store.quiet()
        for errors in [JSONValue.string("x"), ["message": "x"], true, 0] {
            let summary = try store.commit(
                "Settings", ["data": ["settings": nil], "errors": errors])
            #expect(
                summary.errors == [
                    [
                        "message": .string(
                            "The \"errors\" of the response are no list, but \(errors.text).")
                    ]
                ])
        }
        let summary = try store.commit("Settings", ["data": ["settings": nil], "errors": nil])
        #expect(summary.errors.isEmpty)
    }

    @Test func aNumberWithoutAFractionIsAWholeNumber() throws {
        func priority(_ number: String) throws -> Int? {
            let store = Store.quiet()
            let text = """
                {"data": {"node": {"__typename": "Todo", "id": "t", "priority": \(number)}}}
                """
            try store.commitPayload(TodoDocuments.operation("One", ["id": "t"]), Array(text.utf8))
            let data = try #require(try store.read("One", ["id": "t"]).data)
            var cursor = DataCursor(data)
            let node = try #require(try cursor.node("node"))
            var fields = DataCursor(node)
            return try withExtendedLifetime(node) { try fields.int("priority") }
        }
        #expect(try priority("5.0") == 5)
        #expect(try priority("5e2") == 500)
        #expect(try priority("-0.0") == 0)
        for number in ["5.5", "18446744073709551615", "1e300"] {
            #expect(throws: DataError.self) { try priority(number) }
        }
    }
}
