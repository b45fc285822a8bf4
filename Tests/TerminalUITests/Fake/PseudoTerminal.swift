import BoundedTesting
import Foundation
import Threads

@testable import TerminalUI

/// A shell in a pseudo-terminal, which starts the program ``SystemTerminalChild``, and a fake terminal on the other side.
///
/// The shell is there before and after the program, so the terminal's settings can be looked at, and it is needed for
/// what Ctrl-Z does: nobody stops a job that nobody could continue.
final class PseudoTerminal: Sendable {
    private struct State {
        var terminal: FakeTerminal
        var isOver = false
        var isRead = true
    }

    private let main: Int32
    private let shell: pid_t
    private let state: Monitor<State>

    /// Waits for a line after each command, so that a test can look at what is left.
    private static let script = """
        set -m
        read line
        "$0" "$@" <>/dev/tty >/dev/null 2>&1
        echo "status=$?"
        read line
        fg >/dev/null 2>&1
        echo "status=$?"
        read line
        """

    init(_ terminal: FakeTerminal) throws {
        var (main, other): (Int32, Int32) = (-1, -1)
        var window = winsize(
            ws_row: UInt16(terminal.size.height), ws_col: UInt16(terminal.size.width), ws_xpixel: 0,
            ws_ypixel: 0)
        guard openpty(&main, &other, nil, nil, &window) == 0 else {
            throw TerminalError("Could not open a pseudo-terminal.")
        }
        _ = fcntl(main, F_SETFD, FD_CLOEXEC)
        self.main = main
        state = Monitor(State(terminal: terminal))
        defer { close(other) }
        shell = try Self.spawnShell(in: String(cString: ttyname(other)))
        _ = startThread { [self] in read() }
    }

    /// Ends the shell, and with it the session: a program that is still there gets SIGHUP.
    func end() {
        goOnReading()
        kill(shell, SIGKILL)
        waitpid(shell, nil, 0)
        _ = state.wait(milliseconds: .testDeadlineMilliseconds) { $0.isOver ? true : nil }
        close(main)
    }

    private static func spawnShell(in path: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session's leader opens becomes the session's.
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let newSession: Int16 = 0x80  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(
            &attributes,
            newSession | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let arguments = [
            "/bin/sh", "-c", script, program, "--testing-library", "swift-testing", "--filter",
            "SystemTerminalChild",
        ]
        var variables = ProcessInfo.processInfo.environment
        variables["RELAY_TERMINAL_CHILD"] = "1"
        // Its backtraces take longer than all else.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        let texts = arguments.map { strdup($0) } + [nil]
        let environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in texts + environment { free(text) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, "/bin/sh", &actions, &attributes, texts, environment)
        if error != 0 { throw TerminalError("Could not start a shell: \(error).") }
        return child
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            state.wait { $0.isRead ? () : nil }
            let count = Foundation.read(main, &buffer, buffer.count)
            if count <= 0 { return state.update { $0.isOver = true } }
            let answers = state.update { state -> [UInt8] in
                state.terminal.write(Array(buffer[..<count]))
                defer { state.terminal.answers = [] }
                return state.terminal.answers
            }
            if !answers.isEmpty { write(answers) }
        }
    }

    /// From here on nobody takes what is written, but for what is being read now.
    func stopReading() { state.update { $0.isRead = false } }

    func goOnReading() { state.update { $0.isRead = true } }

    private func write(_ bytes: [UInt8]) { _ = Foundation.write(main, bytes, bytes.count) }

    func type(_ text: String) { write(Array(text.utf8)) }

    func resize(_ size: Size) {
        state.withLock { $0.terminal.resize(size) }
        var window = winsize(
            ws_row: UInt16(size.height), ws_col: UInt16(size.width), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(main, UInt(TIOCSWINSZ), &window)
    }

    var terminal: FakeTerminal { state.withLock { $0.terminal } }

    /// The terminal's settings, as text to compare.
    var settings: String {
        var settings = termios()
        tcgetattr(main, &settings)
        let flags = [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
        return withUnsafeBytes(of: settings.c_cc) { "\(flags) \(Array($0))" }
    }

    /// Waits for text on the screen.
    /// - Returns: the screen then.
    @discardableResult
    func await(_ text: String) throws -> FakeTerminal {
        let found = state.wait(milliseconds: .testDeadlineMilliseconds) { state -> FakeTerminal? in
            state.terminal.text.contains(text) ? state.terminal : nil
        }
        if let found { return found }
        throw TerminalError("«\(text)» did not come; there is: \(terminal.text)")
    }

    /// Of the program, which shows it.
    func programNumber() throws -> pid_t {
        let text = try self.await("pid=").text
        let digits = text.components(separatedBy: "pid=")[1].prefix { $0.isNumber }
        return pid_t(digits) ?? 0
    }
}
