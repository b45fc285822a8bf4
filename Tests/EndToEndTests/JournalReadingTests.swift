import Foundation
import PostgreSQL
import PostgreSQLTesting
import RelayJSON
import Testing

/// The reading commands, with a journal's address in place of a directory.
@Suite(.bounded, .needsPostgreSQL)
struct JournalReadingTests {
    private let sandbox: Sandbox
    private let server: PostgreSQLServer
    private let schema = PostgreSQLServer.newSchema()
    private let url: String

    init() throws {
        sandbox = try Sandbox()
        server = try PostgreSQLServer.shared.get()
        url = server.url(schema: schema)
    }

    private func importedLog() async throws -> SmallLog {
        let log = try await SmallLog(in: sandbox)
        let imported = try await sandbox.relay("journal", "import", log.directory, url)
        #expect(imported.exit == .code(0), "\(imported.errors)")
        return log
    }

    private func start(_ arguments: [String]) throws -> ChildProcess {
        let child = try sandbox.start(
            arguments, environment: ["XDG_CACHE_HOME": sandbox.path("cache")])
        child.closeInput()
        return child
    }

    private func relay(_ arguments: String...) async throws -> Finished {
        try await start(arguments).finish()
    }

    /// The one copy.
    private func copy() throws -> String {
        let place = sandbox.path("cache/relay/journals")
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        let name = try #require(names.first { !$0.hasSuffix(".lock") })
        #expect(Set(names) == [name, name + ".lock"])
        return place + "/" + name
    }

    @Test func theySayOfAJournalWhatTheySayOfItsDirectory() async throws {
        let log = try await importedLog()
        let unicorn = SmallLog.unicorn
        let query = "{ node(id: \"\(unicorn)\") { ... on Todo { text complete } } }"
        let commands: [([String], [String])] = [
            (["log", "list"], []), (["log", "list"], ["--reversed", "-n", "3"]),
            (["log", "list"], ["--template", "{sequence} {operation}"]), (["log", "tail"], []),
            (["log", "stats"], []), (["log", "export"], []), (["log", "export"], ["--records"]),
            (
                ["log", "explain"],
                ["3", "--document", "subscription { todoAdded { todo { id } } }"]
            ),
            (["replay"], ["state"]), (["replay"], ["state", unicorn, "--at", "3"]),
            (["replay"], ["--query", query, "--at", "5"]), (["replay"], ["--step"]),
            (["diff"], ["1", "9"]), (["blame"], ["\(unicorn).text"]),
            (["bisect"], ["--query", query, "--expect", #"{"node": null}"#]),
            (["what-if"], ["--skip", "6"]),
        ]
        for (command, options) in commands {
            let json = options.contains("--template") ? [] : ["--json"]
            var results: [Finished] = []
            for place in [log.directory, url] {
                results.append(try await start(command + [place] + options + json).finish())
            }
            let (directory, journal) = (results[0], results[1])
            #expect(journal.exit == directory.exit, "\(command) \(options): \(journal.errors)")
            #expect(
                journal.output.map { $0.replacing(url, with: log.directory) } == directory.output
                    || command == ["log", "stats"], "\(command) \(options)")
            #expect(journal.errors == directory.errors, "\(command) \(options)")
        }
        let compared = try await relay("diff", log.directory, url)
        #expect(compared.exit == .code(0) && compared.output.isEmpty)
        let shown = try await relay("log", "show", url, "3", "--hex")
        #expect(
            shown.output == (try await relay("log", "show", log.directory, "3", "--hex")).output)
        let verified = try await relay("log", "verify", url)
        #expect(verified.exit == .code(0))
        #expect(verified.output.first?.hasPrefix("intact  events 1 to 9, ") == true)
        let fork = try await relay("log", "fork", url, "--at", "5", sandbox.path("fork"))
        #expect(fork.output.first?.hasPrefix("Copied postgres://relay@") == true)
    }

    @Test func onlyWhatIsNewIsFetched() async throws {
        let log = try await importedLog()
        #expect(try await relay("log", "list", url).output.count == 9)
        // Whoever fetched it again would find it.
        try server.connect().run("UPDATE \(schema).frames SET bytes = ''::bytea WHERE seq = 4")
        try await appendMore(to: log)
        let list = try await relay("log", "list", url)
        #expect(list.exit == .code(0), "\(list.errors)")
        #expect(list.output.count == 11)
        #expect(list.errors.isEmpty)
    }

