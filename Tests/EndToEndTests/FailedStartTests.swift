import Foundation
import LoopbackPorts
import RelayJSON
import Testing

/// A server that cannot start says why in one line and exits with 1, or with 64 when it was called
/// wrongly.
@Suite(.bounded)
struct FailedStartTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func expectOneLine(
        _ finished: Finished, containing text: String, exit: Int32 = 1,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(finished.exit == .code(exit), sourceLocation: sourceLocation)
        #expect(finished.output.isEmpty, sourceLocation: sourceLocation)
        #expect(finished.errors.count == 1, "\(finished)", sourceLocation: sourceLocation)
        #expect(
            finished.errors.last?.contains(text) == true, "\(finished)",
            sourceLocation: sourceLocation)
    }

    /// The error line; log lines of a start that got further stand before it.
    private func serve(_ options: String...) async throws -> Finished {
        let child = try sandbox.start(["serve", "--log-level", "critical"] + options)
        return try await child.finish()
    }

    @Test func aSecondServerOnADataDirectoryLeavesTheFirstAlone() async throws {
        let first = try await sandbox.serve()
        let second = try await serve(
            "--schema", Sandbox.todoSchema, "--data", sandbox.path("data"), "--port", "0")
        expectOneLine(second, containing: sandbox.path("data"))
        #expect(
            try await first.data("{ user { totalCount } }")
                == ["user": ["totalCount": 2]])
        #expect(try await sandbox.events().count == 1)
    }

    @Test func aBusyPortIsNamed() async throws {
        let first = try await sandbox.serve()
        // Nothing is said before it, neither of the log nor of connections that there are no descriptors for.
        let child = try sandbox.start([
            "serve", "--schema", Sandbox.todoSchema, "--data", sandbox.path("other"),
            "--port", "\(first.port)", "--max-connections", "1000000",
        ])
        let second = try await child.finish()
        expectOneLine(second, containing: "\(first.port)")
        // Its log is not touched: the next attempt, on another port, begins it.
        _ = try await sandbox.serve("--data", sandbox.path("other"))
    }

    @Test func aMissingSchemaFileIsNamedAndNoLogIsBegun() async throws {
        let finished = try await serve(
            "--schema", "nowhere.graphql", "--data", sandbox.path("data"))
        expectOneLine(finished, containing: "nowhere.graphql")
        let list = try await sandbox.relay("log", "list", sandbox.path("data"))
        expectOneLine(list, containing: sandbox.path("data"))
    }

    @Test func aMissingSeedFileIsNamedAndNoLogIsBegun() async throws {
        let finished = try await serve(
            "--schema", Sandbox.todoSchema, "--seed", "nowhere.ndjson",
            "--data", sandbox.path("data"))
        expectOneLine(finished, containing: "nowhere.ndjson")
        let list = try await sandbox.relay("log", "list", sandbox.path("data"))
        expectOneLine(list, containing: sandbox.path("data"))
    }

    @Test func aSchemaThatIsWrongIsRefusedWithThePlace() async throws {
        let schema = try sandbox.write("type Query { user: Usr }", to: "wrong.graphql")
        let finished = try await serve("--schema", schema, "--data", sandbox.path("data"))
        #expect(finished.exit == .code(1))
        #expect(finished.errors.contains { $0.contains("Usr") && $0.contains("\(schema):1:20: ") })
    }

    @Test func ofSeveralSchemaFilesTheWrongOneIsNamed() async throws {
        let schema = try sandbox.write("extend type Todo { due: Dte }", to: "more.graphql")
        let finished = try await serve(
            "--schema", Sandbox.todoSchema, "--schema", schema, "--data", sandbox.path("data"))
        #expect(finished.exit == .code(1))
        #expect(finished.errors.contains { $0.contains("\(schema):1:25: ") }, "\(finished)")
    }

    @Test func aSeedThatIsWrongIsRefusedWithThePlaceAndNoLogIsBegun() async throws {
        let seed = try sandbox.write(
            "\n{\"id\":\"a\",\"type\":\"Tdo\",\"fields\":{}}", to: "wrong.ndjson")
        let finished = try await serve(
            "--schema", Sandbox.todoSchema, "--seed", seed, "--data", sandbox.path("data"))
        expectOneLine(finished, containing: "\(seed):2: ")
    }

    @Test func aSchemaThatDoesNotFitTheLogIsNamedWithIt() async throws {
        let first = try await sandbox.serve()
        #expect(try await first.stop() == .code(0))
        let schema = try sandbox.write(
            """
            interface Node { id: ID! }
            type Todo implements Node { id: ID! text: Int! }
            type Query { node(id: ID!): Node }
            """, to: "other.graphql")
        let finished = try await serve("--schema", schema, "--data", sandbox.path("data"))
        #expect(finished.exit == .code(1))
        #expect(
            finished.errors.contains { $0.contains(schema) && $0.contains(sandbox.path("data")) },
            "\(finished)")
    }

    /// Of the command that was called, not of all of them.
    @Test func usageIsThatOfTheCommand() async throws {
        for (arguments, usage) in [
            (["serve"], "Usage: relay serve "),
            (["serve", "--schema", Sandbox.todoSchema, "--loops", "0"], "Usage: relay serve "),
            (["log", "list", sandbox.path("data"), "--where", "("], "Usage: relay log list "),
        ] {
            let finished = try await sandbox.start(arguments).finish()
            #expect(finished.exit == .code(64), "\(finished)")
            #expect(finished.errors.contains { $0.hasPrefix(usage) }, "\(finished)")
        }
    }

    @Test func aSchemaInAnotherEncodingIsNamedAsThat() async throws {
        let schema = sandbox.path("latin1.graphql")
        try Data("type Query {\n  caf\u{e9}: Int\n}".unicodeScalars.map { UInt8($0.value) })
            .write(to: URL(fileURLWithPath: schema))
        let finished = try await serve("--schema", schema, "--memory")
        #expect(finished.exit == .code(1))
        #expect(
            finished.errors.first?.hasSuffix(
                "Could not read the schema file \(schema): line 2 is not UTF-8.") == true,
            "\(finished)")
    }

    @Test func aWrongCallIsUsage() async throws {
        for arguments in [["serve", "--no-such-option"], ["no-such-command"], ["serve"]] {
            let finished = try await sandbox.start(arguments).finish()
            #expect(finished.exit == .code(64), "\(arguments)")
        }
    }

    /// An empty token would let everyone in, without a word.
    @Test(arguments: ["", ",", "secret,"])
    func anEmptyTokenIsUsage(_ tokens: String) async throws {
        let serve = ["serve", "--schema", Sandbox.todoSchema, "--memory", "--port", "0"]
        let variable = try await sandbox.start(serve, environment: ["RELAY_TOKEN": tokens]).finish()
        #expect(
            variable.exit == .code(64) && variable.errors.contains { $0.contains("RELAY_TOKEN") })
        let option = try await sandbox.start(serve + ["--token", "secret", "--token", ""]).finish()
        #expect(option.exit == .code(64))
        let replay = ["replay", sandbox.path("data"), "--serve", "--port", "0", "--token", ""]
        #expect(try await sandbox.start(replay).finish().exit == .code(64))
        let deep = try await sandbox.start(serve + ["--max-depth", "5000"]).finish()
        #expect(deep.exit == .code(64) && deep.errors.contains { $0.contains("500") })
    }

    /// What is wrong with it may be that it is the secret alone.
    @Test(arguments: ["kept-secret", "=kept-secret", "ada="])
    func aTokenOfAViewerSaysWhoseItIs(_ text: String) async throws {
        let serve = ["serve", "--schema", Sandbox.todoSchema, "--memory", "--port", "0"]
        for finished in [
            try await sandbox.start(serve + ["--token-for", text]).finish(),
            try await sandbox.start(serve, environment: ["RELAY_TOKEN_FOR": text]).finish(),
        ] {
            #expect(finished.exit == .code(64))
            #expect(finished.errors.contains { $0.contains("NAME=SECRET") })
            #expect(!finished.errors.contains { $0.contains("kept-secret") })
        }
    }

    /// An empty audience would let in those for whom the issuer's tokens for other services are; keys may be secret.
    @Test(arguments: ["keys", "issuer", "audience", "viewer", "leeway"])
    func whatKeepsPeopleOutIsNotEmpty(_ name: String) async throws {
        let serve = [
            "serve", "--schema", Sandbox.todoSchema, "--memory", "--port", "0", "--open",
        ]
        let variable = "RELAY_JWT_\(name.uppercased())"
        // Else that they are missing would be what is wrong.
        let others =
            name == "keys"
            ? [] : ["--jwt-keys", try sandbox.write(#"{"keys": []}"#, to: "keys.json")]
        let set = try await sandbox.start(serve + others, environment: [variable: ""]).finish()
        #expect(set.exit == .code(64) && set.errors.contains { $0.contains(variable) })
        let given = try await sandbox.start(serve + others + ["--jwt-\(name)", ""]).finish()
        #expect(given.exit == .code(64))
    }

    /// Nor is a secret printed that is given in place of the file's name.
    @Test func keysAreNoSecretsOnTheCommandLine() async throws {
        let serve = [
            "serve", "--schema", Sandbox.todoSchema, "--memory", "--port", "0", "--open",
        ]
        for secret in ["kept-secret", "-----BEGIN kept-secret"] {
            let variable = ["RELAY_JWT_KEYS": secret]
            let set = try await sandbox.start(serve, environment: variable).finish()
            #expect(set.exit == .code(64))
            #expect(!set.errors.contains { $0.contains("kept-secret") })
        }
        let keys = #"{"keys":[{"kty":"oct","k":"kept-secret"}]}"#
        let inline = try await sandbox.start(serve + ["--jwt-keys", keys]).finish()
        #expect(inline.exit == .code(64))
        #expect(!inline.errors.contains { $0.contains("kept-secret") })
        let url = "http://example.com/kept-secret"
        let replaceable = try await sandbox.start(serve + ["--jwt-keys", url]).finish()
        #expect(replaceable.exit == .code(64))
        #expect(replaceable.errors.contains { $0.contains("use https://") })
        #expect(!replaceable.errors.contains { $0.contains("kept-secret") })
    }

    @Test(arguments: ["RELAY_TLS_CERT", "RELAY_TLS_KEY", "RELAY_PERSISTED_ONLY"])
    func aVariableThatIsSetAndEmptyOpensNothing(_ variable: String) async throws {
        let serve = ["serve", "--schema", Sandbox.todoSchema, "--memory", "--port", "0"]
        let finished = try await sandbox.start(serve, environment: [variable: ""]).finish()
        #expect(finished.exit == .code(64) && finished.errors.contains { $0.contains(variable) })
    }

    @Test(arguments: [
        (["--node", "one"], "--journal"), (["--advertise", "ws://db:1"], "--journal"),
        (["--max-lag", "5"], "--journal"),
        (["--journal", "postgres://db/todos", "--memory"], "--memory"),
        (["--journal", "postgres://db/todos", "--durability", "batch"], "--durability"),
        (["--journal", "postgres://db/todos", "--max-lag=-1"], "--max-lag"),
        (["--journal", "postgres://db/todos", "--advertise", "db:8080"], "ws://HOST:PORT"),
        (["--journal", "postgres://db/todos", "--advertise", "ws://0.0.0.0:80"], "0.0.0.0"),
        (["--journal", "postgres://db/todos", "--advertise", "ws://db"], "ws://HOST:PORT"),
        (["--journal", "postgres://db/todos", "--advertise", "ws://db:80/g"], "ws://HOST:PORT"),
        (["--journal", "postgres://db/todos", "--node", "a\nb"], "--node"),
        (["--journal", "mysql://db/todos"], "--journal"),
        (["--journal", "postgres://db/todos?synchronous_commit=off"], "synchronous_commit"),
        (["--journal", ""], "--journal"),
    ])
    func optionsOfAClusterBelongTogether(_ options: [String], _ said: String) async throws {
        let serve = ["serve", "--schema", Sandbox.todoSchema, "--port", "0"]
        let finished = try await sandbox.start(serve + options).finish()
        #expect(finished.exit == .code(64), "\(options)")
        #expect(finished.errors.contains { $0.contains(said) }, "\(options) \(finished.errors)")
    }

    @Test func aServerOfAClusterHasAnAddress() async throws {
        let server = try await serve(
            "--schema", Sandbox.todoSchema, "--journal", "postgres://127.0.0.1:1/todos", "--open",
            "--host", "0.0.0.0", "--port", "0")
        expectOneLine(server, containing: "--advertise")
    }

    @Test func anOpenServerListensToItsOwnMachine() async throws {
        let server = try await serve(
            "--schema", Sandbox.todoSchema, "--memory", "--host", "0.0.0.0", "--port", "0")
        expectOneLine(server, containing: "everybody who reaches 0.0.0.0")
        #expect(server.errors.last?.contains("--open") == true)
    }

    @Test func aClientWithoutAServerFailsInOneLine() async throws {
        let port = try ReservedPort()
        let request = try await sandbox.relay(
            "request", "ws://127.0.0.1:\(port.number)/graphql", "{ user { totalCount } }")
        expectOneLine(request, containing: "\(port.number)")
        let health = try await sandbox.relay("healthcheck", "http://127.0.0.1:\(port.number)")
        expectOneLine(health, containing: "\(port.number)")
    }
}
