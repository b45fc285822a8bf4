import BoundedTesting
import Testing

@testable import TerminalUI

/// A click is for what is seen where it is.
@MainActor @Suite(.bounded, .timeLimit(.minutes(2))) struct MouseTests {
    private final class Log {
        var done: [String] = []
    }

    private func click(_ pilot: Pilot, _ column: Int, _ row: Int) {
        pilot.handle(.mouse(MouseEvent(.press(button: 0), at: Position(column: column, row: row))))
    }

    private func scroll(_ pilot: Pilot, _ lines: Int, _ row: Int) {
        pilot.handle(.mouse(MouseEvent(.scroll(lines), at: Position(column: 0, row: row))))
    }

    @Test func whatIsScrolledAwayIsNotClicked() {
        let log = Log()
        let pilot = Pilot(size: Size(width: 10, height: 3)) {
            VStack {
                Text("header")
                ScrollView {
                    ForEach(0..<5, id: \.self) { number in
                        Button("b\(number)") { log.done.append("b\(number)") }
                    }
                }
            }
        }
        scroll(pilot, 2, 1)
        #expect(pilot.text == "header\nb2\nb3")
        click(pilot, 0, 0)
        #expect(log.done == [])
        click(pilot, 0, 1)
        #expect(log.done == ["b2"])
    }

    @Test func aListsEmptyLinesAndRowsAreWhatIsSeen() {
        let log = Log()
        let pilot = Pilot(size: Size(width: 10, height: 4)) {
            VStack {
                Text("header")
                List {
                    ForEach(0..<20, id: \.self) { number in
                        Button("r\(number)") { log.done.append("r\(number)") }
                    }
                }
            }
        }
        scroll(pilot, 5, 1)
        #expect(pilot.text == "header\nr5\nr6\nr7")
        click(pilot, 0, 2)
        click(pilot, 0, 0)
        #expect(log.done == ["r6"])
        let short = Pilot(size: Size(width: 10, height: 4)) {
            List { ForEach(0..<2, id: \.self) { number in Button("s") { log.done.append("s") } } }
        }
        click(short, 0, 3)
        #expect(log.done == ["r6"])
    }

    @Test func aDialogsBlankCellsAreInFrontOfWhatIsBehind() {
        let log = Log()
        let pilot = Pilot(size: Size(width: 12, height: 5)) {
            ZStack {
                VStack {
                    ForEach(0..<5, id: \.self) { number in
                        Button("behind \(number)") { log.done.append("\(number)") }
                    }
                }
                Button("ok") { log.done.append("ok") }.padding()
            }
        }
        for row in 1..<4 { for column in 1..<7 { click(pilot, column, row) } }
        #expect(log.done.allSatisfy { $0 == "ok" } && log.done.count == 2)
        click(pilot, 0, 0)
        #expect(log.done.last == "0")
    }
}
