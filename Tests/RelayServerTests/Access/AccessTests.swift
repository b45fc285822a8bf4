import GraphQLExecution
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Testing

@testable import StoreEngine

/// What viewers see of a tracker.
@Suite(.bounded)
struct AccessTests {
    private static let seed = """
        {"id":"ann","type":"Person","fields":{"login":"ann","email":"ann@example.org"}}
        {"id":"bob","type":"Person","fields":{"login":"bob","email":"bob@example.org"}}
        {"id":"open","type":"Project","fields":{"name":"Open","public":true,"owner":{"ref":"ann"},"members":{"refs":["ann"]},"issues":{"refs":["i1"]}}}
        {"id":"shut","type":"Project","fields":{"name":"Shut","public":false,"owner":{"ref":"ann"},"members":{"refs":["ann"]},"issues":{"refs":["i2","i3"]}}}
        {"id":"i1","type":"Issue","fields":{"title":"One","open":true,"project":{"ref":"open"},"owner":{"ref":"ann"},"secret":"s1"}}
        {"id":"i2","type":"Issue","fields":{"title":"Two","open":true,"project":{"ref":"shut"},"owner":{"ref":"ann"},"secret":"s2"}}
        {"id":"i3","type":"Issue","fields":{"title":"Three","open":false,"project":{"ref":"shut"},"owner":{"ref":"bob"}}}
        """

    private func engine() async throws -> EngineUnderTest {
        try await EngineUnderTest(
            sdl: AccessUnderTest.schema, handlers: Handlers(), seed: Self.seed)
    }

    private static let ann = Identity("ann")
    private static let bob = Identity("bob")
    private static let admin = Identity.viewer(
        Viewer(id: "eve", claims: ["roles": ["editor", "admin"]]))

    private func data(_ text: String, _ identity: Identity, _ engine: EngineUnderTest) async throws
        -> String
    {
        let answer = try await engine.run(text, as: identity)
        return answer["data"]?.text ?? answer.text
    }

