import Testing

/// The commands in README.md print what README.md says.
@Suite(.bounded)
struct ReadmeTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func theTranscriptInTheReadmeIsTrue() async throws {
        let server = try await sandbox.serve("--data", sandbox.path("relay-data"))
        let screens = try Transcript.blocks(of: "README.md")
        try #require(screens.count == 2)

        // The first terminal watches while the commands of the second run.
        let watching = try #require(screens[0].first)
        let watcher = try start(watching, server)
        _ = try await watcher.nextLine("the first result")
        for command in screens[1] {
            let finished = try await start(command, server).finish()
            #expect(command.matches(finished.output), "\(command.command): \(finished)")
        }
        let watched = try await watcher.finish()
        #expect(watching.matches(watched.output), "\(watching.command): \(watched)")
    }

    private func start(_ transcript: Transcript, _ server: RunningServer) throws -> ChildProcess {
        let text = transcript.command.replacing("ws://127.0.0.1:8080/graphql", with: server.url)
        return try sandbox.start(["-c", text], program: "/bin/sh")
    }
}
