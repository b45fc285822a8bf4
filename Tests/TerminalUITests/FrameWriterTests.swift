import BoundedTesting
import Foundation
import Testing

@testable import TerminalUI

@Suite(.bounded) struct FrameWriterTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["RELAY_TERMINAL_ROUNDS"].flatMap(Int.init) ?? 40
    private static let seed =
        ProcessInfo.processInfo.environment["RELAY_TERMINAL_SEED"].flatMap(UInt64.init)

    private func forSeeds(_ body: (UInt64) throws -> Void) rethrows {
        if let seed = Self.seed { return try body(seed) }
        for _ in 0..<Self.rounds { try body(.random(in: 0 ... .max)) }
    }

    /// What differs between the screen and the buffer, first place only.
    private func difference(
        _ terminal: FakeTerminal, _ buffer: CellBuffer, _ colors: ColorDepth,
        sparing isSpared: (Character) -> Bool = { _ in false }
    ) -> String? {
        for row in 0..<buffer.size.height {
            for column in 0..<buffer.size.width {
                let index = row * buffer.size.width + column
                let cell = buffer.cells[index]
                let left = cell.glyph == .continuation ? buffer.cells[index - 1] : cell
                if isSpared(buffer.graphemes.character(left.glyph)) { continue }
                var style = left.style
                style.foreground = style.foreground.reduced(to: colors)
                style.background = style.background.reduced(to: colors)
                let expected = FakeTerminal.FakeCell(
                    text: buffer.graphemes.character(cell.glyph),
                    isRight: cell.glyph == .continuation, style: style)
                if terminal.cells[index] != expected {
                    return "(\(column), \(row)): \(terminal.cells[index]), not \(expected)"
                }
            }
        }
        return nil
    }

    /// Invariants 1 and 2.
    @Test(arguments: [ColorDepth.none, .ansi16, .palette256, .trueColor], [false, true])
    func theScreenIsTheBuffer(_ colors: ColorDepth, _ isSynchronized: Bool) {
        forSeeds { seed in
            var session = RandomSession(seed: seed)
            var terminal = FakeTerminal(session.buffer.size)
            if session.random.below(2) == 0 { terminal.write(Array("\u{1B}[?7l".utf8)) }
            var writer = FrameWriter(colors: colors, isSynchronized: isSynchronized)
            for frame in 0..<30 {
                if session.step() { terminal.resize(session.buffer.size) }
                terminal.write(writer.frame(session.buffer, cursor: session.cursor))
                let cursor = session.cursor.flatMap {
                    session.buffer.bounds.contains($0) ? $0 : nil
                }
                let place = Position(column: terminal.cursor.column, row: terminal.cursor.row)
                let found =
                    difference(terminal, session.buffer, colors) ?? terminal.mistakes.first
                    ?? (terminal.isCursorShown == (cursor != nil) ? nil : "cursor shown or not")
                    ?? (cursor == nil || cursor == place ? nil : "cursor at \(place)")
                    ?? (terminal.modes[2026] == true ? "frame not ended" : nil)
                if let found {
                    Issue.record("RELAY_TERMINAL_SEED=\(seed), frame \(frame): \(found)")
                    return
                }
                #expect(writer.frame(session.buffer, cursor: session.cursor).isEmpty)
            }
        }
    }

    /// Invariant 4.
    @Test func aTerminalWithoutGraphemesSpoilsOnlyTheirCells() {
        forSeeds { seed in
            var session = RandomSession(seed: seed)
            var terminal = FakeTerminal(session.buffer.size, .scalars)
            terminal.write(Array("\u{1B}[?7l".utf8))
            var writer = FrameWriter(colors: .trueColor)
            for frame in 0..<30 {
                if session.step() { terminal.resize(session.buffer.size) }
                terminal.write(writer.frame(session.buffer))
                let found = difference(terminal, session.buffer, .trueColor) { $0.isDisputed }
                if let found {
                    Issue.record("RELAY_TERMINAL_SEED=\(seed), frame \(frame): \(found)")
                    return
                }
            }
        }
    }

    private func bytes(
        _ first: [String], _ second: [String], width: Int = 20,
        synchronized: Bool = false
    ) -> String {
        let table = GraphemeTable()
        var writer = FrameWriter(colors: .trueColor, isSynchronized: synchronized)
        var bytes: [UInt8] = []
        for rows in [first, second] {
            var buffer = CellBuffer(Size(width: width, height: rows.count), table)
            for (row, text) in rows.enumerated() {
                let place = Position(column: 0, row: row)
                buffer.write(text, at: place, style: .plain, clip: buffer.bounds)
            }
            bytes = writer.frame(buffer)
        }
        return String(decoding: bytes, as: UTF8.self)
            .replacingOccurrences(of: "\u{1B}", with: "␛")
            .replacingOccurrences(of: "\r", with: "␍").replacingOccurrences(of: "\u{8}", with: "␈")
    }

    /// Invariant 3.
    @Test func onlyWhatHasChangedIsWritten() {
        #expect(bytes(["one", "two", "three"], ["one", "2wo", "three"]) == "␛[2H2")
        #expect(bytes(["abcdefghij"], ["abXdefghij"]) == "␛[3GX")
        // Two unchanged cells are shorter than a move, ten are not.
        #expect(bytes(["abcdefghijklmnop"], ["XbcYefghijklmnoZ"]) == "␍XbcY␛[16GZ")
        // A shorter text: the rest is erased, or a few blanks.
        #expect(bytes(["abcdefghij"], ["abc"]) == "␛[4G␛[K")
        #expect(bytes(["abcd"], ["ab"]) == "␈␈  ")
        #expect(bytes(["日本語"], ["日文語"]) == "␛[3G文")
        // The cursor is set anew after a flag, and the rest of the row is written.
        #expect(bytes(["🇩🇪 x"], ["🇫🇷 x"]) == "␍  ␍🇫🇷␛[3G x␛[K")
        #expect(
            bytes(["a", "b"], ["c", "b"], synchronized: true) == "␛[?2026h␛[Hc␛[?2026l")
        #expect(bytes(["a"], ["a"], synchronized: true) == "")
    }

    @Test func theCursorAloneMoves() {
        var writer = FrameWriter(colors: .none)
        let buffer = CellBuffer(Size(width: 9, height: 3), GraphemeTable())
        _ = writer.frame(buffer)
        let bytes = [Position(column: 3, row: 1), Position(column: 2, row: 1), nil].map {
            String(decoding: writer.frame(buffer, cursor: $0), as: UTF8.self)
        }
        #expect(bytes == ["\u{1B}[2;4H\u{1B}[?25h", "\u{8}", "\u{1B}[?25l"])
    }

    @Test func stylesAreWrittenShort() {
        func change(_ from: Style?, _ to: Style) -> String {
            var bytes = ControlBytes()
            bytes.appendStyle(from: from, to: to)
            return String(decoding: bytes.bytes, as: UTF8.self).replacingOccurrences(
                of: "\u{1B}", with: "␛")
        }
        let bold = Style(attributes: .bold)
        #expect(change(.plain, bold) == "␛[1m" && change(bold, .plain) == "␛[m")
        #expect(change(nil, bold) == "␛[0;1m" && change(bold, bold) == "")
        #expect(change(Style(attributes: [.bold, .dim]), bold) == "␛[0;1m")
        let red = Style(foreground: .red, background: Color(red: 1, green: 2, blue: 3))
        #expect(change(.plain, red) == "␛[31;48;2;1;2;3m")
        #expect(change(red, Style(foreground: .gray, background: red.background)) == "␛[90m")
    }

    @Test func controlCharactersAreNeverSent() {
        var writer = FrameWriter(colors: .none)
        var buffer = CellBuffer(Size(width: 3, height: 1), GraphemeTable())
        for code in [0x1B, 0x9B, 0x0A, 0xD800] as [UInt32] {
            buffer.fill(buffer.bounds, with: Glyph(code: code))
            var terminal = FakeTerminal(buffer.size)
            writer.invalidate()
            terminal.write(writer.frame(buffer))
            #expect(terminal.mistakes.isEmpty)
        }
    }

    @Test func colorsAreTheNearest() {
        let orange = Color(red: 255, green: 135, blue: 0)
        #expect(orange.reduced(to: .palette256) == Color(.palette(208)))
        #expect(orange.reduced(to: .trueColor) == orange)
        #expect(orange.reduced(to: .none) == .primary)
        #expect(Color(.palette(196)).reduced(to: .ansi16) == Color(.palette(9)))
        let grey = Color(red: 128, green: 128, blue: 128)
        #expect(grey.reduced(to: .palette256) == Color(.palette(244)))
        #expect(grey.reduced(to: .ansi16) == .gray)
        #expect(Color.red.reduced(to: .ansi16) == .red)
    }
}
