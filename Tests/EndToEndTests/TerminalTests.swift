import RelayJSON
import Testing

/// `relay connect` in a real pseudo-terminal.
struct TerminalTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    @Test func theTerminalIsLeftAsItWasFound() async throws {
        let server = try await sandbox.serve()
        let terminal = try await Terminal(sandbox)
        try await terminal.type("stty -g > before\nrelay connect \(server.url); stty -g > after\n")
        try await terminal.type("{ user { completedCount } }\n")
        _ = try await terminal.screen { $0.contains("\"completedCount\"") }
        try await terminal.press("C-d")
        try await terminal.type("cmp before after && echo as it was\n")
        _ = try await terminal.screen { $0.contains("\nas it was") }
        #expect(try await terminal.fact("alternate_on") == "0")
        #expect(try await terminal.fact("cursor_flag") == "1")
    }
}
