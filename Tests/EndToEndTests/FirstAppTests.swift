import Foundation
import LoopbackPorts
import Testing

/// The app of the article YourFirstApp.md prints what the article says. That it consists of the article's code, the
/// tests of the articles say.
@Suite(.bounded) struct FirstAppTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func theListIsLive() async throws {
        let screens = try Transcript.blocks(of: "Sources/Relay/Relay.docc/YourFirstApp.md")
        try #require(screens.count == 2)
        let server = try await sandbox.serve()
        let (list, adding) = (try #require(screens[0].first), try #require(screens[1].first))
        let shown = try start(list, server)
        for line in list.output.prefix(3) { #expect(try await shown.nextLine(line) == line) }
        let added = try await start(adding, server).finish()
        #expect(adding.matches(added.output), "\(added)")
        for line in list.output.dropFirst(3) { #expect(try await shown.nextLine(line) == line) }
        #expect(list.output.count == 7)
    }

    @Test func aListWithoutAServerSaysSo() async throws {
        let port = try ReservedPort()
        let program = try Sandbox.program(named: "FirstApp")
        let finished = try await sandbox.start(
            [], program: program,
            environment: ["TODOS_URL": "ws://127.0.0.1:\(port.number)/graphql"]
        ).finish()
        #expect(finished.exit == .code(0) && finished.output.count == 1)
        #expect(finished.output.first?.contains("\(port.number)") == true, "\(finished)")
    }

    /// Starts the program that a command names, with lines that come when they are printed.
    private func start(_ transcript: Transcript, _ server: RunningServer) throws -> ChildProcess {
        let program = try Sandbox.program(named: "FirstApp")
        let command = transcript.command.replacing(".build/debug/Todos", with: "'\(program)'")
        return try sandbox.start(
            ["-c", "exec stdbuf -oL \(command)"], program: "/bin/sh",
            environment: ["TODOS_URL": server.url])
    }
}
