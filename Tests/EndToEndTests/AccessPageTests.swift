import Testing

/// The commands in docs/access.md print what docs/access.md says.
@Suite(.bounded)
struct AccessPageTests {
    @Test func everyAnswerOnThePageIsTrue() async throws {
        let sandbox = try Sandbox()
        let examples = Sandbox.repository + "/docs/examples/tracker"
        let server = try await RunningServer(
            sandbox.start([
                "serve", "--schema", examples + ".graphql", "--schema",
                examples + ".access.graphql", "--seed", examples + ".seed.ndjson", "--data",
                sandbox.path("tracker-data"), "--port", "0", "--token-for", "ann=anns-secret",
                "--token-for", "bob=bobs-secret", "--token-for", "cid=cids-secret",
            ]))
        let transcripts = try Transcript.read("docs/access.md")
        #expect(transcripts.count >= 10)
        for transcript in transcripts {
            let command = transcript.command.replacing(
                "ws://127.0.0.1:8081/graphql", with: server.url)
            let finished = try await sandbox.start(["-c", command], program: "/bin/sh").finish()
            let lines = finished.output + finished.errors
            #expect(transcript.matches(lines), "\(command) printed \(lines)")
        }
    }
}
