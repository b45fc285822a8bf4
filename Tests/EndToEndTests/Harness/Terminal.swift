import Foundation

/// A real pseudo-terminal with a shell in it, kept by a tmux of its own.
final class Terminal: Sendable {
    private let sandbox: Sandbox
    /// The tmux server's name; only what this test has started is under it.
    private let name: String
    /// The process of that tmux server.
    private let pid: Int32

    init(_ sandbox: Sandbox, columns: Int = 100, rows: Int = 30) async throws {
        self.sandbox = sandbox
        name = "relay-\(UUID().uuidString)"
        try await Self.tmux(
            sandbox, name, "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y",
            "\(rows)",
            "-c", sandbox.directory, "env PS1='$ ' TERM=xterm-256color sh")
        let answer = try await Self.tmux(sandbox, name, "display-message", "-p", "#{pid}")
        guard let pid = answer.first.flatMap({ Int32($0) }) else {
            throw Failure("tmux does not say its process: \(answer)")
        }
        self.pid = pid
        _ = try await screen { $0.contains("$") }
    }

    deinit { kill(pid, SIGTERM) }

    /// Types text; a line feed is the enter key.
    func type(_ text: String) async throws {
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            if number > 0 { try await tmux("send-keys", "Enter") }
            if !line.isEmpty { try await tmux("send-keys", "-l", String(line)) }
        }
    }

    /// Presses a key by tmux's name for it: `C-c`, `Enter`.
    func press(_ key: String) async throws { try await tmux("send-keys", key) }

    /// The screen's lines down to the last that is not empty, once they are as wanted.
    func screen(until condition: (String) throws -> Bool) async throws -> String {
        var text = ""
        do {
            return try await eventually("the screen") {
                var lines = try await tmux("capture-pane", "-p")
                while lines.last?.isEmpty == true { lines.removeLast() }
                text = lines.joined(separator: "\n")
                return try condition(text) ? text : nil
            }
        } catch let failure as Failure {
            throw Failure("\(failure) It shows:\n\(text)")
        }
    }

    /// A fact that tmux knows of the terminal, such as `alternate_on` or `cursor_flag`.
    func fact(_ name: String) async throws -> String {
        try await tmux("display-message", "-p", "#{\(name)}").first ?? ""
    }

    @discardableResult
    private func tmux(_ arguments: String...) async throws -> [String] {
        try await Self.tmux(sandbox, name, arguments)
    }

    @discardableResult
    private static func tmux(
        _ sandbox: Sandbox, _ name: String, _ arguments: String...
    ) async throws -> [String] {
        try await tmux(sandbox, name, arguments)
    }

    private static func tmux(
        _ sandbox: Sandbox, _ name: String, _ arguments: [String]
    ) async throws -> [String] {
        let finished = try await sandbox.start(
            ["tmux", "-L", name] + arguments, program: "/usr/bin/env"
        ).finish()
        guard finished.exit == .code(0) else {
            throw Failure("tmux \(arguments.joined(separator: " ")) failed: \(finished)")
        }
        return finished.output
    }
}
