import ArgumentParser
import Console
import EventStore

/// `relay log tail`: the newest events of a log.
struct LogTail: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "List the newest events of a log.",
        discussion: "Works offline and while a server is running; never writes.")

    @OptionGroup var log: LogArguments

    @Option(name: .shortAndLong, help: "How many.")
    var number = 10

    @Flag(name: .shortAndLong, help: "Keep listing events as they are appended, until Ctrl-C.")
    var follow = false

    @OptionGroup(title: "Selection") var selection: EventSelection

    func validate() throws {
        if number < 0 { throw ValidationError("--number must not be negative.") }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let filter = try selection.makeFilter()
        let printer = SummaryPrinter(
            output, filter: filter, form: log.json ? .json : .columns)
        if let range = try selection.range(in: history) {
            let summaries = ReversedSummaries(history, in: range)
            var newest: [EventSummary] = []
            while newest.count < number, let summary = try summaries.next() {
                if filter.admits(summary) { newest.append(summary) }
            }
            for summary in newest.reversed() { try printer.print(summary) }
        }
        if follow { try await printer.follow(history, at: LogPlace(log.directory)) }
    }
}
