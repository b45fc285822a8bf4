import Testing

/// The commands in docs/replay.md print what docs/replay.md says.
struct ReplayPageTests {
    @Test func everyAnswerOnThePageIsTrue() async throws {
        let sandbox = try Sandbox()
        let log = try await SmallLog(in: sandbox)
        let transcripts = try Transcript.read("docs/replay.md")
        #expect(transcripts.count >= 10)
        for transcript in transcripts {
            let command = transcript.command.replacing("relay-data", with: "data")
            let shell = try sandbox.start(["-c", command], program: "/bin/sh")
            let finished = try await shell.finish()
            let output = finished.output + finished.errors
            #expect(
                transcript.matches(output.map { $0.replacing("data", with: "relay-data") }),
                "\(transcript.command) printed \(output)")
        }
        withExtendedLifetime(log) {}
    }
}
