import Testing

/// The commands in docs/replay.md print what docs/replay.md says.
@Suite(.bounded)
struct ReplayPageTests {
    @Test func everyAnswerOnThePageIsTrue() async throws {
        let sandbox = try Sandbox()
        let log = try await SmallLog(in: sandbox, named: "relay-data")
        let transcripts = try Transcript.read("docs/replay.md")
        #expect(transcripts.count >= 10)
        for transcript in transcripts {
            let shell = try sandbox.start(["-c", transcript.command], program: "/bin/sh")
            let finished = try await shell.finish()
            let lines = finished.output + finished.errors
            #expect(transcript.matches(lines), "\(transcript.command) printed \(lines)")
        }
        withExtendedLifetime(log) {}
    }
}
