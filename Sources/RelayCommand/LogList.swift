import ArgumentParser
import EventStore
import RelayJSON
import RelayStore

/// `relay log list`: the events of a log, a line each.
struct LogList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the events of a log.",
        discussion: "Works offline and beside a running server; never writes.")

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "dir"))
    var directory: String

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() async throws {
        let history = try History(directory)
        guard let extent = history.extent else { return }
        let summaries = try history.summaries(in: extent)
        while let summary = try summaries.next() {
            print(json ? summary.json.text : summary.line)
        }
    }
}

extension EventSummary {
    /// The form of `relay log list --json`.
    var json: JSONValue {
        [
            "sequence": .int(Int64(clamping: sequence)),
            "time": .string(RFC3339.text(microseconds: timeMicroseconds)),
            "kind": .string(kind),
            "operation": operation.map(JSONValue.string) ?? .null,
            "mutationId": mutationID.map { .string($0.description) } ?? .null,
            "records": .array(records.map(JSONValue.string)),
        ]
    }

    /// The same for people, in columns.
    var line: String {
        func column(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        var line = column("\(sequence)", 8)
        line += column(RFC3339.text(microseconds: timeMicroseconds), 29)
        line += column(kind, 12)
        line += column(operation ?? "-", 24)
        let shown = records.prefix(4).joined(separator: " ")
        line += records.count > 4 ? "\(shown) and \(records.count - 4) more" : shown
        if let mutationID { line += "  (\(mutationID))" }
        while line.last == " " { line.removeLast() }
        return line
    }
}
