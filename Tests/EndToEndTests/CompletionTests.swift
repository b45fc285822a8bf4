import Testing

/// `relay completions` and `relay manual`.
@Suite(.bounded)
struct CompletionTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Completes as bash does when Tab is pressed.
    private static let script = #"""
        source <(relay completions bash)
        COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        entry=$(complete -p relay)
        function=${entry##*-F }
        ${function%% *} relay "${@: -1}" "${@: -2:1}"
        echo "${COMPREPLY[@]}"
        """#

    @Test(arguments: [
        (["lo"], "log"), (["log", "li"], "list"), (["serve", "--jwt-k"], "--jwt-keys"),
        (["completions", "f"], "fish"),
    ])
    func bashCompletesCommandsAndOptions(_ words: [String], _ expected: String) async throws {
        let child = try sandbox.start(
            ["-c", Self.script, "bash", "relay"] + words, program: "/bin/bash")
        child.closeInput()
        let finished = try await child.finish()
        #expect(finished.exit == .code(0), "\(finished.errors)")
        #expect(finished.output == [expected])
    }

    @Test(arguments: [("zsh", "#compdef relay"), ("fish", "complete -c 'relay'")])
    func otherShellsHaveAScript(_ shell: String, _ line: String) async throws {
        let finished = try await sandbox.relay("completions", shell)
        #expect(finished.exit == .code(0))
        #expect(finished.output.contains { $0.hasPrefix(line) })
    }

    @Test func anUnknownShellIsWrongUsage() async throws {
        let finished = try await sandbox.relay("completions", "tcsh")
        #expect(finished.exit == .code(64))
        #expect(finished.errors.first?.contains("tcsh") == true)
    }

    @Test func theManualHasAllCommandsAndNoLineThatTheFormatterTakesForItsOwn() async throws {
        let finished = try await sandbox.relay("manual")
        #expect(finished.exit == .code(0))
        let page = finished.output
        #expect(page.first?.hasPrefix(#".TH "RELAY" "1""#) == true)
        for command in [
            "serve", "log list", "log explain", "replay", "bench live\\-rules", "manual",
        ] {
            #expect(page.contains { $0.hasPrefix(".SS \"relay \(command)") }, "\(command)")
        }
        #expect(page.contains("\\-\\-jwt\\-keys <file|url>"))
        let macros = page.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }
        for macro in macros {
            #expect([".TH", ".SH", ".SS", ".PP", ".TP"].contains(macro.prefix(3)), "\(macro)")
        }
    }
}
