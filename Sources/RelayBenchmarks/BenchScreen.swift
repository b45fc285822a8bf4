import ArgumentParser
import RelayJSON
import TerminalUI

/// `relay bench screen`: what a key costs on a list, from the key to the bytes for the terminal.
struct BenchScreen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "screen",
        abstract: "What a key costs on a screen of 120 by 40 with a long list.",
        discussion: """
            From the key to the bytes for the terminal: arrows go from row to row, page keys scroll, letters go into a \
            text field of the view that has the list.
            """)

    @Option(help: "Rows of the list.")
    var rows = 10_000

    @OptionGroup var measure: MeasureOptions

    func validate() throws {
        if !(1...10_000_000).contains(rows) {
            throw ValidationError("--rows is a number from 1 to 10000000.")
        }
    }

    @MainActor func run() async throws {
        // Each comes back to where it began.
        let measures: [(String, [KeyPress])] = [
            ("screen_arrow_us", [KeyPress(.down), KeyPress(.up)]),
            (
                "screen_page_us",
                [.pageDown, .pageDown, .pageUp, .pageUp].map { KeyPress($0) }
            ),
            ("screen_letter_us", ["x", KeyPress(.backspace)]),
        ]
        for (name, keys) in measures {
            let screen = MeasuredScreen(rows: rows, isTyping: keys[0] == "x")
            let microseconds = medianMicroseconds(runs: 9) {
                for key in keys { screen.press(key) }
            }
            let cost = screen.cost(of: keys)
            measure.report(
                name, microseconds / Double(keys.count), "us",
                [
                    "rows": .int(Int64(rows)), "rowsMade": .double(cost.rows),
                    "bytes": .double(cost.bytes),
                ])
        }
    }
}

/// A screen as a program has it, but for the terminal.
@MainActor
private final class MeasuredScreen {
    private let tally = Tally()
    private let graph: ViewGraph
    private let size = Size(width: 120, height: 40)
    private var writer = FrameWriter(colors: .palette256, isSynchronized: true)
    private var byteCount = 0

    init(rows: Int, isTyping: Bool) {
        let rows = (0..<rows).map { ListedRow(id: $0) }
        graph = ViewGraph(ListScreen(rows: rows, isTyping: isTyping, tally: tally))
        draw()
    }

    func press(_ key: KeyPress) {
        graph.handle(.key(key))
        draw()
    }

    private func draw() {
        guard let frame = graph.frame(size) else { return }
        byteCount += writer.frame(frame.buffer, cursor: frame.cursor).count
    }

    /// How many rows were made and how many bytes were written for a key, on average.
    func cost(of keys: [KeyPress]) -> (rows: Double, bytes: Double) {
        let before = (tally.rowCount, byteCount)
        for key in keys { press(key) }
        let count = Double(keys.count)
        return (
            Double(tally.rowCount - before.0) / count, Double(byteCount - before.1) / count
        )
    }
}

private final class Tally {
    var rowCount = 0
}

private struct ListedRow: Identifiable {
    let id: Int
}

private struct ListScreen: View {
    let rows: [ListedRow]
    let isTyping: Bool
    let tally: Tally
    @State private var draft = ""

    var body: some View {
        VStack {
            List(rows) { row in
                let _ = tally.rowCount += 1
                HStack {
                    Image(systemName: row.id.isMultiple(of: 2) ? "checkmark.square" : "square")
                    Text("what is to be done as number \(row.id)")
                }
            }
            if isTyping { TextField("What is to be done?", text: $draft).takesFocus() }
        }
    }
}
