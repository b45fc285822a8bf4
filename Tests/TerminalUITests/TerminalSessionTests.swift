import Testing
import Threads

@testable import TerminalUI

@Suite struct TerminalSessionTests {
    private final class Notices: Sendable {
        private let list = Lock<[TerminalSession.Notice]>([])
        func append(_ notice: TerminalSession.Notice) { list.withLock { $0.append(notice) } }
        func take() -> [TerminalSession.Notice] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    private func modern() -> FakeDevice {
        var terminal = FakeTerminal(Size(width: 10, height: 2))
        terminal.offeredModes = [2026, 2027]
        terminal.knowsKeyboardProtocol = true
        return FakeDevice(terminal)
    }

    private func buffer(_ text: String, _ size: Size) -> CellBuffer {
        var buffer = CellBuffer(size, GraphemeTable())
        buffer.write(text, at: .zero, style: .plain, clip: buffer.bounds)
        return buffer
    }

    private func isAsFound(_ terminal: FakeTerminal) -> Bool {
        !terminal.isAlternate && terminal.isCursorShown && terminal.keyboardFlags.isEmpty
            && terminal.modes.allSatisfy { [7, 25].contains($0.key) == $0.value }
            && terminal.pen == .plain && terminal.mistakes.isEmpty
    }

    @Test func whatTheTerminalGrantsIsUsedAndTakenBack() throws {
        let device = modern()
        let session = TerminalSession(device, colors: .none, wantsMouse: true)
        try session.start { _ in }
        #expect(device.terminal.isAlternate && device.terminal.keyboardFlags == [5])
        for mode in [2004, 1004, 1002, 1006, 2027] { #expect(device.terminal.modes[mode] == true) }
        session.show(buffer("hello", session.size))
        #expect(device.terminal.text == "hello")
        #expect(
            String(decoding: device.writes.last ?? [], as: UTF8.self).hasPrefix("\u{1B}[?2026h"))
        session.stop()
        #expect(isAsFound(device.terminal) && !device.isOpen)
        session.stop()
    }

    @Test func anOldTerminalIsAskedForNothingMore() throws {
        let device = FakeDevice(Size(width: 10, height: 2))
        let session = TerminalSession(device, colors: .none)
        try session.start { _ in }
        session.show(buffer("hello", session.size))
        #expect(device.terminal.keyboardFlags.isEmpty && device.terminal.modes[2026] == nil)
        #expect(device.terminal.modes[1002] == nil)
        session.stop()
        #expect(isAsFound(device.terminal))
    }

    @Test func aTerminalThatNeverAnswersCanBeLeft() throws {
        var terminal = FakeTerminal(Size(width: 10, height: 2))
        terminal.answersAttributes = false
        let device = FakeDevice(terminal)
        let session = TerminalSession(device, colors: .none)
        try session.start { _ in }
        device.type("x")
        // From another thread than the device's.
        let thread = BlockingThread { session.stop() }
        thread.join()
        #expect(isAsFound(device.terminal))
    }

    @Test func repliesAreNotInput() throws {
        let device = modern()
        let session = TerminalSession(device, colors: .none)
        let notices = Notices()
        try session.start { notices.append($0) }
        #expect(notices.take().isEmpty)
        device.type("a␛[A␛")
        #expect(
            notices.take() == [
                .input(.key("a")), .input(.key(KeyPress(.up))), .input(.key(KeyPress(.escape))),
            ])
    }

    @Test func afterASuspensionAllIsDrawnAgain() throws {
        let device = modern()
        let session = TerminalSession(device, colors: .none)
        let notices = Notices()
        try session.start { notices.append($0) }
        let screen = buffer("hello", session.size)
        session.show(screen)
        session.suspend()
        #expect(isAsFound(device.terminal))
        session.show(buffer("lost", session.size))
        #expect(isAsFound(device.terminal))
        device.resume()
        #expect(notices.take() == [.redraw(Size(width: 10, height: 2))])
        session.show(screen)
        #expect(device.terminal.text == "hello" && device.terminal.keyboardFlags == [5])
        #expect(device.terminal.modes[2027] == true && device.terminal.mistakes.isEmpty)
        session.stop()
        #expect(isAsFound(device.terminal))
    }

    @Test func afterAResizeAllIsDrawnAgain() throws {
        let device = modern()
        let session = TerminalSession(device, colors: .none)
        let notices = Notices()
        try session.start { notices.append($0) }
        session.show(buffer("hello", session.size))
        // There and back again before the next frame.
        device.resize(Size(width: 3, height: 1))
        device.resize(Size(width: 10, height: 2))
        #expect(notices.take().last == .redraw(Size(width: 10, height: 2)))
        session.show(buffer("hello", session.size))
        #expect(device.terminal.text == "hello")
    }

    @Test func theEndIsTold() throws {
        let device = modern()
        let session = TerminalSession(device, colors: .none)
        let notices = Notices()
        try session.start { notices.append($0) }
        device.say(.ended(.gone))
        #expect(notices.take() == [.ended(.gone)])
        let count = device.writes.count
        session.show(buffer("hello", session.size))
        #expect(device.writes.count == count)
        session.stop()
    }
}

@Suite struct TerminalCapabilitiesTests {
    @Test(
        arguments: [
            (["TERM": "xterm-256color", "COLORTERM": "truecolor"], true, ColorDepth.trueColor),
            (["TERM": "xterm-256color"], true, .palette256),
            (["TERM": "xterm-kitty"], true, .trueColor),
            (["TERM": "xterm"], true, .ansi16), (["TERM": "linux"], true, .ansi16),
            (["TERM": "vt100"], true, .none),
            (["TERM": "dumb", "COLORTERM": "truecolor"], false, .none),
            (["TERM": "xterm-256color", "NO_COLOR": "1"], true, .none),
            (["TERM": "xterm-256color", "NO_COLOR": ""], true, .palette256), ([:], false, .none),
        ] as [([String: String], Bool, ColorDepth)])
    func environment(_ variables: [String: String], _ hasScreen: Bool, _ colors: ColorDepth) {
        #expect(
            TerminalCapabilities(environment: variables, isTerminal: true)
                == TerminalCapabilities(hasScreen: hasScreen, colors: colors))
    }

    @Test func aPipeHasNoScreen() {
        let found = TerminalCapabilities(environment: ["TERM": "xterm"], isTerminal: false)
        #expect(found == TerminalCapabilities(hasScreen: false, colors: .none))
    }
}
