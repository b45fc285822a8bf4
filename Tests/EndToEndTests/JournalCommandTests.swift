import Foundation
import PostgreSQL
import PostgreSQLTesting
import RelayJSON
import Testing

/// `relay journal`, on a PostgreSQL that the tests start.
@Suite(.bounded, .needsPostgreSQL)
struct JournalCommandTests {
    private let sandbox: Sandbox
    private let server: PostgreSQLServer
    private let url: String

    init() throws {
        sandbox = try Sandbox()
        server = try PostgreSQLServer.shared.get()
        url = server.url(schema: PostgreSQLServer.newSchema())
    }

    @Test func aLogGoesIntoAJournalAndComesBackTheSame() async throws {
        let log = try await SmallLog(in: sandbox)
        let before = try #require(try await sandbox.json("log", "verify", log.directory).first)
        let hash = try #require(before["head"]?["hash"]?.string)
        let imported = try #require(
            try await sandbox.json("journal", "import", log.directory, url).first)
        #expect(imported["sequence"] == 9 && imported["head"] == .string(hash))
        #expect(imported["resumedAfter"] == nil)

        let verified = try #require(try await sandbox.json("journal", "verify", url).first)
        #expect(verified["intact"] == true && verified["events"] == 9)
        #expect(verified["head"] == before["head"])

        let copy = sandbox.path("copy")
        let exported = try #require(try await sandbox.json("journal", "export", url, copy).first)
        #expect(exported["sequence"] == 9 && exported["head"] == .string(hash))
        let after = try #require(try await sandbox.json("log", "verify", copy, "--deep").first)
        #expect(after["head"] == before["head"] && after["intact"] == true)
        #expect(try await sandbox.relay("diff", log.directory, copy).exit == .code(0))
        let key = try Data(contentsOf: URL(filePath: log.directory + "/cursor-key"))
        #expect(try Data(contentsOf: URL(filePath: copy + "/cursor-key")) == key)

        // A server goes on where the journal ends.
        let next = try await sandbox.serve("--data", copy)
        _ = try await next.data(#"mutation { addTodo(input: {text: "On"}) { todo { id } } }"#)
        #expect(try await next.stop() == .code(0))
        let events = try await sandbox.json("log", "list", copy)
        #expect(events.map { $0["sequence"] } == (1...11).map { .int($0) })
    }

    @Test func aSecondImportIsToldWhatIsThere() async throws {
        let log = try await SmallLog(in: sandbox)
        let first = try await sandbox.relay("journal", "import", log.directory, url)
        #expect(first.exit == .code(0))
        #expect(first.output.first?.hasSuffix(": events 1 to 9.") == true)
        let head = try #require(first.output.last?.split(separator: " ").last)
        let second = try await sandbox.relay("journal", "import", log.directory, url)
        #expect(second.exit == .code(1))
        #expect(second.errors.count == 1)
        #expect(second.errors.first?.contains("events 1 to 9, head \(head)") == true)
    }

    @Test func theStatusHasALineForTheJournalAndForEachServer() async throws {
        let log = try await SmallLog(in: sandbox)
        #expect(
            try await sandbox.relay("journal", "import", log.directory, url).exit == .code(0))
        let status = try #require(try await sandbox.json("journal", "status", url).first)
        #expect(status["sequence"] == 9 && status["complete"] == true && status["term"] == 1)
        #expect(status["waitsForStandby"] == false)
        let text = try await sandbox.relay("journal", "status", url)
        #expect(text.output.first?.hasPrefix("journal  events 1 to 9, ") == true)
        #expect(text.output.last == "nodes    none")
    }

    @Test func damageIsToldByTheExitCode() async throws {
        let log = try await SmallLog(in: sandbox)
        #expect(
            try await sandbox.relay("journal", "import", log.directory, url).exit == .code(0))
        let schema = try #require(url.split(separator: "=").last)
        try server.connect().run("DELETE FROM \(schema).frames WHERE seq = 4")
        let found = try await sandbox.relay("journal", "verify", url)
        #expect(found.exit == .code(2))
        #expect(found.output.first?.hasPrefix("damaged  events 1 to 3") == true)
        #expect(found.errors.first?.contains("is damaged at event 4") == true)
        let exported = try await sandbox.relay("journal", "export", url, sandbox.path("copy"))
        #expect(exported.exit == .code(2))
        #expect(!FileManager.default.fileExists(atPath: sandbox.path("copy")))
    }

    @Test func whatIsNoJournalIsSaidInOneLine() async throws {
        let log = try await SmallLog(in: sandbox)
        let nothing = try await sandbox.relay("journal", "status", url)
        #expect(nothing.exit == .code(1))
        #expect(nothing.errors.first?.contains("There is no journal in postgres://relay@") == true)
        let wrong = try await sandbox.relay("journal", "import", log.directory, "ws://h/d")
        #expect(wrong.exit == .code(64))
        let closed = "postgres://ada:hush@127.0.0.1:1/none"
        let away = try await sandbox.relay("journal", "verify", closed)
        #expect(away.exit == .code(1))
        #expect(away.errors.count == 1)
        #expect(away.errors.first?.contains("postgres://ada@127.0.0.1:1/none") == true)
        #expect(away.errors.first?.contains("hush") == false)
    }

    /// Or it would not start where the library is missing.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/readelf")))
    func theProgramIsNotLinkedWithTheLibrary() async throws {
        let child = try sandbox.start(
            ["-d", try Sandbox.program(named: "relay")], program: "/usr/bin/readelf")
        child.closeInput()
        let needed = try await child.finish().output.filter { $0.contains("(NEEDED)") }
        #expect(!needed.isEmpty)
        #expect(!needed.contains { $0.contains("libpq") })
    }
}
