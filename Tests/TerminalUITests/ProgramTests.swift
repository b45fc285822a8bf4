import BoundedTesting
import Foundation
import Testing
import Threads

@testable import TerminalUI

/// Programs on a terminal in memory.
@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct ProgramTests {
    /// What a program writes, and a keyboard for it.
    private final class Terminal: TerminalDevice {
        private struct State {
            var size = Size(width: 20, height: 5)
            var receive: (@Sendable (TerminalNotice) -> Void)?
            var written: [UInt8] = []
            var isClosed = false
        }

        private let state = Lock(State())

        var size: Size { state.withLock { $0.size } }
        var isClosed: Bool { state.withLock { $0.isClosed } }
        var text: String { state.withLock { String(decoding: $0.written, as: UTF8.self) } }
        var byteCount: Int { state.withLock { $0.written.count } }

        func open(_ receive: @escaping @Sendable (TerminalNotice) -> Void) throws {
            state.withLock { $0.receive = receive }
            // What every terminal answers.
            receive(.bytes(Array("\u{1B}[?62c".utf8)))
        }

        func write(_ bytes: [UInt8]) { state.withLock { $0.written += bytes } }
        func setFarewell(_ bytes: [UInt8]) {}
        func suspend() {}
        func close() { state.withLock { $0.isClosed = true } }

        /// On a thread of its own, as terminals do it: it may have to wait for the program.
        func say(_ notice: TerminalNotice) async {
            let receive = state.withLock { $0.receive }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    receive?(notice)
                    continuation.resume()
                }
            }
        }

        func type(_ text: String) async { await say(.bytes(Array(text.utf8))) }

        func resize(to size: Size) async {
            state.withLock { $0.size = size }
            await say(.resized)
        }
    }

    @MainActor private final class Presses {
        var count = 0
    }

    private struct Counter: View {
        let presses: Presses
        @State private var count = 0
        @EnvironmentValue(\.leave) private var leave

        var body: some View {
            VStack {
                Button("count \(count)") {
                    count += 1
                    presses.count += 1
                }
                Text("wide enough").frame(maxWidth: .max, alignment: .trailing)
            }
            .onKey("q") { leave() }
        }
    }

    private func run(
        _ presses: Presses = Presses(), _ use: (Terminal) async throws -> Void
    ) async throws -> TerminalProgram.End {
        let terminal = Terminal()
        let session = TerminalSession(terminal, colors: .none)
        let program = Task { @MainActor in
            try await TerminalProgram(Counter(presses: presses), on: session).run()
        }
        try await eventually { terminal.text.contains("count 0") }
        try await use(terminal)
        let end = try await program.value
        #expect(terminal.isClosed)
        return end
    }

    private func eventually(_ condition: () -> Bool) async throws {
        while !condition() {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test func keysAreForTheViews() async throws {
        let end = try await run { terminal in
            await terminal.type("\r")
            try await eventually {
                terminal.text.hasSuffix("1") || terminal.text.contains("1\u{1B}")
            }
            await terminal.type("q")
        }
        #expect(end == .left)
    }

    @Test func controlCLeaves() async throws {
        #expect(try await run { await $0.type("\u{3}") } == .left)
    }

    @Test func aSignalAndALostTerminalEndIt() async throws {
        #expect(try await run { await $0.say(.ended(.signal(15))) } == .signal(15))
        #expect(try await run { await $0.say(.ended(.gone)) } == .disconnected)
    }

    @Test func anotherSizeIsDrawn() async throws {
        _ = try await run { terminal in
            let before = terminal.byteCount
            await terminal.resize(to: Size(width: 30, height: 3))
            try await eventually { terminal.byteCount > before + 10 }
            await terminal.type("q")
        }
    }

    /// Many keys at once are few frames: all are counted.
    @Test func keysThatComeTogetherAreSeenTogether() async throws {
        let presses = Presses()
        _ = try await run(presses) { terminal in
            let before = terminal.byteCount
            await terminal.type(String(repeating: "\r", count: 2_000))
            try await eventually { presses.count == 2_000 }
            #expect(terminal.byteCount - before < 2_000)
            await terminal.type("q")
        }
    }

    private final class Said: Sendable {
        let count = Lock(0)
    }

    /// A terminal that says more than is heard waits.
    @Test func theQueueOfNoticesIsBounded() async throws {
        let queue = NoticeQueue()
        let said = Said()
        Thread.detachNewThread {
            for _ in 0..<3 * NoticeQueue.capacity {
                queue.append(.redraw(.zero))
                said.count.withLock { $0 += 1 }
            }
        }
        try await eventually { said.count.withLock { $0 } == NoticeQueue.capacity }
        #expect(queue.takeAll().count == NoticeQueue.capacity)
        try await eventually { said.count.withLock { $0 } == 2 * NoticeQueue.capacity }
        queue.close()
        try await eventually { said.count.withLock { $0 } == 3 * NoticeQueue.capacity }
        #expect(queue.takeAll().count <= NoticeQueue.capacity)
    }
}
