import Foundation
import Testing

/// `relay connect` in a real pseudo-terminal.
@Suite(.bounded)
struct TerminalTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// The ways in which a client comes to its end.
    enum End: CaseIterable {
        case endOfInput
        case interrupt
        case terminated
        case serverKilled
    }

    @Test(arguments: End.allCases)
    func theTerminalIsLeftAsItWasFound(_ end: End) async throws {
        let server = try await sandbox.serve()
        let terminal = try await Terminal(sandbox)
        try await terminal.type("stty -g > before\n")
        try await terminal.type("sh -c 'echo $$ > pid; exec relay connect \(server.url)'\n")
        _ = try await terminal.screen { $0.contains("relay>") }
        try await terminal.type("{ user { completedCount } }\n")
        _ = try await terminal.screen { $0.contains("\"completedCount\":1") }

        switch end {
        case .endOfInput: try await terminal.press("C-d")
        case .interrupt: try await terminal.press("C-c")
        case .terminated: kill(try clientPID(), SIGTERM)
        case .serverKilled: try await server.kill()
        }
        // The shell has the terminal again, and it is the one it had.
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
        _ = try await terminal.screen { $0.hasSuffix("\n$") }
        try await terminal.type("stty -g > after; cmp before after && echo as it was\n")
        _ = try await terminal.screen { $0.contains("\nas it was") }
        #expect(try await terminal.fact("alternate_on") == "0")
        #expect(try await terminal.fact("cursor_flag") == "1")
    }

    private func clientPID() throws -> Int32 {
        let text = try String(contentsOfFile: sandbox.path("pid"), encoding: .utf8)
        return try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
}
