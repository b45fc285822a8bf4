import RelayServer
import RelayTerminal
import TerminalTesting
import Testing

@testable import TodoViews

/// What keys cost, and in bytes what a change of another client costs a terminal.
@MainActor @Suite(.bounded, .timeLimit(.minutes(5)))
struct CostTests {
    /// What a terminal has been told, from one screen of a client to the next.
    private struct Written {
        let pilot: Pilot
        private var writer = FrameWriter(colors: .palette256, isSynchronized: true)

        @MainActor init(_ pilot: Pilot) {
            self.pilot = pilot
            _ = next()
        }

        @MainActor mutating func next() -> String {
            guard let buffer = pilot.buffer else { return "" }
            return String(decoding: writer.frame(buffer, cursor: pilot.cursor), as: UTF8.self)
        }
    }

    @Test func aLetterIsNoWorkForTheList() async throws {
        try await ServedTodos.run { server in
            let pilot = try TodoSession(port: server.port).pilot()
            await pilot.shows("☐ Buy a unicorn")
            await pilot.shows("live")
            pilot.press("a")
            let rounds = TodoRows.roundCount
            pilot.type("Milk")
            #expect(pilot.text.contains("+ Milk"))
            pilot.press(.left)
            pilot.press(.backspace)
            #expect(TodoRows.roundCount == rounds)
            pilot.press(.enter)
            await pilot.shows("☐ Mik")
            #expect(TodoRows.roundCount > rounds)
        }
    }

    @Test func oneRowIsWrittenWhereOneRowIsAnother() async throws {
        try await ServedTodos.run { server in
            let one = try TodoSession(port: server.port).pilot()
            let other = try TodoSession(port: server.port).pilot()
            for pilot in [one, other] {
                await pilot.shows("☐ Buy a unicorn")
                await pilot.shows("live")
            }
            var written = Written(one)
            let frames = one.frameCount
            #expect(written.next() == "")

            other.press(.down)
            other.press("e")
            other.type("s")
            other.press(.enter)
            await one.shows("☐ Buy a unicorns")
            // One letter, in the list's second row.
            let renamed = written.next()
            #expect(
                renamed.wholeMatch(of: /\u{1B}\[\?2026h\u{1B}\[3;\d+H\u{1B}\[ms\u{1B}\[\?2026l/)
                    != nil, "\(renamed.debugDescription)")
            #expect(renamed.utf8.count == 27)
            #expect(one.frameCount == frames + 1)

            other.press(.enter)
            await one.shows("☑ Buy a unicorns")
            // Its box, and how many are done.
            let ticked = written.next()
            #expect(
                ticked
                    == "\u{1B}[?2026h\u{1B}[H\u{1B}[1m2\u{1B}[3H\u{1B}[m☑\u{1B}[?2026l",
                "\(ticked.debugDescription)")
            #expect(ticked.utf8.count == 34)
            #expect(one.frameCount == frames + 2)
        }
    }
}
