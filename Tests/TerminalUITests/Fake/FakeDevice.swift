import Threads

@testable import TerminalUI

/// A device in memory, with a fake terminal on its other side. Everything happens at once, on the caller's thread.
final class FakeDevice: TerminalDevice {
    private struct State {
        var terminal: FakeTerminal
        var receive: (@Sendable (TerminalNotice) -> Void)?
        var farewell: [UInt8] = []
        var isSuspended = false
        /// What each call has written.
        var writes: [[UInt8]] = []
    }

    private let state: Lock<State>

    init(_ terminal: FakeTerminal) { state = Lock(State(terminal: terminal)) }

    convenience init(_ size: Size) { self.init(FakeTerminal(size)) }

    var terminal: FakeTerminal { state.withLock { $0.terminal } }
    var writes: [[UInt8]] { state.withLock { $0.writes } }
    var isOpen: Bool { state.withLock { $0.receive != nil } }
    var size: Size { state.withLock { $0.terminal.size } }

    func open(_ receive: @escaping @Sendable (TerminalNotice) -> Void) {
        state.withLock { $0.receive = receive }
    }

    func write(_ bytes: [UInt8]) {
        let answers = state.withLock { state -> [UInt8] in
            if state.receive == nil || state.isSuspended { return [] }
            state.writes.append(bytes)
            state.terminal.write(bytes)
            defer { state.terminal.answers = [] }
            return state.terminal.answers
        }
        if !answers.isEmpty { say(.bytes(answers)) }
    }

    func setFarewell(_ bytes: [UInt8]) { state.withLock { $0.farewell = bytes } }

    func suspend() {
        state.withLock { state in
            state.terminal.write(state.farewell)
            state.isSuspended = true
        }
    }

    /// After ``suspend()``.
    func resume() {
        state.withLock { $0.isSuspended = false }
        say(.resumed)
    }

    func close() {
        state.withLock { state in
            if state.receive == nil { return }
            state.terminal.write(state.farewell)
            state.receive = nil
        }
    }

    func say(_ notice: TerminalNotice) {
        let receive = state.withLock { $0.receive }
        receive?(notice)
    }

    /// Keys as they are sent; `␛` for ESC.
    func type(_ text: String) {
        say(.bytes(text.unicodeScalars.flatMap { $0 == "␛" ? [0x1B] : Array(String($0).utf8) }))
        say(.quiet)
    }

    func resize(_ size: Size) {
        state.withLock { $0.terminal.resize(size) }
        say(.resized)
    }
}
