import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import StoreEngine
import Testing

/// Swift code in place of directives, as clients meet it.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct HandlersTests {
    private let engine: EngineUnderTest

    init() async throws { engine = try await Self.engine(HandlerSchema.handlers()) }

    private static func engine(
        _ handlers: Handlers, journal: GatedJournal = GatedJournal(),
        limits: (inout GraphQLService.Limits) -> Void = { _ in }
    ) async throws -> EngineUnderTest {
        try await EngineUnderTest(
            journal: journal, sdl: HandlerSchema.base, handlers: handlers,
            seed: HandlerSchema.seed, limits: limits)
    }

    // MARK: Computed fields

    @Test func aComputedFieldSeesItsRecordAndItsArguments() async throws {
        let result = try await engine.run(
            #"{ list(name: "one") { label other: label(suffix: "?") } answer }"#)
        #expect(
            result["data"] == ["list": ["label": "a!", "other": "a?"], "answer": 42], "\(result)")
    }

    @Test func aComputedObjectMayBeNoRecordAndLinkToOne() async throws {
        let result = try await engine.run(
            "{ mirror { left right list { name } } }", as: Identity("ada"))
        #expect(
            result["data"]
                == ["mirror": ["left": "ada", "right": [1, 2], "list": ["name": "one"]]],
            "\(result)")
    }

    @Test func aLiveQueryFollowsWhatAComputedFieldHasRead() async throws {
        let sink = try engine.subscribe(#"subscription { listed(name: "one") { label } }"#)
        _ = try await engine.results(of: sink, count: 1)
        // Neither the list nor its links change: only what the resolver read in a linked record.
        _ = try await engine.run(#"mutation { spoil(how: "new text") { item { id } } }"#)
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[1]["data"] == ["listed": ["label": "new text!"]])
    }

    @Test func aLiveQueryFollowsWhatAComputedFieldHasNotFound() async throws {
        var handlers = Handlers()
        handlers.resolve("Query.name") { context in
            context.records["Late-1"]?["name"] ?? .null
        }
        handlers.mutation("make") { records, _ in
            let late = records.create(typeName: "Late")
            late["name"] = "there"
            return late.dataID
        }
        let engine = try await EngineUnderTest(
            sdl: """
                interface Node { id: ID! }
                type Query { name: String }
                type Mutation { make: MakePayload }
                type MakePayload { late: Late }
                type Late implements Node { id: ID! name: String }
                """, handlers: handlers, seed: "")
        let sink = try engine.subscribe("query @live { name }")
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run("mutation { make { late { id } } }")
        #expect(try await engine.results(of: sink, count: 2)[1]["data"] == ["name": "there"])
    }

    /// A state that is read from the log is one of records alone.
    @Test func whatAProgramComputesIsAnErrorInAPastThatIsNotInMemory() async throws {
        let sdl = """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            type Note implements Node { id: ID! text: String length: Int }
            type Mutation { add(input: AddInput!): AddPayload @create(type: "Note") }
            input AddInput { text: String }
            type AddPayload { note: Note }
            """
        var handlers = Handlers()
        handlers.resolve("Note.length") { $0.record?["text"].stringValue?.count }
        let engine = try await EngineUnderTest(
            sdl: sdl, handlers: handlers, seed: "", recentCommits: 1)
        for text in ["a", "ab", "abc"] {
            _ = try await engine.run(
                "mutation { add(input: {text: \"\(text)\"}) { note { id } } }")
        }
        try await engine.everyPublication()
        let query = "{ node(id: \"Note-1\") { ... on Note { text length } } }"
        #expect(try await engine.run(query)["data"]?["node"]?["length"] == 1)
        let past = try await engine.run(query, relay: ["at": 3])
        #expect(past["data"]?["node"] == ["text": "a", "length": nil])
        #expect(past.firstErrorMessage?.contains("Note.length is computed") == true, "\(past)")
    }

    // MARK: Mutations

    /// A key ends with its field, which may have `_` in it as well as what stands before.
    @Test(arguments: ["open_lists", "List_open_lists", "my_List_open_lists"])
    func aConnectionIsTheLongestEndOfItsKeyThatIsAField(key: String) async throws {
        var handlers = HandlerSchema.handlers()
        handlers.mutation("spoil") { records, _ in
            if let list = records["l2"] {
                records["l1"]?.connection(key)?.insert(list, edgeType: "ListEdge", at: .end)
            }
            return "i1"
        }
        let fields = """
            lists(first: Int): ListConnection open_lists(first: Int): ListConnection
              items(first: Int, after: String): ItemConnection
            """
        let engine = try await EngineUnderTest(
            sdl: HandlerSchema.base.replacing(
                "items(first: Int, after: String): ItemConnection", with: fields)
                    + """
                    type ListConnection { edges: [ListEdge] pageInfo: PageInfo! }
                    type ListEdge { node: List cursor: String! }
                    """, handlers: handlers, seed: HandlerSchema.seed)
        let done = try await engine.run("mutation { spoil(how: \"\") { item { id } } }")
        #expect(done["errors"] == nil, "\(done)")
        let result = try await engine.run(
            """
            { list(name: "one") { lists { edges { node { id } } } open_lists { edges { node { id } } } } }
            """)
        let ids = { (field: String) in
            (result["data"]?["list"]?[field]?["edges"]?.array ?? []).map { $0["node"]?["id"] }
        }
        #expect(ids("lists") == [])
        #expect(ids("open_lists") == ["l2"])
    }

    @Test func aMutationInSwiftWritesThroughTheProxyAndItsPayloadIsFilledByType() async throws {
        let sink = try engine.subscribe(
            "subscription { itemCopied(listId: \"two\") { item { text } clientMutationId } }")
        let result = try await engine.run(
            """
            mutation { copyItem(input: {text: "c", listId: "two", clientMutationId: "x"}) {
                item { id text done } itemEdge { node { text } } list { name size }
                clientMutationId } }
            """)
        #expect(
            result["data"]?["copyItem"] == [
                "item": ["id": "Item-1", "text": "c", "done": false],
                "itemEdge": ["node": ["text": "c"]], "list": ["name": "two", "size": 1],
                "clientMutationId": "x",
            ], "\(result)")
        let told = try await engine.results(of: sink, count: 1)
        #expect(
            told[0]["data"] == ["itemCopied": ["item": ["text": "c"], "clientMutationId": "x"]])
    }

    @Test func aMutationInSwiftMayDelete() async throws {
        let result = try await engine.run(
            """
            mutation { dropItem(input: {id: "i1", listId: "l1"}) {
                deletedItemId list { items { edges { node { id } } } } } }
            """)
        #expect(
            result["data"]?["dropItem"] == [
                "deletedItemId": "i1", "list": ["items": ["edges": [["node": ["id": "i2"]]]]],
            ], "\(result)")
    }

    private static let spoils: [(String, String?, String)] = [
        ("throw", "TEAPOT", "No."),
        ("type", nil, "Item.text is String!, and 1 is none"),
        ("null", nil, "Item.text must not be null"),
        ("unknown", nil, "\"Item\" has no field \"txt\""),
        ("missing", nil, "Item.text must not be null"),
        ("link", nil, "List.items cannot link to a List"),
        ("unset", nil, "Item.text must not be null"),
        ("earlier link", nil, "List.items cannot link to a List"),
        ("null link", nil, "List.items is a list of records, in which null has no place"),
        ("no type", nil, "there is no stored type \"Itme\""),
        ("interface", nil, "there is no stored type \"Node\""),
        ("root", nil, "there is no root record on a server"),
        ("nan", nil, "cannot hold NaN or infinity"),
        ("unique", "CONFLICT", "there is another List whose name is \"one\""),
    ]

    @Test(arguments: spoils)
    func whatTheSchemaDoesNotAllowIsRefusedAndLeavesNothing(
        how: String, code: String?, message: String
    ) async throws {
        let before = engine.eventCount
        let result = try await engine.run(
            "mutation { spoil(how: \"\(how)\") { item { id } } }")
        let error = try #require(result["errors"]?.array?.first)
        #expect(error["message"]?.string?.contains(message) == true, "\(error)")
        #expect(error["extensions"]?["code"]?.string == code)
        #expect(error["path"] == ["spoil"])
        #expect(engine.eventCount == before)
        let now = try await engine.run(#"{ node(id: "i1") { ... on Item { text } } }"#)
        #expect(now["data"] == ["node": ["text": "a"]])
    }

    @Test func aCheckRefusesAndElseTheDirectiveDoesItsWork() async throws {
        var handlers = HandlerSchema.handlers()
        handlers.check("addItem") { variables, context, records in
            if variables.input?["text"] == "" {
                throw HandlerError("A text is needed.", code: "BAD_USER_INPUT")
            }
            if context.viewer != "ada" { throw HandlerError("Only Ada.", code: "FORBIDDEN") }
            #expect(records["l1"]?["name"] == "one")
        }
        let engine = try await Self.engine(handlers)
        func add(_ text: String, viewer: String?) async throws -> JSONValue {
            try await engine.run(
                """
                mutation { addItem(input: {text: "\(text)", listId: "l1"}) { item { text } } }
                """, as: Identity(viewer))
        }
        let empty = try await add("", viewer: "ada")
        #expect(empty["errors"]?.array?.first?["extensions"]?["code"] == "BAD_USER_INPUT")
        let foreign = try await add("c", viewer: "bob")
        #expect(foreign["errors"]?.array?.first?["extensions"]?["code"] == "FORBIDDEN")
        #expect(engine.eventCount == 1)
        let good = try await add("c", viewer: "ada")
        #expect(good["data"] == ["addItem": ["item": ["text": "c"]]], "\(good)")
    }

    @Test func aHandlerTakesThePlaceOfADirective() async throws {
        var handlers = HandlerSchema.handlers()
        handlers.mutation("addItem") { records, variables, context in
            let item = records.create(dataID: "given", typeName: "Item")
            item["text"] = context.timestampText
            item["done"] = true
            return item.dataID
        }
        let engine = try await Self.engine(handlers)
        let result = try await engine.run(
            #"mutation { addItem(input: {text: "c", listId: "l1"}) { item { id text } itemEdge { cursor } } }"#
        )
        #expect(
            result["data"]?["addItem"] == [
                "item": ["id": "given", "text": "1970-01-01T00:00:00.000Z"], "itemEdge": .null,
            ], "\(result)")
    }

    // MARK: Subscriptions

    @Test func aSequenceIsSentElementByElementAndThenTheSubscriptionCompletes() async throws {
        let sink = try engine.subscribe("subscription { numbers(upTo: 3) }")
        let results = try await engine.results(of: sink, count: 4)
        #expect(
            results.map { $0["data"]?["numbers"] ?? $0 } == [1, 2, 3, "complete"], "\(results)")
    }

    @Test func elementsMayBeRecords() async throws {
        let sink = try engine.subscribe("subscription { items(upTo: 3) { text } }")
        let results = try await engine.results(of: sink, count: 4)
        #expect(
            results.dropLast().map { $0["data"]?["items"] }
                == [["text": "a"], ["text": "b"], .null], "\(results)")
    }

    @Test func aSubscriberWithoutRoomHoldsItsSequenceBack() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        var handlers = HandlerSchema.handlers()
        handlers.subscription("numbers") { _ in stream }
        let engine = try await Self.engine(handlers)
        let sink = try engine.subscribe("subscription { numbers(upTo: 3) }")
        sink.fill()
        for number in 1...3 { continuation.yield(number) }
        try await eventually("the sequence to wait") { sink.isAwaited ? true : nil }
        #expect(engine.resultsSoFar(of: sink).count == 1)
        sink.drain()
        let results = try await engine.results(of: sink, count: 3)
        #expect(results.map { $0["data"]?["numbers"] } == [1, 2, 3])
    }

    @Test func soManySequencesAreOpenAndNoMore() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        var handlers = HandlerSchema.handlers()
        handlers.subscription("numbers") { _ in stream }
        let engine = try await Self.engine(handlers) { $0.sequenceSubscriptions = 1 }
        let sink = try engine.subscribe("subscription { numbers(upTo: 3) }")
        continuation.yield(7)
        _ = try await engine.results(of: sink, count: 1)
        let errors = #expect(throws: ExecutionErrors.self) {
            try engine.subscribe("subscription { numbers(upTo: 3) }")
        }
        #expect(errors?.errors.first?.code == .overloaded)
        engine.service.unsubscribe(sink)
        try await eventually("its place") {
            try? engine.subscribe("subscription { numbers(upTo: 3) }")
        }
    }

    /// Else a client that subscribes and stops in a loop could have any number of tasks.
    @Test func aSequenceThatGoesOnAfterItsEndKeepsItsPlace() async throws {
        let sequence = EndlessSequence()
        defer { sequence.end() }
        var handlers = HandlerSchema.handlers()
        handlers.subscription("numbers") { _ in sequence }
        let engine = try await Self.engine(handlers) { $0.sequenceSubscriptions = 1 }
        let sink = try engine.subscribe("subscription { numbers(upTo: 3) }")
        try await eventually("its element to be waited for") {
            sequence.waitingCount == 1 ? true : nil
        }
        engine.service.unsubscribe(sink)
        let errors = #expect(throws: ExecutionErrors.self) {
            try engine.subscribe("subscription { numbers(upTo: 3) }")
        }
        #expect(errors?.errors.first?.code == .overloaded)
        sequence.end()
        try await eventually("its place") {
            try? engine.subscribe("subscription { numbers(upTo: 3) }")
        }
        #expect(engine.resultsSoFar(of: sink).isEmpty)
    }

    @Test func anEndedSubscriptionCancelsItsSequence() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let ended = Numbers()
        continuation.onTermination = { _ in _ = ended.next() }
        var handlers = HandlerSchema.handlers()
        handlers.subscription("numbers") { _ in stream }
        let engine = try await Self.engine(handlers)
        let sink = try engine.subscribe("subscription { numbers(upTo: 3) }")
        continuation.yield(7)
        _ = try await engine.results(of: sink, count: 1)
        engine.service.unsubscribe(sink)
        try await eventually("the end of the sequence") { ended.count > 0 ? true : nil }
    }

    @Test func aSubscriptionThatHasEndedBeforeItBeganCancelsItsSequence() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let ended = Numbers()
        continuation.onTermination = { _ in _ = ended.next() }
        var handlers = HandlerSchema.handlers()
        handlers.subscription("numbers") { _ in stream }
        let engine = try await Self.engine(handlers)
        let sink = TestSink()
        // As a socket does whose client is gone while the operation is prepared.
        sink.leave()
        engine.service.unsubscribe(sink)
        try engine.subscribe("subscription { numbers(upTo: 3) }", sink: sink)
        try await eventually("the end of the sequence") { ended.count > 0 ? true : nil }
        #expect(engine.resultsSoFar(of: sink).isEmpty)
    }

    // MARK: Names

    @Test func handlersForWhatTheSchemaDoesNotHaveAreMistakes() throws {
        var handlers = HandlerSchema.handlers()
        handlers.resolve("List.lable") { _ in nil }
        handlers.mutation("copyItems") { _, _ in nil }
        handlers.check("addItme") { _, _, _ in }
        handlers.subscription("number") { _ in HandlerSchema.Numbers(upTo: 0) }
        handlers.resolve("Mutation.addItem") { _ in nil }
        let mistakes = #expect(throws: SchemaMistakes.self) {
            _ = try ServiceSchema(HandlerSchema.base, handlers: handlers)
        }
        #expect(
            mistakes?.description == """
                A resolver is registered for "List.lable", which the schema does not have. Did you \
                mean "List.label", "List.name", "List.size", "List.id", or "List.items"?
                A resolver is registered for "Mutation.addItem", and only fields of the query type \
                and of other object types have one. Mutations and subscriptions have handlers of \
                their own.
                A handler is registered for mutation "addItme", which the schema does not have. Did \
                you mean "addItem"?
                A handler is registered for mutation "copyItems", which the schema does not have. Did \
                you mean "copyItem" or "dropItem"?
                A handler is registered for subscription "number", which the schema does not have. \
                Did you mean "numbers"?
                """)
    }

    @Test func aSchemaThatNeedsHandlersSaysSoWithoutThem() throws {
        let mistakes = #expect(throws: SchemaMistakes.self) {
            _ = try ServiceSchema(HandlerSchema.base)
        }
        let text = mistakes?.description ?? ""
        for name in ["Query.answer", "copyItem", "Subscription.numbers"] {
            #expect(text.contains(name), "\(text)")
        }
        #expect(text.contains("or register a"))
        _ = try ServiceSchema(reading: HandlerSchema.base)
    }
}
