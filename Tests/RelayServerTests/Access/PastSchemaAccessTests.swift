import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// States from before the schema was another one, which today's rules say nothing about.
@Suite(.bounded)
struct PastSchemaAccessTests {
    private static let access = "@access(read: { viewer: true })"

    private static func schema(then: Bool, isOpen: Bool) -> String {
        """
        \(isOpen ? "extend schema @access(default: OPEN)" : "")
        interface Node { id: ID! }
        type Person implements Node \(then ? "" : access) { id: ID! name: String \(then ? "salary: Int" : "") }
        \(then
            ? "type Diary implements Node { id: ID! text: String owner: Person }"
            : "type Salary implements Node { id: ID! amount: Int }")
        type Query {
          node(id: ID!): Node
          people: [Person!]! @list(type: "Person")
          \(then ? "everyone: [Person!] @list(type: \"Person\")" : "")
          \(then ? "diaries: [Diary!]! @list(type: \"Diary\")" : "")
        }
        """
    }

    private static let seed = """
        {"id":"ann","type":"Person","fields":{"name":"Ann","salary":100}}
        {"id":"d","type":"Diary","fields":{"text":"Dear diary","owner":{"ref":"ann"}}}
        """

    private func answer(_ query: String, _ identity: Identity, isOpen: Bool) async throws
        -> JSONValue
    {
        let then = try await EngineUnderTest(
            sdl: Self.schema(then: true, isOpen: isOpen), handlers: Handlers(), seed: Self.seed)
        let snapshot = then.service.snapshot
        let now = SchemaService(
            try ServiceSchema(
                Self.schema(then: false, isOpen: isOpen), handlers: Handlers(),
                logger: ServiceSchema.noLogger),
            symbols: snapshot.symbols)
        let past = try PastService(snapshot, present: now)
        let outcome = past.outcome(GraphQLRequest(query: query, identity: identity), nil)
        return try JSONValue(parsing: outcome.response.bytes)
    }

    private static let ann = Identity("ann")

    /// A field may be gone because it was moved to where few may read it.
    @Test(arguments: [true, false])
    func whatIsGoneFromTheSchemaIsClosed(isOpen: Bool) async throws {
        let fields = "{ people { name salary } }"
        let all = try await answer(fields, .unrestricted, isOpen: isOpen)
        #expect(all["data"]?.text == #"{"people":[{"name":"Ann","salary":100}]}"#)
        let ann = try await answer(fields, Self.ann, isOpen: isOpen)
        #expect(ann["data"]?.text == #"{"people":[{"name":"Ann","salary":null}]}"#)
        #expect(ann.firstErrorCode == "FORBIDDEN")

        let root = try await answer("{ everyone { name } }", Self.ann, isOpen: isOpen)
        #expect(root["data"]?.text == #"{"everyone":null}"#)
        #expect(root.firstErrorCode == "FORBIDDEN")

        let node = "{ node(id: \"d\") { id } }"
        #expect(
            try await answer(node, .unrestricted, isOpen: isOpen)["data"]?.text
                == #"{"node":{"id":"d"}}"#)
        #expect(
            try await answer(node, Self.ann, isOpen: isOpen)["data"]?.text == #"{"node":null}"#)
    }

