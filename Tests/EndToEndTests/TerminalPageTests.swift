import Foundation
import RelayJSON
import Testing

/// The program of docs/terminal.md.
@Suite(.bounded)
struct TerminalPageTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// `script/plugin-test` builds a package of the page's files; here they are built with all others.
    @Test func theFilesOnThePageAreThoseOfTheProgram() throws {
        let folder = Sandbox.repository + "/Tests/TerminalApp/"
        let page = try String(
            contentsOfFile: Sandbox.repository + "/docs/terminal.md", encoding: .utf8)
        var names: Set<String> = []
        for match in page.matches(of: /\n`([^`\n]+\.swift)`[^\n]*:\n\n```swift\n((?:.*\n)*?)```\n/)
        {
            let name = String(match.1)
            names.insert(name)
            let file = try String(contentsOfFile: folder + name, encoding: .utf8)
            #expect(match.2 == file, "\(name)")
        }
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
        #expect(
            names
                == Set(
                    try #require(files).filter {
                        $0.hasSuffix(".swift") && !$0.contains("__generated__")
                            && !$0.hasPrefix(".build")
                    }))
    }

    @Test func itShowsAListAndTicksATodo() async throws {
        let server = try await sandbox.serve()
        let terminal = try await Terminal(sandbox)
        try await terminal.type("TerminalTodos \(server.url)\n")
        _ = try await terminal.screen { $0.contains("☐ Buy a unicorn") }
        try await terminal.press("Down")
        try await terminal.press("Enter")
        _ = try await terminal.screen { $0.contains("☑ Buy a unicorn") }
        try await eventually("the server's todo") {
            let user = try await server.data("{ user { completedCount } }")
            return user["user"]?["completedCount"] == 2 ? () : nil
        }
        // It is live.
        _ = try await server.data(
            #"mutation { addTodo(input: {text: "Ride it"}) { todo { id } } }"#)
        _ = try await terminal.screen { $0.contains("☐ Ride it") }
        try await terminal.type("q")
        _ = try await terminal.screen { $0.hasSuffix("\n$") }
    }

    @Test func withoutATerminalItSaysSo() async throws {
        let finished = try await sandbox.start(
            [], program: try Sandbox.program(named: "TerminalTodos")
        ).finish()
        #expect(finished.output.joined().contains("There is no screen to draw on"), "\(finished)")
    }
}
