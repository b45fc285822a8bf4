import Foundation
import RelayJSON
import RelayServer
import Testing

/// A server that starts with another schema than the log ended with.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ChangedSchemaTests {
    private static let rename = "renameTodo(input: RenameTodoInput!): RenameTodoPayload"

    private func mutate(_ server: RunningServer, _ field: String) async throws {
        let response = try await server.post(["query": .string("mutation { \(field) }")])
        #expect(response.json?["errors"] == nil)
    }

    private func todo(
        _ server: RunningServer, _ selection: String, at sequence: Int64
    ) async throws -> JSONValue {
        let query = "{ node(id: \"VG9kbzox\") { ... on Todo { \(selection) } } }"
        let response = try await server.post([
            "query": .string(query), "extensions": ["relay": ["at": .int(sequence)]],
        ])
        return try #require(response.json)
    }

    /// Another schema: it has a field more and a mutation less.
    private static func schemaWithNote() throws -> String {
        try Example.text("todo.graphql")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains(rename) }
            .flatMap { $0 == "type Todo implements Node {" ? [$0, "  note: String"] : [$0] }
            .joined(separator: "\n")
    }

    @Test func aStateOfThePastIsReadByTheSchemaThatWasInForce() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-schema-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await RunningServer.run({ $0.storage = .directory(directory) }) { server in
            try await mutate(server, "addTodo(input: {text: \"a\"}) { todo { id } }")
            try await mutate(
                server, "renameTodo(input: {id: \"VG9kbzox\", text: \"b\"}) { todo { id } }")
            try await mutate(server, "addTodo(input: {text: \"c\"}) { todo { id } }")
        }
        let schema = try Self.schemaWithNote()
        try await RunningServer.run({
            $0.storage = .directory(directory)
            $0.schema = schema
        }) { server in
            let before = try await todo(server, "text", at: 4)["data"]?["node"]?["text"]
            #expect(before != nil && before != "b")
            // The schema does not have the mutation any more, but what it did is there.
            for sequence: Int64 in [5, 6, 7, 8] {
                let text = try await todo(server, "text", at: sequence)["data"]?["node"]?["text"]
                #expect(text == "b", "at \(sequence)")
            }
            #expect(try await todo(server, "note", at: 7).firstErrorMessage != nil)
            #expect(try await todo(server, "note", at: 8)["data"]?["node"]?["note"] == .null)
        }
    }

    /// And says what it does from then on.
    @Test func whatTheTerminalClientAsksForIsAddedToALogWithoutIt() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-schema-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await RunningServer.run({ $0.storage = .directory(directory) }) { server in
            try await mutate(server, "addTodo(input: {text: \"a\"}) { todo { id } }")
        }
        let addition = try Example.text("todo.client.graphql")
        try await RunningServer.run({
            $0.storage = .directory(directory)
            $0.add(schema: addition, name: "todo.client.graphql")
        }) { server in
            let answer = try await server.post([
                "query": """
                mutation { moveTodo(input: {id: "VG9kbzox"}) {
                  user { todos { edges { node { id } } } } } }
                """
            ])
            let edges = answer.json?["data"]?["moveTodo"]?["user"]?["todos"]?["edges"]?.array
            #expect(edges?.count == 3)
            #expect(edges?.first?["node"]?["id"] == "VG9kbzox")
        }
        // Without it again, the list stays as it is.
        try await RunningServer.run({ $0.storage = .directory(directory) }) { server in
            let answer = try await server.post([
                "query": "{ user { todos(first: 1) { edges { node { id } } } } }"
            ])
            let edges = answer.json?["data"]?["user"]?["todos"]?["edges"]
            #expect(edges == [["node": ["id": "VG9kbzox"]]])
        }
    }

    /// Whether what was missed is in memory or has to be read from the log.
    @Test(arguments: [4_096, 1])
    func aMutationThatTheSchemaNoLongerHasIsNotToldToWhoResumes(_ recentCommits: Int) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-schema-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await RunningServer.run({ $0.storage = .directory(directory) }) { server in
            try await mutate(
                server, "renameTodo(input: {id: \"VG9kbzox\", text: \"b\"}) { todo { id } }")
            try await mutate(server, "addTodo(input: {text: \"c\"}) { todo { id } }")
        }
        let schema = try Self.schemaWithNote()
            .replacing("type Subscription {", with: "type Subscription {\n  mutated: String")
        try await RunningServer.run({
            $0.storage = .directory(directory)
            $0.schema = schema
            $0.limits.recentCommits = recentCommits
            $0.handlers.subscription("mutated", onCommit: { commit, _ in commit.mutation })
        }) { server in
            let answer = try await server.post([
                "query": "mutation { addTodo(input: {text: \"d\"}) { todo { id } } }"
            ])
            let cursor = try #require(answer.json?["extensions"]?["relay"]?["cursor"]?.string)
            // The event before the first mutation.
            let start = cursor.dropLast() + "1"
            let client = try await GraphQLClient(server)
            client.subscribe(
                "1", "subscription { mutated }", relay: ["resume": .string(String(start))])
            #expect(try await client.result().recovered == true)
            for _ in 0..<2 {
                #expect(try await client.result()["data"] == ["mutated": "addTodo"])
            }
        }
    }

    /// The states before and behind have the served schema, and are in memory.
    @Test func aStateUnderAnotherSchemaBetweenTwoOfTheSameIsReadByItsOwn() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "relay-schema-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let add = "addTodo(input: {text: \"a\"}) { todo { id } }"
        try await RunningServer.run({ $0.storage = .directory(directory) }) { server in
            try await mutate(server, add)
        }
        let schema = try Self.schemaWithNote()
        try await RunningServer.run({
            $0.storage = .directory(directory)
            $0.schema = schema
        }) { _ in }
        try await RunningServer.run({ $0.storage = .directory(directory) }) { server in
            try await mutate(server, add)
            // Event 4 brings the field, event 5 takes it away.
            for sequence: Int64 in 3...7 {
                let response = try await server.post([
                    "query": "{ __type(name: \"Todo\") { fields { name } } }",
                    "extensions": ["relay": ["at": .int(sequence)]],
                ])
                let fields = response.json?["data"]?["__type"]?["fields"]?.array ?? []
                #expect(fields.contains { $0["name"] == "text" }, "\(fields)")
                #expect(
                    fields.contains { $0["name"] == "note" } == (sequence == 4), "at \(sequence)")
            }
        }
    }
}