    @Test func whatIsHiddenDoesNotExist() async throws {
        let engine = try await engine()
        let all = "{ projects { edges { node { name openIssues allIssues } } } }"
        let open =
            #"{"projects":{"edges":[{"node":{"name":"Open","openIssues":1,"allIssues":1}}]}}"#
        let both =
            #"{"projects":{"edges":[{"node":{"name":"Open","openIssues":1,"allIssues":1}},"#
            + #"{"node":{"name":"Shut","openIssues":1,"allIssues":2}}]}}"#
        #expect(try await data(all, Self.ann, engine) == both)
        #expect(try await data(all, Self.bob, engine) == open)
        #expect(try await data(all, .nobody, engine) == open)
        #expect(try await data(all, .unrestricted, engine) == both)
        // An admin sees projects, but no issues of those that are not public.
        #expect(
            try await data(
                "{ project(name: \"Shut\") { name openIssues allIssues } }", Self.admin, engine)
                == #"{"project":{"name":"Shut","openIssues":0,"allIssues":0}}"#)
        for (text, seen, hidden) in [
            ("{ node(id: \"i2\") { id } }", #"{"node":{"id":"i2"}}"#, #"{"node":null}"#),
            ("{ nodes(ids: [\"i2\"]) { id } }", #"{"nodes":[{"id":"i2"}]}"#, #"{"nodes":[null]}"#),
            (
                "{ project(name: \"Shut\") { id } }", #"{"project":{"id":"shut"}}"#,
                #"{"project":null}"#
            ),
            (
                "{ everyIssue { id } }", #"{"everyIssue":[{"id":"i1"},{"id":"i2"},{"id":"i3"}]}"#,
                #"{"everyIssue":[{"id":"i1"}]}"#
            ),
            (
                "{ issues(project: \"shut\") { edges { node { id } } } }",
                #"{"issues":{"edges":[{"node":{"id":"i2"}},{"node":{"id":"i3"}}]}}"#,
                #"{"issues":{"edges":[]}}"#
            ),
        ] {
            #expect(try await data(text, Self.ann, engine) == seen, "\(text)")
            #expect(try await data(text, Self.bob, engine) == hidden, "\(text)")
        }
    }

    @Test func aFieldThatIsHiddenIsNullWithAnError() async throws {
        let engine = try await engine()
        let text = "{ issue(id: \"i1\") { secret title } }"
        let admin = try await engine.run(text, as: Self.admin)
        #expect(admin["data"]?.text == #"{"issue":{"secret":"s1","title":"One"}}"#)
        for (identity, code) in [(Self.bob, "FORBIDDEN"), (.nobody, "UNAUTHENTICATED")] {
            let answer = try await engine.run(text, as: identity)
            #expect(answer["data"]?.text == #"{"issue":{"secret":null,"title":"One"}}"#)
            let error = answer["errors"]?.array?.first
            #expect(error?["extensions"]?["code"] == .string(code))
            #expect(error?["path"] == ["issue", "secret"])
        }
    }

    @Test func mutationsAskTheirRules() async throws {
        let engine = try await engine()
        func code(_ text: String, _ identity: Identity) async throws -> String {
            let before = engine.eventCount
            let answer = try await engine.run("mutation { \(text) { __typename } }", as: identity)
            let code = answer["errors"]?.array?.first?["extensions"]?["code"]?.string
            if let code {
                #expect(engine.eventCount == before, "a refused mutation leaves no trace")
                return code
            }
            return "OK"
        }
        let add = "addIssue(input: { projectId: \"shut\", title: \"N\", open: true })"
        #expect(try await code(add, Self.bob) == "NOT_FOUND")
        #expect(
            try await code("updateIssue(input: { id: \"i1\", title: \"N\" })", Self.bob)
                == "FORBIDDEN")
        #expect(
            try await code("updateIssue(input: { id: \"i1\", title: \"N\" })", .nobody)
                == "UNAUTHENTICATED")
        #expect(
            try await code("updateIssue(input: { id: \"i1\", title: \"N\" })", Self.ann) == "OK")
        // It must hold afterwards as well.
        #expect(
            try await code("updateIssue(input: { id: \"i1\", ownerId: \"bob\" })", Self.ann)
                == "FORBIDDEN")
        #expect(try await code("deleteIssue(input: { id: \"i1\" })", Self.bob) == "FORBIDDEN")
        #expect(try await code("forceDelete(input: { id: \"i1\" })", Self.bob) == "FORBIDDEN")
        #expect(try await code("forceDelete(input: { id: \"i1\" })", Self.admin) == "OK")
        #expect(
            try await code("join(input: { projectId: \"open\", personId: \"bob\" })", Self.bob)
                == "FORBIDDEN")
        #expect(
            try await code("join(input: { projectId: \"open\", personId: \"bob\" })", Self.ann)
                == "OK")
        let rank = #"rank(input: { projectId: "open", personId: "bob" })"#
        #expect(try await code(rank, Self.bob) == "FORBIDDEN")
        #expect(try await code(rank, Self.ann) == "OK")
        #expect(try await code("deleteProject(input: { id: \"open\" })", Self.ann) == "FORBIDDEN")
        #expect(
            try await code("addProject(input: { name: \"Shut\", public: true })", Self.bob)
                == "CONFLICT")
    }

    @Test func aRevocationDropsRowsAtOnce() async throws {
        let engine = try await engine()
        let sink = try engine.subscribe(
            "query @live { projects { edges { node { name } } } }", as: Self.ann)
        let both = #"{"projects":{"edges":[{"node":{"name":"Open"}},{"node":{"name":"Shut"}}]}}"#
        #expect(try await engine.results(of: sink, count: 1).last?["data"]?.text == both)
        _ = try await engine.run(
            "mutation { leave(input: { projectId: \"shut\", personId: \"ann\" }) { __typename } }")
        #expect(
            try await engine.results(of: sink, count: 2).last?["data"]?.text
                == #"{"projects":{"edges":[{"node":{"name":"Open"}}]}}"#)
        _ = try await engine.run(
            "mutation { join(input: { projectId: \"shut\", personId: \"ann\" }) { __typename } }")
        #expect(try await engine.results(of: sink, count: 3).last?["data"]?.text == both)
    }

    @Test func equalViewersShareGroups() async throws {
        let engine = try await engine()
        for name in ["ann", "bob", "cid"] {
            try engine.subscribe("query @live { nodes(ids: []) { id } }", as: Identity(name))
        }
        try await eventually("three groups") {
            engine.service.subscriptionCounts == (3, 3) ? true : nil
        }
        // Those of what everyone sees are one.
        for name in ["ann", "bob", "cid"] {
            try engine.subscribe("query @live { __typename }", as: Identity(name))
        }
        try engine.subscribe("query @live { __typename }")
        try engine.subscribe("query @live { __typename }", as: .nobody)
        try await eventually("one more group") {
            engine.service.subscriptionCounts == (8, 4) ? true : nil
        }
    }

    private struct Failure: Error {}

    /// Swift code that cannot decide allows nothing, not even below a `not`.
    @Test(arguments: ["{ handler: \"check\" }", "{ not: { handler: \"check\" } }"])
    func codeThatFailsAllowsNothing(rule: String) async throws {
        var handlers = Handlers()
        handlers.access("check") { _, _ in throw Failure() }
        let engine = try await EngineUnderTest(
            sdl: """
                interface Node { id: ID! }
                type Note implements Node @access(read: \(rule)) { id: ID! text: String }
                type Query { node(id: ID!): Node notes: [Note!]! @list(type: "Note") }
                """, handlers: handlers,
            seed: #"{"id":"n","type":"Note","fields":{"text":"secret"}}"#)
        let answer = try await data("{ notes { id } node(id: \"n\") { id } }", Self.ann, engine)
        #expect(answer == #"{"notes":[],"node":null}"#)
    }

    /// What code does not look at may differ from token to token, and viewers that are equal in the rest share results.
    @Test func codeSeesTheClaimsThatItNames() async throws {
        var handlers = Handlers()
        handlers.access("check", claims: ["roles"]) { viewer, _ in
            #expect(viewer?.claims.sid == nil)
            return viewer?.claims.roles == ["admin"]
        }
        handlers.access("own") { viewer, _ in
            #expect(viewer?.claims.roles == nil)
            return viewer?.id == "ann"
        }
        let engine = try await EngineUnderTest(
            sdl: """
                interface Node { id: ID! }
                type Note implements Node @access(read: { any: [{ handler: "check" }, { handler: "own" }] }) { id: ID! text: String }
                type Query { node(id: ID!): Node notes: [Note!]! @list(type: "Note") }
                """, handlers: handlers,
            seed: #"{"id":"n","type":"Note","fields":{"text":"secret"}}"#)
        func viewer(_ id: String, _ session: JSONValue, roles: JSONValue) -> Identity {
            .viewer(Viewer(id: id, claimValues: ["sid": session, "roles": roles]))
        }
        for (identity, isVisible) in [
            (viewer("bob", "a", roles: ["admin"]), true),
            (viewer("bob", "b", roles: ["admin"]), true),
            (viewer("bob", "c", roles: []), false), (viewer("ann", "d", roles: []), true),
        ] {
            let answer = try await data("{ notes { id } }", identity, engine)
            #expect(answer == (isVisible ? #"{"notes":[{"id":"n"}]}"# : #"{"notes":[]}"#))
            try engine.subscribe("query @live { notes { id } }", as: identity)
        }
        try await eventually("one group for both of Bob's sessions") {
            engine.service.subscriptionCounts == (4, 3) ? true : nil
        }
    }

    /// Everybody reads, the owner writes: the first thing that a public site wants.
    @Test func allOfNoRulesAreMetForEverybody() async throws {
        let engine = try await EngineUnderTest(
            sdl: """
                interface Node { id: ID! }
                type Note implements Node @access(read: { all: [] } update: { field: { locked: false } }) {
                  id: ID! text: String @unique locked: Boolean
                }
                type Query { node(id: ID!): Node notes: [Note!]! @list(type: "Note") }
                type Mutation { updateNote(input: UpdateNoteInput!): NotePayload @update(type: "Note") }
                input UpdateNoteInput { id: ID! text: String locked: Boolean }
                type NotePayload { note: Note }
                """, handlers: Handlers(),
            seed: """
                {"id":"n","type":"Note","fields":{"text":"one","locked":false}}
                {"id":"m","type":"Note","fields":{"text":"two","locked":true}}
                """)
        for identity in [Self.ann, .nobody, .unrestricted] {
            try engine.subscribe("query @live { notes { id } }", as: identity)
            #expect(
                try await data("{ notes { id } }", identity, engine)
                    == #"{"notes":[{"id":"n"},{"id":"m"}]}"#)
        }
        try await eventually("one group") {
            engine.service.subscriptionCounts == (3, 1) ? true : nil
        }
        // Only who may update the record like that learns that its unique value is taken.
        for (locked, code) in [(false, "CONFLICT"), (true, "FORBIDDEN")] {
            let answer = try await engine.run(
                "mutation { updateNote(input: { id: \"n\", text: \"two\", locked: \(locked) }) { note { id } } }",
                as: Self.ann)
            #expect(answer.firstErrorCode == code)
        }
    }

    /// Whether the record with the list is visible decides about an edge, so viewers share no group.
    /// A link to a record that is deleted is no link, also for whoever has its id.
    @Test func whoIsDeletedIsLinkedToNoMore() async throws {
        let engine = try await EngineUnderTest(
            sdl: """
                interface Node { id: ID! }
                type Person implements Node @access(read: { viewer: true } delete: { viewer: true }) { id: ID! }
                type Doc implements Node @access(read: { any: [{ field: { owner: "$viewer" } }, { field: { members: "$viewer" } }] }) {
                  id: ID! owner: Person members: [Person!]
                }
                type Open implements Node @access(read: { not: { field: { owner: "$viewer" } } }) { id: ID! owner: Person }
                type Query { node(id: ID!): Node docs: [Doc!]! @list(type: "Doc") opens: [Open!]! @list(type: "Open") }
                type Mutation { remove(input: RemoveInput!): RemovePayload @delete(type: "Person") }
                input RemoveInput { id: ID! }
                type RemovePayload { deletedPersonId: ID }
                """, handlers: Handlers(),
            seed: """
                {"id":"ann","type":"Person","fields":{}}
                {"id":"a","type":"Doc","fields":{"owner":{"ref":"ann"}}}
                {"id":"b","type":"Doc","fields":{"members":{"refs":["ann"]}}}
                {"id":"c","type":"Open","fields":{"owner":{"ref":"ann"}}}
                """)
        let sink = try engine.subscribe(
            "query @live { docs { id } opens { id } }", as: Self.ann)
        let before = try await engine.results(of: sink, count: 1)
        #expect(before.last?["data"]?.text == #"{"docs":[{"id":"a"},{"id":"b"}],"opens":[]}"#)
        _ = try await engine.run("mutation { remove(input: { id: \"ann\" }) { deletedPersonId } }")
        let after = try await engine.results(of: sink, count: 2)
        #expect(after.last?["data"]?.text == #"{"docs":[],"opens":[{"id":"c"}]}"#)
    }

    /// Rules take them so, and an issuer may have them in any order.
    @Test func listsInClaimsAreSets() {
        func identity(_ roles: VariableValue) -> Identity {
            Identity.viewer(Viewer(id: "ann", claims: ["roles": roles, "other": 1]))
                .keeping(claims: ["roles"])
        }
        #expect(identity(["b", "a", "b", 1]) == identity([1, "a", "b"]))
        #expect(identity(["a"]) != identity(["a", "b"]))
        #expect(identity([1, 1.0]) == identity([1.0]) && identity(1) == identity(1.0))
    }

    /// An id may come into being later, and be linked to.
    @Test func whoeverComesLaterIsFoundBehindALink() async throws {
        var handlers = Handlers()
        handlers.mutation("join") { records, _ in
            let person = records.create(dataID: "ann", typeName: "Person")
            records["a"]?.setLinkedRecord("owner", record: person)
            return person.dataID
        }
        let engine = try await EngineUnderTest(
            sdl: """
                interface Node { id: ID! }
                type Person implements Node @access(read: { viewer: true }) { id: ID! }
                type Doc implements Node @access(read: { field: { owner: { id: "$viewer" } } }) { id: ID! owner: Person }
                type Query { node(id: ID!): Node docs: [Doc!]! @list(type: "Doc") }
                type Mutation { join(input: JoinInput): JoinPayload }
                input JoinInput { clientMutationId: String }
                type JoinPayload { person: Person }
                """, handlers: handlers,
            seed: """
                {"id":"bob","type":"Person","fields":{}}
                {"id":"a","type":"Doc","fields":{"owner":{"ref":"bob"}}}
                """)
        let sink = try engine.subscribe("query @live { docs { id } }", as: Self.ann)
        let before = try await engine.results(of: sink, count: 1)
        #expect(before.last?["data"]?.text == #"{"docs":[]}"#)
        let joined = try await engine.run("mutation { join { person { id } } }")
        #expect(joined.firstErrorCode == nil, "\(joined)")
        let after = try await engine.results(of: sink, count: 2)
        #expect(after.last?["data"]?.text == #"{"docs":[{"id":"a"}]}"#)
    }

    @Test func payloadEdgesDependOnTheListsOwner() async throws {
        let engine = try await engine()
        for viewer in [Self.ann, Self.bob] {
            try engine.subscribe(
                "subscription { issueAdded { issueEdge { __typename } } }", as: viewer)
        }
        try await eventually("two groups") {
            engine.service.subscriptionCounts == (2, 2) ? true : nil
        }
    }

    /// A field of a mutation shows what its own commit has opened and closed, whatever was decided for the one before.
    @Test func everyFieldOfAMutationAsksAboutItsOwnState() async throws {
        let engine = try await EngineUnderTest(
            sdl: AccessUnderTest.schema, handlers: Handlers(),
            seed: """
                {"id":"eve","type":"Person","fields":{"login":"eve"}}
                {"id":"p","type":"Project","fields":{"name":"P","public":false,"owner":{"ref":"eve"},"members":{"refs":[]},"issues":{"refs":["i"]}}}
                {"id":"i","type":"Issue","fields":{"title":"One","open":true,"project":{"ref":"p"}}}
                """)
        let project = "{ project { openIssues issues { edges { node { id } } } } }"
        let member = "input: { projectId: \"p\", personId: \"eve\" }"
        let answer = try await data(
            """
            mutation {
              a: updateProject(input: { id: "p", name: "Q" }) \(project)
              b: join(\(member)) \(project)
              c: leave(\(member)) \(project)
            }
            """, Self.admin, engine)
        let none = #"{"project":{"openIssues":0,"issues":{"edges":[]}}}"#
        let one = #"{"project":{"openIssues":1,"issues":{"edges":[{"node":{"id":"i"}}]}}}"#
        #expect(answer == #"{"a":\#(none),"b":\#(one),"c":\#(none)}"#)
    }

    @Test func whatMayNeverBeCreatedLeavesNoName() async throws {
        let engine = try await engine()
        let before = engine.service.snapshot.symbols.liveCount
        for _ in 0..<10 {
            let answer = try await engine.run(
                "mutation { addProject(input: { name: \"N\", public: true }) { project { id } } }",
                as: .nobody)
            #expect(
                answer["errors"]?.array?.first?["extensions"]?["code"] == "UNAUTHENTICATED")
        }
        #expect(engine.service.snapshot.symbols.liveCount == before)
    }
}
