import Foundation
import RelayJSON
import Testing

/// What `relay compile` reads, and what it says if it cannot.
@Suite(.bounded)
struct CompileInputTests {
    private let project: CompiledProject

    init() throws { project = try CompiledProject() }

    private static let one = ["1 operation, 0 fragments: 2 files, 2 written."]

    // MARK: Links and the like

    @Test func linksToFoldersAreNotWalkedForEver() async throws {
        try project.link("App/loop", to: ".")
        try project.link("App/up", to: "..")
        try project.link("App/other", to: "../App")
        let finished = try await project.compile([])
        #expect(finished.output == Self.one, "\(finished)")
    }

    /// It is called by the name that it has in the folders.
    @Test func aFileByTwoWaysIsOneDocument() async throws {
        try project.link("App/Another.swift", to: "List.swift")
        try project.write("fragment F on User { id }", to: "Elsewhere/F.graphql")
        try project.link("App/elsewhere", to: "../Elsewhere")
        let finished = try await project.compile([
            "--src", project.path("./App"), "--src", project.path("."),
        ])
        #expect(
            finished.output == ["1 operation, 1 fragment: 3 files, 3 written."], "\(finished)")
    }

    @Test func aDocumentBehindALinkIsRead() async throws {
        try project.write("fragment F on User { id }", to: "Elsewhere/F.graphql")
        try project.link("App/F.graphql", to: "../Elsewhere/F.graphql")
        let finished = try await project.compile([])
        #expect(
            finished.output == ["1 operation, 1 fragment: 3 files, 3 written."], "\(finished)")
    }

    /// Only generated files in it are no sources.
    @Test func sourcesMayBeInTheFolderForGeneratedFiles() async throws {
        try project.write("fragment F on User { id }", to: "App/Inner/F.graphql")
        let options = ["--src", project.path("App/Inner"), "--out", project.path("App/Inner")]
        let one = ["1 operation, 1 fragment: 3 files, 3 written."]
        #expect(try await project.compile(options).output == one)
        let again = try await project.compile(options + ["--check"])
        #expect(again.output == ["1 operation, 1 fragment: 3 files, 0 differ."], "\(again)")
        try project.write("fragment G on User { id }", to: "App/Inner/G.graphql")
        let more = try await project.compile(options)
        #expect(more.output == ["1 operation, 2 fragments: 4 files, 1 written."], "\(more)")
    }

    /// Who opens one waits for ever.
    @Test func aFIFOIsNoSource() async throws {
        #expect(mkfifo(project.path("App/F.swift"), 0o600) == 0)
        #expect(mkfifo(project.path("F.graphql"), 0o600) == 0)
        #expect(try await project.compile([]).output == Self.one)
        let finished = try await project.compile(["--client", project.path("F.graphql")])
        #expect(finished.exit == .code(1))
        #expect(finished.errors == ["error: \(project.path("F.graphql")) is a FIFO, not a file."])
    }

    @Test func aLinkToNothingIsCalledOne() async throws {
        try project.link("App/Dangling.swift", to: "nowhere")
        let finished = try await project.compile([])
        #expect(finished.exit == .code(1))
        #expect(
            finished.errors == [
                "error: \(project.path("App/Dangling.swift")) is a link, and there is no file at its other "
                    + "end."
            ])
    }

    @Test func aFolderIsNoFile() async throws {
        let finished = try await project.compile(["--schema", project.path("App")])
        #expect(finished.errors == ["error: \(project.path("App")) is a folder, not a file."])
        let other = try await project.compile(["--src", project.path("App/List.swift")])
        #expect(other.errors == ["error: \(project.path("App/List.swift")) is not a folder."])
    }

    // MARK: Settings

    /// Without it there would be other code.
    @Test func settingsBehindALinkToNothingAreMissed() async throws {
        try project.link("relay.json", to: "nowhere.json")
        let finished = try await project.compile([])
        #expect(finished.exit == .code(1))
        #expect(
            finished.errors == [
                "error: relay.json is a link, and there is no file at its other end."
            ])
    }

    /// The command is not at fault, so its usage is not printed.
    @Test func mistakesInSettingsHavePlaces() async throws {
        try project.write(
            """
            {
              "schema": "\(Sandbox.todoSchema)",
              "scalars": {"DateTim": "Date"}
            }
            """, to: "relay.json")
        let finished = try await project.relay("compile", "--src", "App")
        #expect(finished.exit == .code(1))
        #expect(
            finished.errors == [
                "relay.json:3:15: error: Unknown scalar type \"DateTim\" in \"scalars\".",
                "  3 |   \"scalars\": {\"DateTim\": \"Date\"}", "    |               ^",
            ])
        try project.write("{\"schema\": \"\"}", to: "relay.json")
        let other = try await project.relay("compile", "--src", "App")
        #expect(
            other.errors == [
                "relay.json:1:12: error: Expected \"schema\" to name a file, not \"\".",
                "  1 | {\"schema\": \"\"}", "    |            ^",
            ])
    }

    // MARK: JSON

    private func error(_ arguments: [String]) async throws -> (JSONValue, ChildProcess.Exit) {
        let child = try project.start(["compile", "--json"] + arguments)
        child.closeInput()
        let finished = try await child.finish()
        #expect(finished.errors == [] && finished.output.count == 1, "\(finished)")
        return (try JSONValue(parsing: finished.output.first ?? ""), finished.exit)
    }

    /// A program that reads lines gets one, whatever is wrong.
    @Test func everyFailureIsALineOfJSON() async throws {
        var (line, exit) = try await error(["--schema", "nowhere.graphql", "--src", "App"])
        #expect(
            line == ["severity": "error", "message": "There is no file nowhere.graphql."])
        #expect(exit == .code(1))
        (line, exit) = try await error(["--schema", "schema.graphql"])
        #expect(line == ["severity": "error", "message": "Name the sources: --src FOLDER."])
        #expect(exit == .code(64))
        (line, exit) = try await error(["--src", "App"])
        #expect(line["message"]?.string?.hasPrefix("Name the server's schema: ") == true)
        #expect(exit == .code(64))
        try project.write("[]", to: "relay.json")
        (line, exit) = try await error(["--src", "App"])
        #expect(line["file"] == "relay.json" && line["line"] == 1 && line["column"] == 1)
        #expect(exit == .code(1))
    }

    @Test func furtherPlacesAreInTheJSON() async throws {
        try project.write(CompiledProject.list, to: "App/Old/List.swift")
        let (line, exit) = try await error(["--schema", Sandbox.todoSchema, "--src", "App"])
        #expect(exit == .code(1))
        #expect(
            line == [
                "severity": "error", "file": "App/List.swift", "line": 2, "column": 11,
                "message": "There can be only one operation named \"ListQuery\".",
                "related": [
                    [
                        "file": "App/Old/List.swift", "line": 2, "column": 11,
                        "message": "Here, too.",
                    ]
                ],
            ])
    }
}
