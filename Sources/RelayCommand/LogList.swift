import ArgumentParser
import Console
import EventStore
import RelayJSON

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// `relay log list`: the events of a log, a line each.
struct LogList: ServedHistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the events of a log.",
        discussion: """
            Works offline and while a server is running, on its directory or its URL, and on a \
            journal; never writes.
            """)

    @OptionGroup var log: LogArguments

    @OptionGroup var server: ServerOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Stop after this many: the oldest, or with --reversed the newest."))
    var number: Int?

    @Flag(help: "The newest first.")
    var reversed = false

    @Flag(name: .shortAndLong, help: "Keep listing events as they are appended, until Ctrl-C.")
    var follow = false

    @Option(
        name: [.customShort("T"), .long],
        help: ArgumentHelp(
            """
            Print this for each event: '{sequence:8} {operation} {variables.input.id}'. Fields are \
            those of --where.
            """, valueName: "text"))
    var template: String?

    @OptionGroup(title: "Selection") var selection: EventSelection

    func validate() throws {
        if template != nil, log.json {
            throw ValidationError("--template and --json exclude each other.")
        }
        _ = try makeForm()
        if template != nil { try log.checkIsDirectory("--template needs") }
        if try selection.makeFilter().condition?.hasPatterns == true {
            try log.checkIsDirectory("\"matches\" in --where needs")
        }
        if reversed, selection.since != nil {
            try log.checkIsDirectory("--reversed and --since together need")
        }
        if let number, number < 1 { throw ValidationError("--number must be at least 1.") }
        if follow, reversed { throw ValidationError("--follow and --reversed exclude each other.") }
        if follow, selection.until != nil {
            throw ValidationError("--follow and --until exclude each other.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let printer = SummaryPrinter(
            output, filter: try selection.makeFilter(), form: try makeForm(), limit: number)
        if let range = try selection.range(in: history) {
            let next: () throws -> EventSummary? =
                try reversed
                ? ReversedSummaries(history, in: range).next
                : history.summaries(in: range).next
            while !printer.isDone, let summary = try next() { try printer.print(summary) }
        }
        if follow { try await printer.follow(history, at: LogPlace(log.directory)) }
    }

    var credentials: ServerCredentials { ServerCredentials(server) }

    func run(on history: ServedHistory, printingTo output: LineOutput) async throws {
        let selected = try selection.parameters(isBackward: reversed)
        try await history.check(selection.namedEvents())
        if selection.isOfNothing { return }
        let limit = number ?? .max
        var (count, last) = try await history.print(
            "events", selected, limit: limit, reversed: reversed, to: output)
        guard follow else { return }
        // Everything is printed by then; an answer may be long in coming.
        Task {
            _ = await StopSignals().first()
            leave()
        }
        let others = selected.filter { $0.name != "after" }
        while count < limit {
            try await Task.sleep(for: .milliseconds(500))
            let after = (name: "after", value: String(last ?? 0))
            let more = try await history.print(
                "events", others + [after], limit: limit - count, to: output)
            count += more.lines
            last = more.lastEvent ?? last
        }
    }

    private func makeForm() throws -> SummaryForm {
        guard let template else { return log.json ? .json : .columns }
        do throws(EventTextError) {
            return .template(try EventTemplate(parsing: template))
        } catch {
            throw ValidationError("--template cannot be parsed. \(error)")
        }
    }
}

/// `ParsableCommand` has an `exit` of its own.
private func leave() -> Never { exit(0) }

/// How an event is printed in a list.
enum SummaryForm {
    case columns
    case json
    case template(EventTemplate)

    func text(of event: EventSummary) -> String {
        switch self {
        case .columns: event.line
        case .json: event.json.text
        case .template(let template): template.text(for: event)
        }
    }
}

/// Prints those events that are asked for, and no more than are asked for.
final class SummaryPrinter {
    private let output: LineOutput
    private let filter: EventFilter
    private let form: SummaryForm
    private var left: Int

    init(
        _ output: LineOutput, filter: EventFilter, form: SummaryForm,
        limit: Int? = nil
    ) {
        self.output = output
        self.filter = filter
        self.form = form
        left = limit ?? .max
    }

    var isDone: Bool { left == 0 }

    func print(_ event: EventSummary) throws {
        guard filter.admits(event) else { return }
        try output.write(form.text(of: event))
        left -= 1
    }

    /// Prints what is appended to a log after it was opened, until Ctrl-C.
    func follow(_ history: History, at place: LogPlace) async throws {
        let stop = StopFlag()
        let summaries = try history.summaries(following: history.last + 1)
        var follower: JournalFollower?
        if case .journal(let address) = place {
            follower = try JournalFollower(address, from: history.last)
        }
        while !isDone, !stop.isSet {
            try follower?.look()
            while !isDone, let summary = try summaries.next() { try print(summary) }
            try output.flush()
            try await Task.sleep(for: .milliseconds(50))
        }
    }
}
