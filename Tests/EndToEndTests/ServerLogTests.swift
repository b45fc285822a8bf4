import RelayJSON
import Testing

/// What the server says on standard error.
@Suite(.bounded)
struct ServerLogTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func linesAreJSONWhereThatIsAskedForAndTellNoToken() async throws {
        let server = try await sandbox.serve(
            "--token", "kept-secret", "--log-format", "json", "--log-level", "trace")
        let query = JSONValue.object(["query": "{ __typename }"]).text
        for (token, status) in [("kept-secret", 200), ("tried-secret", 401)] {
            let reply = try await onThread {
                try HTTPClient(port: server.port).post(
                    query, headers: ["authorization": "Bearer \(token)"])
            }
            #expect(reply.status == status)
            let request = try await sandbox.relay(
                "request", server.url, "{ __typename }", "--token", token)
            #expect(request.exit == .code(status == 200 ? 0 : 1), "\(request)")
            #expect(!request.errors.contains { $0.contains("secret") }, "\(request)")
        }
        server.process.send(signal: 15)
        let finished = try await server.process.finish()
        #expect(finished.exit == .code(0) && !finished.errors.isEmpty)
        for line in finished.errors {
            #expect(!line.contains("secret"))
            let entry = try JSONValue(parsing: line)
            for name in ["time", "level", "message"] {
                #expect(entry[name]?.string != nil, "\(line)")
            }
        }
        // Who came is told, and how it went.
        for message in [
            "A connection begins.", "A connection has ended: 4403 Forbidden.",
            "A request has no valid token.", "Stopping on SIGTERM.", "Stopped.",
        ] {
            #expect(
                finished.errors.contains { $0.contains(#""message":"\#(message)""#) }, "\(message)")
        }
        #expect(finished.errors.contains { $0.contains(#""peer":"127.0.0.1""#) })
    }

    @Test func aStartNamesTheTypesThatNobodyMayUse() async throws {
        func warnings(_ options: String...) async throws -> [String] {
            try await warnings(options)
        }
        func warnings(_ options: [String]) async throws -> [String] {
            let server = try await RunningServer(
                sandbox.start(
                    ["serve", "--schema", Sandbox.todoSchema, "--memory", "--port", "0"] + options))
            server.process.send(signal: 15)
            return try await server.process.finish().errors.filter { $0.contains("@access") }
        }
        let warned = try await warnings("--token-for", "ann=secret")
        #expect(warned.count == 1)
        #expect(warned.first?.contains("No @access opens User, Todo: ") == true, "\(warned)")
        #expect(try await warnings("--token", "secret").isEmpty)
        #expect(try await warnings().isEmpty)
        // Rules that nobody is subject to are a mistake in the options.
        let rules = try sandbox.write(
            "extend type Todo @access(read: { viewer: true })", to: "rules.graphql")
        for options in [[], ["--token", "secret"]] {
            let warned = try await warnings(options + ["--schema", rules])
            #expect(warned.count == 1)
            #expect(warned.first?.contains("no client is subject to them") == true, "\(warned)")
        }
        let open = try sandbox.write(
            "extend schema @access(default: OPEN)", to: "open.graphql")
        #expect(
            try await warnings("--token-for", "ann=secret", "--schema", open).isEmpty)
    }
}
