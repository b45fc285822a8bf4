import ArgumentParser
import EventStore
import RelayJSON

/// `relay log list`: the events of a log, a line each.
struct LogList: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the events of a log.",
        discussion: "Works offline and beside a running server; never writes.")

    @OptionGroup var log: LogArguments

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Stop after this many: the oldest, or with --reversed the newest."))
    var number: Int?

    @Flag(help: "The newest first.")
    var reversed = false

    @Flag(name: .shortAndLong, help: "Go on with events as they are appended, until Ctrl-C.")
    var follow = false

    @OptionGroup(title: "Selection") var selection: EventSelection

    func validate() throws {
        if let number, number < 1 { throw ValidationError("--number must be at least 1.") }
        if follow, reversed { throw ValidationError("--follow and --reversed exclude each other.") }
        if follow, selection.until != nil {
            throw ValidationError("--follow and --until exclude each other.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let printer = SummaryPrinter(output, selection, json: log.json, limit: number)
        if let range = try selection.range(in: history) {
            let next: () throws -> EventSummary? =
                try reversed
                ? ReversedSummaries(history, in: range).next
                : history.summaries(in: range).next
            while !printer.isDone, let summary = try next() { try printer.print(summary) }
        }
        if follow { try await printer.follow(history) }
    }
}

/// Prints those events that are asked for, and no more than are asked for.
final class SummaryPrinter {
    private let output: LineOutput
    private let selection: EventSelection
    private let json: Bool
    private var left: Int

    init(_ output: LineOutput, _ selection: EventSelection, json: Bool, limit: Int? = nil) {
        self.output = output
        self.selection = selection
        self.json = json
        left = limit ?? .max
    }

    var isDone: Bool { left == 0 }

    func print(_ summary: EventSummary) throws {
        guard selection.contains(summary) else { return }
        try output.write(json ? summary.json.text : summary.line)
        left -= 1
    }

    /// Prints what is appended to a log after it was opened, until Ctrl-C.
    func follow(_ history: History) async throws {
        let stop = StopFlag()
        let summaries = try history.summaries(following: history.last + 1)
        while !isDone, !stop.isSet {
            while !isDone, let summary = try summaries.next() { try print(summary) }
            try output.flush()
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
