import RelayJSON
import Testing

/// A server's URL in place of its log's directory.
@Suite(.bounded)
struct ServedHistoryTests {
    private static let commands = [
        "log list %", "log list % --json", "log list % -n 3", "log list % -n 3 --reversed",
        "log list % --since 2 --until 4", "log list % --since @-2",
        "log list % --until @-2 --reversed",
        "log list % --since 1h --kind response --kind genesis", "log list % --until 1h",
        "log list % --since 200000w", "log list % --until 200000w",
        "log list % --record VG9kbzow --operation removeTodo --json",
        "log list % --where sequence>=4&&kind!=mutation",
        "log list % --until 4 -n 2", "log list % --until @-2 -n 2 --reversed",
        "log list % --until @-3",
        "log list % --since 99", "log list % --until 99", "log list % --since 0",
        "log list % --since @-99", "log list % --record ''", "log list % --operation ''",
        "log show % abc", "diff % x y", "replay % state ''", "replay % state --at ''",
        "replay % state --at x",
        "log show % 3", "log show % 3 --json", "log show % @", "log show % 99",
        "blame % VG9kbzox", "blame % VG9kbzox.text", "blame % VG9kbzox.text --json",
        "blame % VXNlcjptZQ==.todos --optimistic --json",
        "diff % 1 @", "diff % 1 @ --json", "diff % 7 2 --record VG9kbzox --json", "diff % 3 3",
        "replay % state", "replay % state --json", "replay % state --at 1",
        "replay % state VG9kbzox --at 3", "replay % state VG9kbzox.text",
    ]

    @Test func everyCommandPrintsTheSame() async throws {
        let sandbox = try Sandbox()
        let log = try await SmallLog(in: sandbox)
        let server = try await sandbox.serve("--token", "sesame")
        for command in Self.commands {
            let words = command.split(separator: " ").map(String.init)
            func run(_ place: String, _ more: [String] = []) async throws -> Finished {
                let child = try sandbox.start(
                    words.map { $0 == "%" ? place : $0 == "''" ? "" : $0 } + more)
                child.closeInput()
                return try await child.finish()
            }
            let directory = try await run(log.directory)
            let url = try await run(server.url, ["--token", "sesame"])
            #expect(url.output == directory.output, "\(command): \(url.errors)")
            #expect(url.errors == directory.errors, "\(command)")
            #expect(url.exit == directory.exit, "\(command)")
        }
        #expect(try await server.stop() == .code(0))
    }

    @Test func aServerInMemoryHasAHistory() async throws {
        let sandbox = try Sandbox()
        let child = try sandbox.start([
            "serve", "--schema", Sandbox.todoSchema, "--seed", Sandbox.todoSeed, "--memory",
            "--port",
            "0",
        ])
        let server = try await RunningServer(child)
        _ = try await server.data(#"mutation { addTodo(input: {text: "x"}) { todo { id } } }"#)
        let lines = try await sandbox.json("log", "list", server.url)
        #expect(lines.map { $0["kind"]?.string } == ["genesis", "mutation", "response"])
        let blame = try await sandbox.json("blame", server.url, "VXNlcjptZQ==.todos")
        #expect(blame.map { $0["sequence"] } == [3, 1])
        #expect(try await server.stop() == .code(0))
    }

    @Test func aListFollowsAServer() async throws {
        let sandbox = try Sandbox()
        let server = try await sandbox.serve()
        let list = try sandbox.start([
            "log", "list", server.url, "--json", "--follow", "--kind", "response", "-n", "2",
        ])
        for number in 1...2 {
            _ = try await server.data(
                #"mutation { addTodo(input: {text: "\#(number)"}) { todo { id } } }"#)
            let line = try await list.nextLine()
            #expect(try JSONValue(parsing: line)["sequence"]?.int == Int64(2 * number + 1))
        }
        #expect(try await list.finish().exit == .code(0))
        #expect(try await server.stop() == .code(0))
    }

    @Test func onlyWhoMaySeeEverythingIsAnswered() async throws {
        let sandbox = try Sandbox()
        let server = try await sandbox.serve(
            "--token", "sesame", "--token-for", "bob=bobs", "--history-claim", "auditor")
        for (token, message) in [
            ("wrong", "A valid token is needed: \"authorization: Bearer TOKEN\"."),
            (
                "bobs",
                """
                The history shows everything. It is for clients with an unnamed token, and for viewers with the claim \
                that --history-claim names.
                """
            ),
        ] {
            let list = try await sandbox.relay("log", "list", server.url, "--token", token)
            #expect(list.exit == .code(1))
            #expect(list.errors == ["Error: \(message)"])
        }
        #expect(try await server.stop() == .code(0))
    }

    @Test(arguments: [
        ["log", "list", "%", "--template", "x"], ["log", "show", "%", "3", "--raw"],
        ["log", "list", "%", "--reversed", "--since", "2"], ["diff", "%", "/tmp"],
        ["replay", "%"], ["replay", "%", "--check"],
    ])
    func whatNeedsFilesIsWrongUsage(_ command: [String]) async throws {
        let sandbox = try Sandbox()
        let words = command.map { $0 == "%" ? "ws://127.0.0.1:1/graphql" : $0 }
        let finished = try await sandbox.start(words).finish()
        #expect(finished.exit == .code(64))
        #expect(finished.errors.first?.contains("the log's directory") == true)
    }
}