    @Test func aCopyThatDoesNotCheckIsThrownAway() async throws {
        _ = try await importedLog()
        let before = try await relay("log", "list", url, "--json")
        let segment = try copy() + "/segments/00000000000000000001.log"
        var bytes = try Data(contentsOf: URL(filePath: segment))
        bytes[700] ^= 1
        try bytes.write(to: URL(filePath: segment))
        let after = try await relay("log", "list", url, "--json")
        #expect(after.exit == .code(0))
        #expect(after.output == before.output)
        #expect(after.errors.count == 1)
        #expect(after.errors.first?.contains("is thrown away and fetched again") == true)
        #expect(try await relay("log", "list", url).errors.isEmpty)
    }

    @Test func aCopyOfAnotherHistoryIsThrownAway() async throws {
        let log = try await importedLog()
        #expect(try await relay("log", "list", url).output.count == 9)
        // The same store, restored from a backup, and another way from there.
        let other = server.url(schema: PostgreSQLServer.newSchema())
        _ = try await relay("log", "fork", log.directory, "--at", "5", sandbox.path("fork"))
        _ = try await relay("journal", "import", sandbox.path("fork"), other)
        let list = try await relay("log", "list", other)
        #expect(list.output.count == 5)
        #expect(list.errors.first?.contains("is thrown away") == true)
    }

    @Test func oneWritesACopyAndOthersWait() async throws {
        _ = try await importedLog()
        #expect(try await relay("log", "list", url).output.count == 9)
        let lock = open(try copy() + ".lock", O_RDWR | O_CLOEXEC)
        try #require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        let waiting = try start(["log", "list", url])
        _ = try await waiting.errorLine(containing: "Waiting for another")
        close(lock)
        let list = try await waiting.finish()
        #expect(list.exit == .code(0))
        #expect(list.output.count == 9)
    }

    @Test func aTailGoesOnWithWhatIsAppendedToTheJournal() async throws {
        let log = try await importedLog()
        let tail = try sandbox.start(
            ["log", "tail", url, "-n", "1", "--json", "--follow"],
            environment: ["XDG_CACHE_HOME": sandbox.path("cache")])
        #expect(try JSONValue(parsing: await tail.nextLine())["sequence"] == 9)
        try await appendMore(to: log)
        #expect(try JSONValue(parsing: await tail.nextLine())["sequence"] == 10)
        #expect(try JSONValue(parsing: await tail.nextLine())["sequence"] == 11)
        tail.send(signal: SIGINT)
        #expect(try await tail.finish().exit == .code(0))
    }

    @Test func whatChangesALogTakesNoAddress() async throws {
        for command in ["compact", "repair", "import"] {
            let refused = try await relay("log", command, url)
            #expect(refused.exit == .code(64))
            #expect(refused.errors.first?.contains("it takes no URL") == true)
        }
        let two = try await relay("diff", url, url)
        #expect(two.exit == .code(64))
    }

    @Test func passwordsAreNotTold() async throws {
        let away = "postgres://ada:hush@127.0.0.1:1/none"
        for command in [["log", "list"], ["log", "verify"], ["blame"], ["diff"]] {
            let options = command.count == 2 ? [] : command == ["blame"] ? ["x"] : ["1", "2"]
            let failed = try await start(command + [away] + options).finish()
            #expect(failed.exit == .code(1), "\(command)")
            #expect(failed.errors.count == 1)
            #expect(failed.errors.first?.contains("postgres://ada@127.0.0.1:1/none") == true)
            #expect(!failed.errors.contains { $0.contains("hush") })
        }
    }

    /// Two events behind those that were imported.
    private func appendMore(to log: SmallLog) async throws {
        let next = try await sandbox.serve("--data", log.directory)
        _ = try await next.data(#"mutation { addTodo(input: {text: "On"}) { todo { id } } }"#)
        #expect(try await next.stop() == .code(0))
        let longer = PostgreSQLServer.newSchema()
        let imported = try await relay(
            "journal", "import", log.directory, server.url(schema: longer))
        #expect(imported.exit == .code(0))
        try server.connect().run(
            "INSERT INTO \(schema).frames SELECT * FROM \(longer).frames WHERE seq > 9")
    }
}