    /// A rule that looks at a field which had other values then decides nothing, not even under `not`.
    @Test func whatHadOtherValuesIsClosed() async throws {
        func schema(_ owner: String, _ access: String = "", _ field: String = "") -> String {
            """
            extend schema @access(default: OPEN)
            interface Node { id: ID! }
            type Person implements Node { id: ID! }
            type Note implements Node \(access) { id: ID! \(owner) \(field) }
            type Query { node(id: ID!): Node notes: [Note!]! @list(type: "Note") }
            """
        }
        let rule = "{ not: { field: { owner: \"$viewer\" } } }"
        let then = try await EngineUnderTest(
            sdl: schema("owner: String text: String"), handlers: Handlers(),
            seed: #"{"id":"n","type":"Note","fields":{"owner":"ann","text":"secret"}}"#)
        let snapshot = then.service.snapshot
        for (now, answer) in [
            (schema("owner: String", "@access(read: \(rule))", "text: String"), #"{"notes":[]}"#),
            (schema("owner: Person", "@access(read: \(rule))", "text: String"), #"{"notes":[]}"#),
            (
                schema("owner: Person", "", "text: String @access(read: \(rule))"),
                #"{"notes":[{"text":null}]}"#
            ),
            (schema("owner: Person", "", "text: String"), #"{"notes":[{"text":"secret"}]}"#),
        ] {
            let present = SchemaService(
                try ServiceSchema(now, handlers: Handlers(), logger: ServiceSchema.noLogger),
                symbols: snapshot.symbols)
            let past = try PastService(snapshot, present: present)
            let outcome = past.outcome(
                GraphQLRequest(query: "{ notes { text } }", identity: Self.ann), nil)
            #expect(try JSONValue(parsing: outcome.response.bytes)["data"]?.text == answer)
        }
    }

    /// Nor in a stream that is resumed, of records that are deleted by now.
    @Test(arguments: [
        // What was a text is a link, or a boolean.
        (
            then: "String", value: #""ann""#, now: "Person",
            rule: #"{ not: { field: { mark: "$viewer" } } }"#
        ),
        ("String", #""yes""#, "Boolean", "{ not: { field: { mark: true } } }"),
        ("[String!]", #"["yes"]"#, "String", #"{ not: { field: { mark: "yes" } } }"#),
    ])
    func aStreamTellsNothingThatHadOtherValues(
        _ field: (then: String, value: String, now: String, rule: String)
    ) async throws {
        func schema(_ type: String, _ access: String) -> String {
            """
            extend schema @access(default: OPEN)
            interface Node { id: ID! }
            type Person implements Node { id: ID! }
            type Note implements Node \(access) { id: ID! text: String mark: \(type) }
            type Query { node(id: ID!): Node }
            type Mutation {
              write(input: WriteInput!): NotePayload @update(type: "Note")
              remove(input: RemoveInput!): RemovePayload @delete(type: "Note")
            }
            input WriteInput { id: ID! text: String }
            input RemoveInput { id: ID! }
            type NotePayload { note: Note }
            type RemovePayload { deletedNoteId: ID }
            type Subscription { written: NotePayload @on(mutations: ["write"]) }
            """
        }
        let then = try await EngineUnderTest(
            sdl: schema(field.then, ""), handlers: Handlers(),
            seed: """
                {"id":"n","type":"Note","fields":{"mark":{"value":\(field.value)}}}
                {"id":"other","type":"Note","fields":{}}
                """)
        let start = then.cursor(then.service.snapshot.sequence)
        for mutation in [
            "write(input: { id: \"n\", text: \"secret\" })", "remove(input: { id: \"n\" })",
        ] {
            #expect(
                try await then.run("mutation { \(mutation) { __typename } }").firstErrorCode == nil)
        }
        let now = try await EngineUnderTest(
            sdl: schema(field.now, "@access(read: \(field.rule))"), handlers: Handlers(),
            after: then)
        _ = try await now.run(
            "mutation { write(input: { id: \"other\", text: \"last\" }) { __typename } }")
        for (identity, texts) in [(Self.ann, ["last"]), (.unrestricted, ["secret", "last"])] {
            let sink = try now.subscribe(
                "subscription { written { note { text } } }", as: identity,
                relay: ["resume": .string(start)])
            let told = try await eventually("the last one") {
                let told = now.resultsSoFar(of: sink).compactMap {
                    $0["data"]?["written"]?["note"]?["text"]?.string
                }
                return told.last == "last" ? told : nil
            }
            #expect(told == texts)
        }
    }

    /// Lists that today's rules look into are indexed, as they are in the present.
    @Test func thePastHasTheIndexesOfTodaysRules() async throws {
        let types = """
            interface Node { id: ID! }
            type Query { node(id: ID!): Node }
            """
        let then = try await EngineUnderTest(
            sdl: types
                + "type Room implements Node { id: ID! members: [Room!] }", handlers: Handlers(),
            seed: #"{"id":"r","type":"Room","fields":{"members":{"refs":["r"]}}}"#)
        let snapshot = then.service.snapshot
        let now = SchemaService(
            try ServiceSchema(
                types
                    + """
                    type Room implements Node @access(read: { field: { members: "$viewer" } }) {
                      id: ID! members: [Room!]
                    }
                    """, handlers: Handlers(), logger: ServiceSchema.noLogger),
            symbols: snapshot.symbols)
        let state = try PastService(snapshot, present: now).state
        let key = try #require(state.symbols.findName("members"))
        let type = try #require(state.symbols.findName("Room"))
        #expect(state.indexes.knowsPlaces(in: key, of: type))
        #expect(try !PastService(snapshot).state.indexes.knowsPlaces(in: key, of: type))
    }
}
