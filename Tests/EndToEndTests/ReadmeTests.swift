import Foundation
import Testing

/// The commands in README.md print what README.md says.
struct ReadmeTests {
    /// A command of a transcript, and the lines that it prints.
    struct Command {
        let text: String
        var output: [String] = []
    }

    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func theTranscriptInTheReadmeIsTrue() async throws {
        let server = try await sandbox.serve("--data", sandbox.path("relay-data"))
        let screens = try transcript()
        try #require(screens.count == 2)

        // The first terminal watches while the commands of the second run.
        let watching = try #require(screens[0].first)
        let watcher = try start(watching, server)
        _ = try await watcher.nextLine("the first result")
        for command in screens[1] {
            let finished = try await start(command, server).finish()
            expectEqual(finished.output, command)
        }
        let watched = try await watcher.finish()
        expectEqual(watched.output, watching)
    }

    /// The commands in the console blocks of the README, block by block.
    private func transcript() throws -> [[Command]] {
        let text = try String(contentsOfFile: Sandbox.repository + "/README.md", encoding: .utf8)
        return text.components(separatedBy: "```console\n").dropFirst().map { rest in
            var commands: [Command] = []
            for line in rest.components(separatedBy: "\n```")[0].components(separatedBy: "\n") {
                if line.hasPrefix("$ ") {
                    commands.append(Command(text: String(line.dropFirst(2))))
                } else if let last = commands.indices.last {
                    commands[last].output.append(line)
                }
            }
            return commands
        }
    }

    private func start(_ command: Command, _ server: RunningServer) throws -> ChildProcess {
        let text = command.text.replacing("ws://127.0.0.1:8080/graphql", with: server.url)
        return try sandbox.start(["-c", text], program: "/bin/sh")
    }

    /// Equal but for times, and for the name of the store in cursors.
    private func expectEqual(_ output: [String], _ command: Command) {
        func general(_ line: String) -> String {
            line.replacing(/\d{4}-\d\d-\d\dT[\d:.]+Z/, with: "TIME")
                .replacing(/[0-9a-f]{32}-/, with: "STORE-")
        }
        #expect(output.map(general) == command.output.map(general), "\(command.text)")
    }
}
