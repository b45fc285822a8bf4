import Foundation
import Testing
import Threads

@testable import TerminalUI

/// Not a test: the program that ``SystemTerminalTests`` starts in a pseudo-terminal, which is this one again. Its
/// screen says its size and what was pressed; some keys have it end in a certain way.
@Suite struct SystemTerminalChild {
    static let variable = "RELAY_TERMINAL_CHILD"

    @Test(.enabled(if: ProcessInfo.processInfo.environment[variable] != nil))
    func program() throws {
        let messages = Monitor<[TerminalSession.Notice]>([])
        let session = TerminalSession(
            SystemTerminal(input: 0, output: 0), colors: .palette256, wantsMouse: true)
        try session.start { notice in messages.update { $0.append(notice) } }
        var presses = ""
        while true {
            show(session, presses)
            let notice = messages.wait { $0.isEmpty ? nil : $0.removeFirst() }
            switch notice {
            case .redraw: break
            case .ended(.gone): end(session, 77)
            case .ended(.signal(let signal)): end(session, 100 + signal)
            case .input(.key("q")): end(session, 5)
            // Without a word.
            case .input(.key("x")): exit(6)
            case .input(.key("t")): precondition(presses == "never", "as asked")
            case .input(.key("a")): abort()
            case .input(.key("s")): kill(getpid(), SIGSEGV)
            case .input(.key("o")): _ = overflow(0)
            case .input(.key("z")): session.suspend()
            // Draws until it is told to end.
            case .input(.key("f")):
                while messages.withLock({ $0.isEmpty }) {
                    show(session, "f" + (0..<200).map { _ in "\(Int.random(in: 0...9))" }.joined())
                }
            // Hears nothing.
            case .input(.key("h")):
                show(session, presses + "h")
                while true { pause() }
            case .input(.key(let press)):
                if case .character(let key) = press.key { presses.append(key) }
            case .input: break
            }
        }
    }

    @inline(never)
    private func overflow(_ depth: Int) -> Int {
        let numbers = [depth, depth + 1]
        return numbers[depth == -1 ? 1 : 0] == -1 ? 0 : overflow(depth + 1) + numbers[1]
    }

    private func end(_ session: TerminalSession, _ status: Int32) -> Never {
        session.stop()
        exit(status)
    }

    private func show(_ session: TerminalSession, _ presses: String) {
        let size = session.size
        var buffer = CellBuffer(size, GraphemeTable())
        let style = Style(foreground: .green, attributes: .bold)
        buffer.write(
            "pid=\(getpid()) size=\(size.width)x\(size.height) \(presses).", at: .zero,
            style: style, clip: buffer.bounds)
        session.show(buffer, cursor: .zero)
    }
}
