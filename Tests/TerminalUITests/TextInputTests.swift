import BoundedTesting
import Testing

@testable import TerminalUI

@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct TextInputTests {
    private struct Form: View {
        @State private var text = ""
        @State private var sent = ""
        var body: some View {
            TextField("name", text: $text) {
                sent = text
                text = ""
            }
            Text(sent)
        }
    }

    @Test func aLineIsWritten() {
        let pilot = Pilot(size: Size(width: 12, height: 3)) { Form() }
        #expect(pilot.text == "name")
        #expect(pilot.cursor == .zero)
        pilot.type("helo")
        pilot.press(.left)
        pilot.type("l")
        #expect(pilot.text == "hello")
        #expect(pilot.cursor == Position(column: 4, row: 0))
        pilot.press(.home)
        pilot.press(.delete)
        pilot.type("J")
        pilot.press(.end)
        pilot.press(.backspace)
        pilot.paste("y\nworld")
        #expect(pilot.text == "Jelly world")
        pilot.press(.enter)
        #expect(pilot.text == "name\nJelly world")
    }

    @Test func aLineThatIsTooLongMoves() {
        let pilot = Pilot(size: Size(width: 6, height: 1)) { Form() }
        pilot.type("abcdefgh")
        #expect(pilot.text == "defgh")
        #expect(pilot.cursor == Position(column: 5, row: 0))
        pilot.press(.home)
        #expect(pilot.text == "abcdef")
        pilot.press(.character("w"), .control)
        pilot.press(.character("k"), .control)
        #expect(pilot.text == "name")
    }

    private func press(
        _ key: KeyPress.Key, _ modifiers: KeyPress.Modifiers, _ caret: inout TextCaret
    ) {
        let isHandled = caret.handle(KeyPress(key, modifiers))
        #expect(isHandled)
    }

    @Test func wordsAreSteps() {
        var caret = TextCaret(at: 0)
        caret.insert("one  two, three")
        for expected in [10, 5, 0] {
            press(.left, .control, &caret)
            #expect(caret.offset == expected)
        }
        for expected in [3, 8, 15] {
            press(.right, .alt, &caret)
            #expect(caret.offset == expected)
        }
        press(.character("w"), .control, &caret)
        #expect(caret.text == "one  two, ")
        press(.character("u"), .control, &caret)
        #expect(caret.text == "" && caret.offset == 0)
    }

    @Test func graphemesAreRemovedAsAWhole() {
        var caret = TextCaret(at: 0)
        caret.insert("a👨‍👩‍👧e")
        caret.insert("\u{301}")
        #expect(caret.offset == 3)
        press(.backspace, [], &caret)
        #expect(caret.text == "a👨‍👩‍👧")
        press(.backspace, [], &caret)
        #expect(caret.text == "a")
    }

    private struct Editor: View {
        @State private var text: String
        init(_ text: String) { _text = State(wrappedValue: text) }
        var body: some View { TextEditor(text: $text) }
    }

    @Test func linesAreWritten() {
        let pilot = Pilot(size: Size(width: 8, height: 3)) { Editor("long line\nab\nanother") }
        #expect(pilot.cursor == Position(column: 7, row: 2))
        pilot.press(.up)
        #expect(pilot.cursor == Position(column: 2, row: 1))
        pilot.press(.up)
        #expect(pilot.cursor == Position(column: 7, row: 0))
        pilot.press(.enter)
        #expect(pilot.text == "long li\nne\nab")
        pilot.press(.backspace)
        pilot.press(.down)
        pilot.press(.down)
        pilot.press(.end)
        pilot.press(.enter)
        pilot.type("end")
        #expect(pilot.text == "ab\nanother\nend")
    }

    /// Random keys in a field and in an editor: the text is what a model has, and nothing traps.
    @Test func randomKeysDoNothingBad() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pilot = Pilot(size: Size(width: 7, height: 4)) {
            VStack {
                Form()
                Editor("")
            }
        }
        let keys: [KeyPress.Key] = [
            .character("a"), .character("界"), .character("👍🏽"), .character("\u{301}"),
            .character(" "),
            .enter, .tab, .backspace, .delete, .up, .down, .left, .right, .home, .end, .pageUp,
            .pageDown, .character("w"), .character("k"), .character("u"),
        ]
        for _ in 0..<3_000 {
            let key = random.pick(keys)
            pilot.press(key, random.below(6) == 0 ? .control : [])
            if random.below(50) == 0 {
                pilot.resize(
                    to: Size(width: random.below(12), height: random.below(6)))
            }
        }
        pilot.resize(to: Size(width: 7, height: 4))
        #expect(pilot.cursor != nil, "seed \(seed)")
    }

    /// A field that comes when it is asked for, at the end.
    private struct Asking: View {
        @State private var isAsking = false
        @State private var answer = ""

        var body: some View {
            Group {
                Button("first \(answer)") { answer = "" }
                Button("last") {}
                if isAsking {
                    TextField("?", text: $answer, onCommit: { isAsking = false }).takesFocus()
                }
            }
            .onKey("a") { isAsking = true }
        }
    }

    @Test func aFieldThatTakesTheFocusIsWrittenInAtOnce() {
        let pilot = Pilot { Asking() }
        pilot.press("a")
        pilot.type("abc")
        #expect(pilot.text == "first abc\nlast\nabc")
        // It takes the focus when it comes, and not again.
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text == "first\nlast\n?")
        pilot.press(.tab, .shift)
        pilot.press(.enter)
        #expect(pilot.text == "first\nlast")
    }
}
