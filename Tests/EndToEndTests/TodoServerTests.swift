import Foundation
import RelayJSON
import Testing

/// The example with handlers of its own does what the article on handlers says.
@Suite(.bounded)
struct TodoServerTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    private func serve() async throws -> RunningServer {
        try await RunningServer(
            sandbox.start(
                [
                    "--schema", Sandbox.todoSchema, "--seed", Sandbox.todoSeed, "--data",
                    sandbox.path("data"), "--port", "0",
                ], program: Sandbox.program(named: "TodoServer")))
    }

    private func answer(_ document: String, _ server: RunningServer) async throws -> Payload {
        let request: JSONValue = ["query": .string(document)]
        return try await onThread {
            try HTTPClient(port: server.port).post(request.text).body.payload()
        }
    }

    @Test func allItsHandlersWork() async throws {
        let server = try await serve()
        let live = try sandbox.start(
            ["request", server.url, "subscription { user { progress } }"])
        func progress() async throws -> JSONValue? {
            try await live.nextLine("a result").payload().data["user"]?["progress"]
        }
        #expect(try await progress() == 0.5)

        let empty = try await answer(
            #"mutation { addTodo(input: {text: " "}) { todo { id } } }"#, server)
        #expect(empty.code == "BAD_USER_INPUT")
        let twice = try await answer(
            #"mutation { addTodo(input: {text: "Buy a unicorn"}) { todo { id } } }"#, server)
        #expect(twice.code == "CONFLICT")
        _ = try await server.data(
            #"mutation { addTodo(input: {text: "Learn Swift"}) { todo { id } } }"#)
        #expect(try await progress() == 0.3333333333333333)

        let changed = try await server.data(
            """
            mutation { changeAllTodos(input: {complete: true, clientMutationId: "c"}) {
                user { completedCount } clientMutationId } }
            """)
        #expect(
            changed == [
                "changeAllTodos": ["user": ["completedCount": 3], "clientMutationId": "c"]
            ])
        #expect(try await progress() == 1.0)

        let suggested = try await server.data(
            #"mutation { suggestTodo(input: {topic: "Relay"}) { todo { text } todoEdge { node { complete } } } }"#
        )
        #expect(
            suggested["suggestTodo"] == [
                "todo": ["text": "Read a book about Relay"],
                "todoEdge": ["node": ["complete": false]],
            ])
        let refused = try await answer(
            #"mutation { suggestTodo(input: {topic: ""}) { todo { id } } }"#, server)
        #expect(refused.message == "A suggestion needs a topic.")

        let moved = try await server.data(
            """
            mutation { moveTodo(input: {id: "VG9kbzow", after: "VG9kbzox"}) {
                user { todos(first: 2) { edges { node { id } } } } } }
            """)
        #expect(
            moved["moveTodo"]?["user"]?["todos"]?["edges"] == [
                ["node": ["id": "VG9kbzox"]], ["node": ["id": "VG9kbzow"]],
            ])
        let astray = try await answer(
            #"mutation { moveTodo(input: {id: "VG9kbzow", after: "none"}) { user { id } } }"#,
            server)
        #expect(astray.code == "NOT_FOUND" && astray.message == #""none" is not in the list."#)

        let countdown = try sandbox.start(
            [
                "request", server.url,
                "subscription { countdown(from: 2, everyMilliseconds: 1) }",
            ])
        let numbers = try await countdown.finish().output.map {
            try $0.payload().data["countdown"]
        }
        #expect(numbers == [2, 1, 0])
        #expect(try await server.stop() == .code(0))

        let kinds = try await sandbox.events().compactMap { $0["kind"]?.string }
        #expect(
            kinds == [
                "genesis", "mutation", "response", "mutation", "response", "mutation", "response",
                "mutation", "revocation", "mutation", "response",
            ])
        let past = try await sandbox.relay(
            "replay", sandbox.path("data"), "--at", "3", "--query",
            "{ user { totalCount completedCount } }")
        #expect(past.output.joined().contains(#""totalCount":3,"completedCount":1"#), "\(past)")
    }

    @Test func aSubscriptionThatFollowsCommitsTellsOfThem() async throws {
        let server = try await serve()
        let events = try sandbox.start(
            [
                "request", server.url,
                "subscription { progressMade { mutation completed of user { totalCount } } }",
            ])
        // An event stream is silent until something happens; what happened before it is not told.
        try await eventually("an event stream that is there") {
            if try await events.hasLine(within: .milliseconds(100)) { return () }
            _ = try await server.data(
                "mutation { changeAllTodos(input: {complete: true}) { user { id } } }")
            return nil
        }
        #expect(
            try await events.nextLine("an event").payload().data["progressMade"] == [
                "mutation": "changeAllTodos", "completed": 2, "of": 2, "user": ["totalCount": 2],
            ])
    }

    @Test func aWaitThatTheServerDidNotSurviveIsRevokedAtItsNextStart() async throws {
        let server = try await serve()
        let waiting = try sandbox.start(
            [
                "request", server.url,
                #"mutation { suggestTodo(input: {topic: "forever"}) { todo { id } } }"#,
            ])
        // The log is read while the server writes it.
        try await eventually("the intent") { try await sandbox.events().count < 2 ? nil : () }
        try await server.kill()
        _ = try await waiting.finish()
        let again = try await serve()
        let user = try await again.data("{ user { totalCount } }")
        #expect(user == ["user": ["totalCount": 2]])
        #expect(try await again.stop() == .code(0))
        let kinds = try await sandbox.events().compactMap { $0["kind"]?.string }
        #expect(kinds == ["genesis", "mutation", "revocation"])
    }

    /// What it prints is what supervisors wait for; the very next thing may be their signal.
    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalStopsItAsSoonAsItListens(_ signal: Int32) async throws {
        for round in 0..<10 {
            let server = try await serve()
            server.process.send(signal: signal)
            #expect(try await server.process.finish().exit == .code(0), "in round \(round)")
        }
    }

    /// Every block of Swift on the page stands in the example, line by line.
    @Test func theCodeOnThePagesIsTheExamples() throws {
        func lines(_ path: String) throws -> [String] {
            try String(contentsOfFile: Sandbox.repository + "/" + path, encoding: .utf8)
                .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let client = "Tests/RelayNetworkTests/SharedMutationTests.swift"
        let example =
            try lines(client) + lines("Sources/TodoServer/TodoServer.swift")
            + lines("Sources/TodoServer/TodoHandlers.swift")
            + lines("Sources/TodoMutations/TodoMutations.swift")
            + lines("Tests/RelayServerTests/Front/ServerExamples.swift")
        let articles = "Sources/RelayServer/RelayServer.docc"
        let page =
            try lines("\(articles)/RelayServer.md") + lines("\(articles)/Handlers.md")
            + lines("docs/shared-mutations.md")
        let blocks = page.split(
            omittingEmptySubsequences: false, whereSeparator: { $0.hasPrefix("```") }
        ).enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(blocks.count >= 12)
        for block in blocks where !block.isEmpty {
            let isThere = example.indices.contains { example[$0...].starts(with: block) }
            #expect(isThere, "\(block.joined(separator: "\n"))")
        }
    }
}
