import GraphQLExecution
import RelayArtifacts
import RelayJSON
import SchemaService
import Testing

@testable import StoreEngine

/// The tracker with the rules of `tracker.access.graphql`: members, owners, admins.
@Suite(.bounded)
struct TrackerAccessTests {
    private static let (ann, bob, cid) = (Identity("ann"), Identity("bob"), Identity("cid"))
    private static let admin = Identity.viewer(Viewer(id: "eve", claims: ["roles": ["admin"]]))

    private func engine() async throws -> EngineUnderTest {
        try await EngineUnderTest(
            sdl: Example.text("tracker.graphql") + "\n" + Example.text("tracker.access.graphql"),
            handlers: Handlers(), seed: Example.text("tracker.seed.ndjson"))
    }

    private func keys(_ identity: Identity, _ engine: EngineUnderTest) async throws -> [String?] {
        let answer = try await engine.run(
            "{ projects { edges { node { key } } } }", as: identity)
        return (answer["data"]?["projects"]?["edges"]?.array ?? [])
            .map { $0["node"]?["key"]?.string }
    }

    /// "OK", or the code of the error.
    private func code(
        _ mutation: String, _ identity: Identity, _ engine: EngineUnderTest
    ) async throws -> String {
        let answer = try await engine.run("mutation { \(mutation) { __typename } }", as: identity)
        return answer.firstErrorCode ?? "OK"
    }

    @Test func membersOwnersAndAdminsSeeAProject() async throws {
        let engine = try await engine()
        for identity in [Self.ann, Self.bob, Self.admin] {
            #expect(try await keys(identity, engine) == ["SITE", "MOON"])
        }
        for identity in [Self.cid, .nobody] {
            #expect(try await keys(identity, engine) == ["SITE"])
            #expect(
                try await engine.run("{ node(id: \"m1\") { id } }", as: identity)["data"]
                    == ["node": nil])
        }
        let people = "{ people { login email } }"
        #expect(try await engine.run(people, as: .nobody)["data"] == ["people": []])
        let seen = try await engine.run(people, as: Self.bob)
        #expect(
            seen["data"]?["people"]?.array?.map { $0["email"] } == [nil, "bob@example.org", nil]
                || seen["data"]?["people"]?.array?.map { $0["email"] }
                    == [.null, "bob@example.org", .null]
        )
        #expect(seen["errors"]?.array?.count == 2 && seen.firstErrorCode == "FORBIDDEN")
    }

    @Test func anOwnerLetsMembersIn() async throws {
        let engine = try await engine()
        let join = "join(input: { projectId: \"moon\", personId: \"cid\" })"
        #expect(try await code(join, Self.cid, engine) == "NOT_FOUND")
        #expect(try await code(join, Self.bob, engine) == "FORBIDDEN")
        #expect(try await code(join, .nobody, engine) == "NOT_FOUND")
        #expect(try await code(join, Self.ann, engine) == "OK")
        #expect(try await keys(Self.cid, engine) == ["SITE", "MOON"])
        let add = "addIssue(input: { projectId: \"moon\", title: \"Find a pilot\" })"
        #expect(try await code(add, Self.cid, engine) == "OK")
        #expect(
            try await code(
                "leave(input: { projectId: \"moon\", personId: \"cid\" })", Self.ann, engine)
                == "OK")
        #expect(try await keys(Self.cid, engine) == ["SITE"])
        #expect(try await code(add, Self.cid, engine) == "NOT_FOUND")
        // Only members write in a public project, too.
        #expect(
            try await code(
                "addIssue(input: { projectId: \"site\", title: \"Spam\" })", Self.cid, engine)
                == "FORBIDDEN")
    }

    @Test func issuesAreChangedByAuthorsAndOwnersAndClosedByAdmins() async throws {
        let engine = try await engine()
        let change = "updateIssue(input: { id: \"s1\", title: \"Mended\" })"
        #expect(try await code(change, Self.bob, engine) == "OK")
        #expect(try await code(change, Self.ann, engine) == "OK")
        #expect(try await code(change, Self.cid, engine) == "FORBIDDEN")
        #expect(try await code(change, Self.admin, engine) == "FORBIDDEN")
        #expect(try await code(change, .nobody, engine) == "UNAUTHENTICATED")
        let close = "closeIssue(input: { id: \"m1\" })"
        #expect(try await code(close, Self.ann, engine) == "FORBIDDEN")
        #expect(try await code(close, Self.admin, engine) == "OK")
        let delete = "deleteIssue(input: { id: \"s1\", projectId: \"site\" })"
        #expect(try await code(delete, Self.bob, engine) == "FORBIDDEN")
        #expect(try await code(delete, Self.admin, engine) == "OK")
    }

    @Test func nobodyMakesProjectsForOthers() async throws {
        let engine = try await engine()
        func add(_ owner: String) -> String {
            "addProject(input: { key: \"P-\(owner)\", title: \"P\", ownerId: \"\(owner)\" })"
        }
        #expect(try await code(add("bob"), Self.ann, engine) == "FORBIDDEN")
        #expect(try await code(add("bob"), Self.bob, engine) == "OK")
        #expect(
            try await code("addPerson(input: { login: \"dan\" })", Self.ann, engine) == "FORBIDDEN")
        #expect(try await code("addPerson(input: { login: \"dan\" })", Self.admin, engine) == "OK")
    }

    @Test func twoAccessDirectivesAreAMistake() throws {
        let text = """
            interface Node { id: ID! }
            type Person implements Node @access(read: { viewer: true }) { id: ID! }
            type Query { node(id: ID!): Node }
            extend type Person @access(read: { claim: { roles: "admin" } })
            """
        #expect(throws: SchemaMistakes.self) { try ServiceSchema(text) }
        #expect(throws: Never.self) {
            try ServiceSchema(text.replacing("@access(read: { viewer: true })", with: ""))
        }
    }
}
