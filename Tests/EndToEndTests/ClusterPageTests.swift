import Foundation
import PostgreSQLTesting
import Testing

/// The commands in docs/cluster.md that try a cluster on one machine do what docs/cluster.md says.
@Suite(.bounded, .needsPostgreSQL)
struct ClusterPageTests {
    @Test func whatThePageTriesIsTrue() async throws {
        let page = try String(
            contentsOfFile: Sandbox.repository + "/docs/cluster.md", encoding: .utf8)
        let trial = try #require(page.range(of: "## Try it on one machine"))
        let end = try #require(page.range(of: "\n## ", range: trial.upperBound..<page.endIndex))
        let commands = page[trial.upperBound..<end.lowerBound].replacing("\\\n", with: " ")
            .split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("relay serve ") }
        try #require(commands.count == 3)

        let sandbox = try Sandbox()
        let journal = try PostgreSQLServer.shared.get().url(schema: PostgreSQLServer.newSchema())
        var servers: [(written: String, server: RunningServer)] = []
        for command in commands {
            let port = try #require(command.firstMatch(of: /--port (\d+)/)).1
            let text = String(command).replacing("--port \(port)", with: "--port 0")
                .replacing("docs/examples", with: Sandbox.repository + "/docs/examples")
                .replacing("postgres://relay@127.0.0.1/todos", with: "'\(journal)'")
            // Not below a shell, which would be killed in its place.
            let process = try sandbox.start(["-c", "exec \(text)"], program: "/bin/sh")
            servers.append(("ws://127.0.0.1:\(port)/", try await RunningServer(process)))
        }

        func run(_ transcript: Transcript) async throws {
            var text = transcript.command.replacing(
                "postgres://relay@127.0.0.1/todos", with: "'\(journal)'")
            for (written, server) in servers {
                text = text.replacing(written, with: "ws://127.0.0.1:\(server.port)/")
            }
            let finished = try await sandbox.start(["-c", text], program: "/bin/sh").finish()
            let lines = finished.output + finished.errors
            #expect(transcript.matches(lines), "\(text) printed \(lines)")
        }
        let blocks = try Transcript.blocks(of: "docs/cluster.md")
        try #require(blocks.map(\.count) == [1, 2])
        for transcript in blocks[0] { try await run(transcript) }
        try await servers[0].server.kill()
        for transcript in blocks[1] { try await run(transcript) }
    }
}
