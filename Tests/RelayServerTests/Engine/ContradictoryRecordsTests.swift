import BoundedTesting
import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import ResultPatches
import SchemaService
import Testing

@testable import RelayServer
@testable import StoreEngine

/// Results whose records would not have all of their data: everyone gets these whole, and the next one too.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ContradictoryRecordsTests {
    private static let me = "VXNlcjptZQ=="

    /// The todo schema with fields that a program computes, some of which fail now and then.
    static func engine(seed: String? = nil) async throws -> EngineUnderTest {
        let sdl = try Example.text("todo.graphql")
            .replacing(
                "  totalCount: Int!", with: "  boom: Int!\n  board: Board!\n  totalCount: Int!"
            )
            .replacing("  text: String!", with: "  text: String!\n  otherID: ID!\n  half: Int!")
            .replacing(": AddTodoPayload @on", with: ": AddTodoPayload! @on")
        var handlers = Handlers()
        handlers.resolve("User.boom") { field in
            let count = field.record?.links("todos").count ?? 0
            guard count % 3 != 1 else { throw HandlerError("\(count) are too many.") }
            return count
        }
        handlers.resolve("Todo.half") { field in
            let number = field.record?["text"].stringValue.flatMap { Int($0) } ?? 0
            guard number.isMultiple(of: 2) else { throw HandlerError("\(number) is odd.") }
            return number / 2
        }
        handlers.resolve("Todo.otherID") { _ in "u" }
        handlers.resolve("User.board") { field in
            let count = field.record?.links("todos").count ?? 0
            return VariableData(["rows": [[["text": "\(count)"]]]])
        }
        return try await EngineUnderTest(
            sdl: sdl + "\ntype Board { rows: [[Cell!]!]! }\ntype Cell { text: String! }\n",
            handlers: handlers, seed: try seed ?? Example.text("todo.seed.ndjson"))
    }

    // MARK: Decided by result

    /// `boom` fails in one place, and takes the user with it there.
    @Test func aLinkThatIsNullInOnePlaceOnlyMakesTheResultWhole() async throws {
        let engine = try await Self.engine()
        let sink = try engine.subscribe(
            "query @live { a: user { id totalCount boom } b: user { id totalCount } }",
            relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        func next(_ mutation: String) async throws -> JSONValue {
            let count = engine.resultsSoFar(of: sink).count
            _ = try await engine.run("mutation { \(mutation) }")
            return try await engine.results(of: sink, count: count + 1)[count]
        }
        func remove(_ id: String) -> String {
            "removeTodo(input: {id: \"\(id)\"}) { deletedTodoId }"
        }
        let add = "addTodo(input: {text: \"a\"}) { todo { id } }"
        let patch = try await next(add)
        #expect(patch.relay?["records"] == [.init(Self.me): ["boom": 3, "totalCount": 3]])
        let failed = try await next(add)
        #expect(failed.relay?["records"] == nil)
        #expect(failed["data"] == ["a": nil, "b": ["id": .string(Self.me), "totalCount": 4]])
        // There are no records for a patch to begin with.
        let whole = try await next(remove("VG9kbzow"))
        #expect(whole.relay?["records"] == nil)
        #expect(whole["data"]?["a"]?["boom"] == 3)
        let again = try await next(remove("VG9kbzox"))
        #expect(again.relay?["records"] == [.init(Self.me): ["boom": 2, "totalCount": 2]])
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        var variables: JSONObject = [:]
        /// A member of the result that changes when a todo is added.
        let path: [String]
    }

    static let cases = [
        Case(
            testDescription: "an id under a condition",
            text: """
                query($x: Boolean!) @live { a: user { id @include(if: $x) totalCount } b: user { id } }
                """,
            variables: ["x": false], path: ["a", "totalCount"]),
        Case(
            testDescription: "ids of some types only",
            text: """
                query @live {
                  a: node(id: "VXNlcjptZQ==") { __typename ... on Todo { id } ... on User { totalCount } }
                  b: node(id: "VXNlcjptZQ==") { id } }
                """,
            path: ["a", "totalCount"]),
        Case(
            testDescription: "edges whose nodes are under a condition",
            text: """
                query($x: Boolean!) @live { user { id totalCount
                  a: todos { edges { cursor ... @include(if: $x) { node { id } } } }
                  todos { edges { node { id } } } } }
                """,
            variables: ["x": false], path: ["user", "totalCount"]),
        Case(
            testDescription: "lists of lists",
            text: "query @live { user { id board { rows { text } } } }",
            path: ["user", "board", "rows"]),
    ]

    @Test(arguments: cases)
    func aResultThatItsRecordsDoNotSayIsWhole(_ tested: Case) async throws {
        let engine = try await Self.engine()
        let sink = try engine.subscribe(tested.text, tested.variables, relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.addTodo("a")
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[1].relay?["records"] == nil)
        let values = results.map { tested.path.reduce($0["data"]) { $0?[$1] } }
        #expect(values[1] != nil && values[1] != .null && values[0] != values[1])
    }

    /// Two edges of one node are one record, and have two cursors.
    @Test func aListThatHasARecordTwiceIsWhole() async throws {
        let engine = try await Self.engine(
            seed: """
                {"id":"u","type":"User","fields":{"userId":"me","todos":{"refs":["t","t"]}}}
                {"id":"t","type":"Todo","fields":{"text":"a","complete":false}}
                """)
        func text(_ selection: String, _ new: String) async throws -> JSONValue {
            let sink = try engine.subscribe(
                "query @live { user { id todos { edges { \(selection) node { id text } } } } }",
                relay: ["records": true])
            _ = try await engine.results(of: sink, count: 1)
            _ = try await engine.run(
                "mutation { renameTodo(input: {id: \"t\", text: \"\(new)\"}) { todo { id } } }")
            let result = try await engine.results(of: sink, count: 2)[1]
            engine.service.unsubscribe(sink)
            return result
        }
        let patch = try await text("", "b")
        #expect(patch.relay?["records"] == ["t": ["text": "b"]])
        let whole = try await text("cursor", "c")
        #expect(whole.relay?["records"] == nil)
        #expect(whole["data"]?["user"]?["todos"]?["edges"]?.array?.count == 2)
    }

    // MARK: What names an object

    /// `t` is the type of a user and the text of a todo.
    @Test func aTypeIsNotReadFromAFragmentOfAnotherType() async throws {
        let engine = try await Self.engine()
        let sink = try engine.subscribe(
            """
            query @live { nodes(ids: ["VG9kbzow", "\(Self.me)"]) {
              ... on User { t: __typename totalCount } ... on Todo { t: text complete } __typename id } }
            """, relay: ["records": true])
        _ = try await engine.results(of: sink, count: 1)
        _ = try await engine.run(
            "mutation { renameTodo(input: {id: \"VG9kbzow\", text: \"b\"}) { todo { id } } }")
        let patch = try await engine.results(of: sink, count: 2)[1]
        #expect(patch.relay?["records"] == ["VG9kbzow": ["text": "b"]])
    }

    @Test(arguments: ["x", "id"])
    func anIDIsNotReadFromAFragmentOfAnotherType(_ alias: String) async throws {
        let engine = try await Self.engine()
        let normalizer = try Self.normalizer(
            engine,
            """
            query { nodes(ids: []) { __typename
              ... on User { \(alias): id userId } ... on Todo { \(alias): otherID complete } } }
            """)
        let records = try #require(
            normalizer.records(of: [
                "nodes": [
                    .object(["__typename": "User", alias: "u", "userId": "1"]),
                    .object(["__typename": "Todo", alias: "u", "complete": true]),
                ]
            ]))
        #expect(records.records["u"]?["userId"] == "1")
        #expect(records.records["u"]?["complete"] == nil)
        #expect(records.records["client:root:nodes(ids:[]):1"]?["otherID"] == "u")
    }

    /// The discriminator is in no record.
    @Test func aDiscriminatorWithoutTheTypeMakesResultsWhole() async throws {
        let engine = try await Self.engine()
        func normalization(_ selection: String) throws -> Normalization? {
            let text = "query { nodes(ids: []) { id __isNode: __typename \(selection) } }"
            return try Normalization(
                of: try engine.service.prepare(GraphQLRequest(query: text)), schema: engine.schema)
        }
        #expect(try normalization("") == nil)
        #expect(try normalization("__typename") != nil)
    }

    // MARK: Events

    /// Its patch would be that of the event before, once more.
    @Test func anEventWithoutDataIsSentWhole() async throws {
        let engine = try await Self.engine()
        let text = "subscription { todoAdded { todo { id text } user { boom } } }"
        let sink = try engine.subscribe(text, relay: ["records": true])
        for text in ["a", "b"] { _ = try await engine.addTodo(text) }
        let results = try await engine.results(of: sink, count: 2)
        #expect(results[0]["data"]?["todoAdded"]?["user"]?["boom"] == 3)
        #expect(results[1]["data"] == .null)
        #expect(results[1]["errors"]?.array?.count == 1)
        #expect(results[1].relay?["records"] == nil)
        let normalizer = try Self.normalizer(engine, text)
        var client = PatchedResults(normalizer.operation, variables: normalizer.variables)
        for result in results {
            #expect(client.receive(result.bytes) == .response(result.bytes, isWorthAsking: true))
        }
    }

    // MARK: The client

    private static func normalizer(
        _ engine: EngineUnderTest, _ text: String
    ) throws -> RecordNormalizer {
        let operation = try engine.service.prepare(GraphQLRequest(query: text))
        return try #require(try Normalization(of: operation, schema: engine.schema))
            .normalizer(try operation.coerce([:]))
    }

    private static func message(_ number: Int, _ data: JSONValue, records: JSONValue? = nil)
        -> [UInt8]
    {
        var relay: JSONObject = ["cursor": .string("\(number)")]
        relay["records"] = records
        let message: JSONValue = ["data": data, "extensions": ["relay": .object(relay)]]
        return message.bytes
    }

    /// As a server says it that does not see that a null in one place contradicts a link in another.
    @Test func aSelectedFieldThatARecordLacksIsAMisfit() async throws {
        let engine = try await Self.engine()
        let normalizer = try Self.normalizer(
            engine, "query @live { a: user { id totalCount boom } b: user { id totalCount } }")
        var client = PatchedResults(normalizer.operation, variables: normalizer.variables)
        let whole = Self.message(
            1,
            [
                "a": ["id": "u", "totalCount": 2, "boom": 1], "b": ["id": "u", "totalCount": 2],
            ])
        #expect(client.receive(whole) == .response(whole, isWorthAsking: true))
        let patch = Self.message(
            2, .null, records: ["u": ["boom": ["unset": true], "totalCount": 3]])
        #expect(client.receive(patch) == .misfit)
    }

    /// An event's patch is made from nothing, so it needs no result before it.
    @Test func thePatchOfAnEventFitsAfterAContradictoryOne() async throws {
        let engine = try await Self.engine()
        // A client cannot tell the two kinds of stream apart.
        let normalizer = try Self.normalizer(
            engine, "query @live { a: user { id boom } b: user { id } }")
        var client = PatchedResults(normalizer.operation, variables: normalizer.variables)
        let data: JSONValue = ["a": ["id": "u", "boom": 1], "b": ["id": "u"]]
        let good = Self.message(1, data)
        let bad = Self.message(2, ["a": nil, "b": ["id": "u"]])
        for message in [good, bad] {
            #expect(client.receive(message) == .response(message, isWorthAsking: true))
        }
        let patch = Self.message(
            3, .null,
            records: ["client:root": ["user": ["ref": "u"]], "u": ["id": "u", "boom": 1]])
        #expect(client.receive(patch) == .response(Self.message(3, data), isWorthAsking: true))
        // From then on it is known what there is: nothing, here.
        let nothing = Self.message(3, nil, records: ["client:root": nil, "u": nil])
        #expect(client.receive(nothing) == .response(Self.message(3, nil), isWorthAsking: true))
        // Of a live result it would not be all.
        for change: JSONValue in [[:], ["u": nil]] {
            #expect(client.receive(bad) != .misfit)
            #expect(client.receive(Self.message(4, .null, records: change)) == .misfit)
        }
        #expect(client.receive(bad) != .misfit)
        let part = Self.message(4, .null, records: ["u": ["id": "u", "boom": 2]])
        #expect(client.receive(part) == .misfit)
    }

    /// Its errors have changed, and nothing else.
    @Test func aResultWithoutDataMayFollowAnother() async throws {
        let engine = try await Self.engine()
        let normalizer = try Self.normalizer(engine, "query @live { user { id boom } }")
        var client = PatchedResults(normalizer.operation, variables: normalizer.variables)
        func message(_ error: String, records: JSONValue? = nil) -> [UInt8] {
            var relay: JSONObject = ["cursor": "1"]
            relay["records"] = records
            let message: JSONValue = [
                "data": nil, "errors": [["message": .string(error)]],
                "extensions": ["relay": .object(relay)],
            ]
            return message.bytes
        }
        #expect(client.receive(message("a")) == .response(message("a"), isWorthAsking: true))
        for error in ["b", "c", "d", "e", "f"] {
            let patch = client.receive(message(error, records: [:]))
            #expect(patch == .response(message(error), isWorthAsking: true))
        }
    }

    /// A field may fail once, and patches go on afterwards; where every result is contradictory, patches are of no use.
    @Test func contradictoryResultsInARowEndPatches() async throws {
        let engine = try await Self.engine()
        let normalizer = try Self.normalizer(
            engine, "query @live { a: user { id boom } b: user { id } }")
        var client = PatchedResults(normalizer.operation, variables: normalizer.variables)
        let good = Self.message(1, ["a": ["id": "u", "boom": 1], "b": ["id": "u"]])
        let bad = Self.message(2, ["a": nil, "b": ["id": "u"]])
        let patch = Self.message(3, .null, records: ["u": ["boom": 2]])
        func receive(_ message: [UInt8]) -> Bool? {
            guard case .response(_, let isWorthAsking) = client.receive(message) else { return nil }
            return isWorthAsking
        }
        #expect([good, bad, bad, good, patch, bad, bad].map(receive).allSatisfy { $0 == true })
        #expect(receive(bad) == false)
    }
}
