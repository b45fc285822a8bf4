import RelayJSON
import Testing

/// `relay access`, on the log of the built server.
@Suite(.bounded)
struct AccessToolTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private static let schema = """
        interface Node { id: ID! }
        type Person implements Node @access(read: { handler: "Person.read" }) { id: ID! login: String }
        type Note implements Node @access(
          read: { any: [{ field: { author: { login: "$viewer" } } }, { all: [{ claim: { roles: "admin" } }, { not: { field: { open: null } } }] }] }
          update: { field: { author: "$viewer" } }
        ) { id: ID! text: String @access(read: { viewer: true }) open: Boolean author: Person }
        type Tag implements Node { id: ID! }
        type Query { node(id: ID!): Node }
        """

    private static let seed = """
        {"id":"p","type":"Person","fields":{"login":"ann"}}
        {"id":"n","type":"Note","fields":{"text":"x","author":{"ref":"p"}}}
        {"id":"t","type":"Tag","fields":{}}
        """

    /// A log with the records. The handler is another program's, so this one is made without the rule.
    private func log() async throws -> String {
        let open = Self.schema.replacing(
            #" @access(read: { handler: "Person.read" })"#, with: "")
        let server = try await RunningServer(
            sandbox.start([
                "serve", "--schema", sandbox.write(open, to: "schema.graphql"), "--seed",
                sandbox.write(Self.seed, to: "seed.ndjson"), "--data", sandbox.path("data"),
                "--port", "0",
            ]))
        _ = try await server.stop()
        return sandbox.path("data")
    }

    private func decisions(_ entries: [JSONValue]) -> [String] {
        entries.map {
            ($0["field"]?.string ?? $0["action"]?.string ?? "?") + " "
                + ($0["decision"]?.string ?? "?")
        }
    }

    @Test func everyActionAndFieldIsDecided() async throws {
        let log = try await log()
        let ann = try await sandbox.json("access", log, "ann", "n")
        #expect(
            decisions(ann) == [
                "read allowed", "create denied", "update denied", "delete denied", "text allowed",
            ])
        #expect(
            ann[0] == [
                "record": "n", "type": "Note", "action": "read", "decision": "allowed",
                "rule": [
                    "met": true,
                    "any": [
                        [
                            "met": true, "field": "author.login", "expected": "$viewer",
                            "found": "ann", "of": "p",
                        ],
                        [
                            "met": false,
                            "all": [
                                ["met": false, "claim": "roles", "expected": "admin"],
                                [
                                    "met": false,
                                    "not": ["met": true, "field": "open", "expected": nil],
                                ],
                            ],
                        ],
                    ],
                ],
            ])
        #expect(ann[1]["default"] == "CLOSED")
        #expect(
            ann[2]["rule"]
                == ["met": false, "field": "author", "expected": "$viewer", "found": "p"])
        // What is invisible is not changed, whatever its rule says.
        let person = try await sandbox.json("access", log, "p", "n")
        #expect(decisions(person)[2] == "update denied" && person[2]["visible"] == false)
        #expect(person[2]["rule"]?["met"] == true)
        let tag = try await sandbox.json("access", log, "ann", "t")
        #expect(tag.allSatisfy { $0["decision"] == "denied" && $0["default"] == "CLOSED" })
    }

    @Test func otherRulesCanBeTriedAndCodeIsNotGuessed() async throws {
        let log = try await log()
        let file = try sandbox.write(Self.schema, to: "other.graphql")
        let json = try await sandbox.json("access", log, "ann", "p", "--schema", file)
        #expect(json[0]["decision"] == "undecided")
        #expect(json[0]["rule"] == ["met": nil, "handler": "Person.read"])
        let text = try await sandbox.relay("access", log, "--nobody", "p", "--schema", file)
        #expect(
            text.output.prefix(3) == [
                "Person p, someone who is not logged in",
                "read            decided by the program's code",
                #"    handler "Person.read": decided by the program's code"#,
            ])
        let wrong = try sandbox.write(
            Self.schema.replacing("{ viewer: true }", with: "{ viewr: true }"),
            to: "wrong.graphql")
        let refused = try await sandbox.relay("access", log, "ann", "p", "--schema", wrong)
        #expect(refused.exit == .code(1))
        #expect(
            refused.errors.first?.contains(#"wrong.graphql:6:"#) == true
                && refused.errors.first?.contains(#"There is no rule "viewr""#) == true,
            "\(refused)")
    }

    @Test func wrongUseIsSaid() async throws {
        let log = try await log()
        for (arguments, code, text) in [
            (["ann", "nothing"], 1, "There is no record nothing after event 1."),
            (["ann"], 64, "--nobody"), (["", "n"], 64, "not empty"),
            (["--nobody", "ann", "n"], 64, "no viewer"),
            (["ann", "n", "--claim", "roles=admin"], 64, #"--claim 'roles="admin"'"#),
            (["ann", "n", "--claim", "roles"], 64, "NAME=JSON"),
            (["ann", "n", "--at", "7"], 1, "7"),
        ] as [([String], Int32, String)] {
            let finished = try await sandbox.start(["access", log] + arguments).finish()
            #expect(finished.exit == .code(code), "\(arguments): \(finished)")
            #expect(finished.errors.first?.contains(text) == true, "\(arguments): \(finished)")
        }
    }
}
