import Foundation
import Testing

/// Programs in a real pseudo-terminal.
@Suite(.bounded)
struct TerminalTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// The ways in which a client comes to its end.
    enum End: CaseIterable {
        case interrupt
        case terminated
        case interruptAfterTheServer
    }

    @Test(arguments: End.allCases)
    func theTerminalIsLeftAsItWasFound(_ end: End) async throws {
        let server = try await sandbox.serve()
        let terminal = try await Terminal(sandbox)
        try await terminal.type("stty -g > before\n")
        try await terminal.type(
            "sh -c 'echo $$ > pid; exec relay connect --no-history \(server.url)'\n")
        _ = try await terminal.screen { $0.contains("connected") && $0.contains("▾ query") }
        try await terminal.type("{ user { completedCount } }")
        try await terminal.press("C-r")
        _ = try await terminal.screen { $0.contains("completedCount: 1") }

        switch end {
        case .interrupt: try await terminal.press("C-c")
        case .terminated: kill(try clientPID(), SIGTERM)
        case .interruptAfterTheServer:
            // A server that is killed does not end the client.
            try await server.kill()
            _ = try await terminal.screen { $0.contains("offline") }
            try await terminal.press("C-c")
        }
        try await isAsItWas(terminal)
    }

    /// Without a screen there is a prompt.
    @Test(arguments: ["C-d", "C-c"])
    func aTerminalWithoutAScreenHasAPrompt(_ end: String) async throws {
        let server = try await sandbox.serve()
        let terminal = try await Terminal(sandbox)
        try await terminal.type("stty -g > before\n")
        try await terminal.type("TERM=dumb relay connect \(server.url)\n")
        _ = try await terminal.screen { $0.contains("relay>") }
        try await terminal.type("{ user { completedCount } }\n")
        _ = try await terminal.screen { $0.contains("\"completedCount\":1") }
        try await terminal.press(end)
        try await isAsItWas(terminal)
    }

    /// The shell has the terminal again, and it is the one it had.
    private func isAsItWas(_ terminal: Terminal) async throws {
        _ = try await terminal.screen { $0.hasSuffix("\n$") }
        try await terminal.type("stty -g > after; cmp before after && echo as it was\n")
        _ = try await terminal.screen { $0.contains("\nas it was") }
        #expect(try await terminal.fact("alternate_on") == "0")
        #expect(try await terminal.fact("cursor_flag") == "1")
    }

    @Test func aDebuggerGoesThroughALogAndLeavesTheTerminalAsItWas() async throws {
        let log = try await SmallLog(in: sandbox)
        let last = try await sandbox.json("log", "list", log.directory).count
        let terminal = try await Terminal(sandbox)
        try await terminal.type("stty -g > before\n")
        try await terminal.type("relay replay \(log.directory) --step\n")
        _ = try await terminal.screen { $0.hasPrefix("event \(last) of \(last)") }
        try await terminal.press("Left")
        _ = try await terminal.screen { $0.hasPrefix("event \(last - 1) of \(last)") }
        try await terminal.type("n")
        _ = try await terminal.screen { $0.hasPrefix("event \(last) of \(last)") }
        try await terminal.type("g")
        try await terminal.type("1")
        try await terminal.press("Enter")
        _ = try await terminal.screen { $0.hasPrefix("event 1 of \(last)") }
        try await terminal.press("C-c")
        try await isAsItWas(terminal)
    }

    private func clientPID() throws -> Int32 {
        let text = try String(contentsOfFile: sandbox.path("pid"), encoding: .utf8)
        return try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
