import BoundedTesting
import Testing

@testable import TerminalUI

@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct ListTests {
    private struct Item: Identifiable {
        let id: Int
    }

    private final class Model {
        var items: [Item]
        var made: [Int] = []
        init(_ count: Int) { items = (0..<count).map(Item.init) }
    }

    private struct Rows: View {
        let model: Model
        @State private var round = 0

        var body: some View {
            let _ = round
            List(model.items) { item in
                let _ = model.made.append(item.id)
                Text("row \(item.id)")
            }
            .onKey("r") { round += 1 }
        }
    }

    private func focusedRow(_ pilot: Pilot) -> String? {
        guard let buffer = pilot.buffer else { return nil }
        return (0..<buffer.size.height).first {
            buffer[Position(column: 0, row: $0)].style.attributes.contains(.inverse)
        }.map(buffer.text(ofRow:))
    }

    @Test func onlyRowsThatCanBeSeenAreMade() {
        let model = Model(10_000)
        let pilot = Pilot(size: Size(width: 20, height: 5)) { Rows(model: model) }
        #expect(pilot.text == "row 0\nrow 1\nrow 2\nrow 3\nrow 4")
        #expect(Set(model.made).count == 5)
        #expect(focusedRow(pilot) == "row 0")
        model.made = []
        pilot.press(.end)
        #expect(pilot.text == "row 9995\nrow 9996\nrow 9997\nrow 9998\nrow 9999")
        #expect(focusedRow(pilot) == "row 9999")
        #expect(Set(model.made).count == 5)
        pilot.press(.up)
        #expect(focusedRow(pilot) == "row 9998")
        pilot.press(.home)
        #expect(focusedRow(pilot) == "row 0")
        pilot.press(.pageDown)
        #expect(focusedRow(pilot) == "row 4")
        pilot.press(.down)
        #expect(pilot.text == "row 1\nrow 2\nrow 3\nrow 4\nrow 5")
        pilot.press(.pageUp)
        #expect(focusedRow(pilot) == "row 1")
    }

    /// A key costs what it costs in a short list: so many rows are made, and so many views evaluated.
    @Test func aKeyCostsTheSameInALongList() {
        var made: [Int] = []
        for count in [100, 10_000] {
            let model = Model(count)
            let pilot = Pilot(size: Size(width: 20, height: 10)) { Rows(model: model) }
            model.made = []
            for _ in 0..<50 { pilot.press(.down) }
            #expect(focusedRow(pilot) == "row 50")
            made.append(model.made.count)
        }
        #expect(made[0] == made[1] && made[0] == 41)
    }

    @Test func theFocusStaysWithItsRow() {
        let model = Model(20)
        let pilot = Pilot(size: Size(width: 20, height: 5)) { Rows(model: model) }
        for _ in 0..<3 { pilot.press(.down) }
        model.items.insert(Item(id: 100), at: 0)
        model.items.remove(at: 2)
        pilot.press("r")
        #expect(pilot.text == "row 100\nrow 0\nrow 2\nrow 3\nrow 4")
        #expect(focusedRow(pilot) == "row 3")
        // Its row is gone: the one in its place has it.
        model.items.removeAll { $0.id == 3 }
        pilot.press("r")
        #expect(focusedRow(pilot) == "row 4")
        model.items = []
        pilot.press("r")
        #expect(pilot.text == "" && focusedRow(pilot) == nil)
        model.items = [Item(id: 7)]
        pilot.press("r")
        #expect(focusedRow(pilot) == "row 7")
    }

    @Test func aListThatShrinksShowsItsEnd() {
        let model = Model(100)
        let pilot = Pilot(size: Size(width: 20, height: 4)) { Rows(model: model) }
        pilot.press(.end)
        model.items.removeLast(95)
        pilot.press("r")
        #expect(pilot.text == "row 1\nrow 2\nrow 3\nrow 4")
        pilot.resize(to: Size(width: 20, height: 8))
        #expect(pilot.text == "row 0\nrow 1\nrow 2\nrow 3\nrow 4")
    }

    private struct Controls: View {
        let count: Int
        @State private var log = ""

        var body: some View {
            VStack {
                Text(log)
                List {
                    Text("head")
                    ForEach(Array(0..<count), id: \.self) { number in
                        HStack {
                            Button("a\(number)") { log += "a\(number)" }
                            Button("b\(number)") { log += "b\(number)" }
                        }
                        .onKey("x") { log += "x\(number)" }
                    }
                }
                Button("below") { log += "!" }
            }
        }
    }

    @Test func keysGoToTheControlsOfARow() {
        let pilot = Pilot(size: Size(width: 20, height: 8)) { Controls(count: 3) }
        pilot.press(.down)
        pilot.press(.right)
        pilot.press(.enter)
        pilot.press(.down)
        pilot.press(.enter)
        pilot.press("x")
        #expect(pilot.text.hasPrefix("b0b1x1\n"))
        pilot.press(.left)
        pilot.press(.enter)
        // Tab leaves the row, and with it the list.
        pilot.press(.tab)
        pilot.press(.tab)
        pilot.press(.enter)
        #expect(pilot.text.hasPrefix("b0b1x1a1!\n"))
        pilot.press(.tab, .shift)
        pilot.press("x")
        #expect(pilot.text.hasPrefix("b0b1x1a1!x1\n"))
    }

    @Test func rowsMayHaveSeveralLines() {
        let pilot = Pilot(size: Size(width: 6, height: 5)) {
            List(Array(0..<10).map(Item.init)) { Text("\($0.id)\n\($0.id).") }
        }
        #expect(pilot.text == "0\n0.\n1\n1.\n2")
        pilot.press(.down)
        pilot.press(.down)
        #expect(pilot.text == "0.\n1\n1.\n2\n2.")
        pilot.press(.end)
        #expect(pilot.text == "7.\n8\n8.\n9\n9.")
        pilot.press(.up)
        pilot.press(.up)
        #expect(pilot.text == "7\n7.\n8\n8.\n9")
    }

    @Test func theWheelScrolls() {
        let model = Model(10)
        let pilot = Pilot(size: Size(width: 20, height: 4)) { Rows(model: model) }
        pilot.handle(.mouse(MouseEvent(.scroll(3), at: .zero)))
        #expect(pilot.text == "row 3\nrow 4\nrow 5\nrow 6")
        pilot.handle(.mouse(MouseEvent(.scroll(30), at: .zero)))
        #expect(pilot.text == "row 6\nrow 7\nrow 8\nrow 9")
        pilot.handle(.mouse(MouseEvent(.press(button: 0), at: Position(column: 2, row: 1))))
        #expect(focusedRow(pilot) == "row 7")
    }

    @Test func elementsWithOneIdAreAllShown() {
        let pilot = Pilot(size: Size(width: 20, height: 6)) {
            List { ForEach([1, 2, 1, 1], id: \.self) { Text("\($0)") } }
        }
        #expect(pilot.text == "1\n2\n1\n1")
        let eager = Pilot(size: Size(width: 20, height: 6)) {
            VStack { ForEach([1, 2, 1, 1], id: \.self) { Text("\($0)") } }
        }
        #expect(eager.text == "1\n2\n1\n1")
    }
}
