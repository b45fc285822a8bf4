import BoundedTesting
import Testing

@testable import TerminalUI

/// Lists whose rows are changed by others, or change themselves, while somebody works in them.
@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct ChangingRowsTests {
    // MARK: Rows that become others

    private struct SwitchRow: View {
        let id: Int
        @State private var isDone = false
        var body: some View {
            Group { if isDone { Text("done \(id)") } else { Text("open \(id)") } }
                .onKey(" ") { isDone.toggle() }
        }
    }

    private struct EditRow: View {
        let id: Int
        @State private var isEdited = false
        @State private var text = ""
        var body: some View {
            Group {
                if isEdited {
                    TextField("", text: $text, onCommit: { isEdited = false })
                } else {
                    Text("row \(id) \(text)")
                }
            }
            .onKey("e") { isEdited = true }
        }
    }

    @Test func aRowWithoutControlsWhoseContentIsAnotherStillHearsKeys() {
        let pilot = Pilot { List([Item(id: 0), Item(id: 1)]) { SwitchRow(id: $0.id) } }
        pilot.press(" ")
        pilot.press(" ")
        pilot.press(" ")
        #expect(pilot.text == "done 0\nopen 1")
        pilot.press(.down)
        pilot.press(" ")
        #expect(pilot.text == "done 0\ndone 1")
    }

    @Test func aRowThatWasEditedInPlaceStillHearsKeys() {
        let pilot = Pilot { List([Item(id: 0), Item(id: 1)]) { EditRow(id: $0.id) } }
        pilot.press("e")
        pilot.type("Z")
        pilot.press(.enter)
        #expect(pilot.text == "row 0 Z\nrow 1")
        pilot.press(.down)
        pilot.press("e")
        pilot.type("Y")
        pilot.press(.enter)
        #expect(pilot.text == "row 0 Z\nrow 1 Y")
    }

    // MARK: Rows that come, go and move

    private struct Item: Identifiable {
        let id: Int
    }

    private final class Model {
        var ids: [Int]
        var pressed: [Int] = []
        init(_ ids: some Sequence<Int>) { self.ids = Array(ids) }
    }

    private struct Rows: View {
        let model: Model
        @State private var round = 0

        var body: some View {
            let _ = round
            List(model.ids.map(Item.init)) { item in
                Button("row \(item.id)") { model.pressed.append(item.id) }
            }
            .onKey("u") { round += 1 }
        }
    }

    private func rows(_ model: Model) -> Pilot {
        Pilot(size: Size(width: 10, height: 5)) { Rows(model: model) }
    }

    /// The row with the focus, as it is on the screen.
    private func focusedRow(_ pilot: Pilot) -> String? {
        guard let buffer = pilot.buffer else { return nil }
        return (0..<buffer.size.height).first {
            buffer[Position(column: 0, row: $0)].style.attributes.contains(.inverse)
        }.map { buffer.text(ofRow: $0) }
    }

    @Test func theFocusedRowStaysOnTheScreenWhenRowsComeAboveIt() {
        let model = Model(0..<20)
        let pilot = rows(model)
        pilot.press(.down)
        model.ids.insert(contentsOf: 100..<110, at: 1)
        pilot.press("u")
        // It keeps its line.
        #expect(pilot.text == "row 109\nrow 1\nrow 2\nrow 3\nrow 4")
        #expect(focusedRow(pilot) == "row 1")
        pilot.press(.enter)
        #expect(model.pressed == [1])
    }

    @Test func aListStaysWhereItIsWhenItsTopRowMovesAway() {
        let model = Model(0..<20)
        let pilot = rows(model)
        pilot.press(.down)
        model.ids = Array(1..<20) + [0]
        pilot.press("u")
        #expect(pilot.text == "row 1\nrow 2\nrow 3\nrow 4\nrow 5")
        #expect(focusedRow(pilot) == "row 1")
    }

    @Test func theFocusedRowIsFollowedWhereItMoves() {
        let model = Model(0..<20)
        let pilot = rows(model)
        pilot.press(.down)
        model.ids = [0] + (2..<20) + [1]
        pilot.press("u")
        #expect(focusedRow(pilot) == "row 1")
        pilot.press(.up)
        #expect(focusedRow(pilot) == "row 19")
    }

    @Test func whenTheFocusedRowIsRemovedTheOneInItsPlaceHasTheFocus() {
        let model = Model(0..<20)
        let pilot = rows(model)
        for _ in 0..<10 { pilot.press(.down) }
        #expect(focusedRow(pilot) == "row 10")
        model.ids.removeAll { $0 == 10 }
        pilot.press("u")
        #expect(focusedRow(pilot) == "row 11")
    }

    /// The wheel has left it behind: another one has the focus, which can be seen.
    @Test func whenAFocusedRowIsRemovedThatNobodySeesOneThatIsSeenHasTheFocus() {
        let model = Model(0..<20)
        let pilot = rows(model)
        for _ in 0..<10 { pilot.press(.down) }
        let top = Position(column: 0, row: 0)
        for _ in 0..<5 { pilot.handle(.mouse(MouseEvent(.scroll(-4), at: top))) }
        #expect(focusedRow(pilot) == nil)
        model.ids.removeAll { $0 == 10 }
        pilot.press("u")
        #expect(focusedRow(pilot) != nil)
    }

    /// How often ids were read.
    private final class Reads {
        var count = 0
    }

    private struct CountedItem {
        let number: Int
        let reads: Reads
        var id: Int {
            reads.count += 1
            return number
        }
    }

    private struct CountedRows: View {
        let reads: Reads
        @State private var items: [Int]

        init(_ reads: Reads, _ count: Int) {
            self.reads = reads
            _items = State(wrappedValue: Array(0..<count))
        }

        var body: some View {
            List {
                ForEach(items.map { CountedItem(number: $0, reads: reads) }, id: \.id) {
                    Button("row \($0.number)") {}
                }
            }
            .onKey("d") { items.removeFirst() }
        }
    }

    @Test func removingTheFocusedRowCostsNotWhatTheListHas() {
        func cost(_ count: Int) -> Int {
            let reads = Reads()
            let pilot = Pilot(size: Size(width: 10, height: 5)) { CountedRows(reads, count) }
            let before = reads.count
            pilot.press("d")
            #expect(pilot.text.hasPrefix("row 1\n"))
            return reads.count - before
        }
        #expect(cost(100_000) < 10_000)
    }
}
