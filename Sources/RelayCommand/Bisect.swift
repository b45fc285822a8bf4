import ArgumentParser
import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// `relay bisect`: since when?
struct Bisect: HistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Find the first event after which a query gives the expected data.",
        usage: """
            relay bisect <dir> --query <document> --expect <json> [--first | --all] [--stops] [<options>]
            relay bisect <dir> [--query <document>] [--first | --all] [<options>] --run <command> ...
            """,
        discussion: """
            Looks at few states: between --from and --to the answer is assumed to change once; if \
            it changes more often, one of the changes is found, not always the first. --first \
            looks at all states in order, in one pass, up to the first that matches; --all prints \
            every change. Works offline and while a server is running; never writes.

            With --run the exit status of a command decides: 0 is good, 125 cannot tell, anything \
            else up to 127 is bad; the result is the first event after which it is bad. Its \
            standard input is the answer of --query, or else all records, one per line; \
            RELAY_SEQUENCE in its environment is the event after which it sees the state. {} in \
            its arguments stands for a copy of the log that ends there, on which "relay serve \
            --data" can run.
            """)

    @OptionGroup var log: LogArguments

    @Option(help: ArgumentHelp("The query.", valueName: "document"))
    var query: String?

    @Option(help: ArgumentHelp("The data that it should give.", valueName: "json"))
    var expect: String?

    @Option(
        name: .customLong("run"), parsing: .remaining,
        help: ArgumentHelp(
            "The command that decides, with its arguments; must come last.", valueName: "command"))
    var trial: [String] = []

    @Flag(help: "Find the first event after which it no longer holds.")
    var stops = false

    @Flag(
        name: .customLong("first"),
        help:
            "Look at all states in order, to find the first change however often it changes."
    )
    var isFirst = false

    @Flag(
        name: .customLong("all"),
        help: "Print every event after which it begins or ceases to hold.")
    var isAll = false

    @Option(
        help: ArgumentHelp("The first state to look at. (default: the first)", valueName: "point"))
    var from: String?

    @Option(
        help: ArgumentHelp("The last state to look at. (default: the last)", valueName: "point"))
    var to: String?

    @Option(help: ArgumentHelp("The query's variables, a JSON object.", valueName: "json"))
    var variables: String?

    @Option(help: ArgumentHelp("Which operation of the document to run.", valueName: "name"))
    var operation: String?

    func validate() throws {
        if trial.isEmpty, query == nil || expect == nil {
            throw ValidationError("Give --query and --expect, or --run.")
        }
        if isFirst, isAll { throw ValidationError("--first and --all exclude each other.") }
        if isAll, stops { throw ValidationError("--all and --stops exclude each other.") }
        if !trial.isEmpty, expect != nil {
            throw ValidationError("--expect and --run exclude each other.")
        }
        if query == nil, variables != nil || operation != nil {
            throw ValidationError("--variables and --operation need --query.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        guard let extent = history.extent else {
            throw CommandFailure(
                "\(log.name) has no event to find: its only state is the one at the end.")
        }
        let first = try from.map(history.sequence) ?? max(extent.lowerBound, history.firstState)
        let last = try history.sequence(of: to ?? "@")
        guard first <= last else {
            throw ValidationError(
                "The first state to look at, after event \(first), is after the last, \(last).")
        }
        let question = try makeQuestion()
        if isAll { return try printAll(in: first...last, of: history, question, output) }
        let result = try question.ask(about: history) { isSo in
            isFirst
                ? try firstTurn(in: first...last, of: history, question, isSo)
                : try search(in: first...last, of: history, isSo)
        }
        if case .found(let sequence) = result, !isFirst, sequence > first + 1 {
            complain(
                """
                Note: not all states were checked. Event \(sequence) is the first only if the \
                answer changes once; --first looks at all of them.
                """)
        }
        switch result {
        case .found(let sequence):
            guard !stops || sequence > first else {
                throw CommandFailure(
                    """
                    After event \(first), the first to look at, \(question.sentence(false)), so it \
                    cannot cease to hold; start later with --from.
                    """)
            }
            try print(sequence...sequence, of: history, output)
        case .among(let range):
            try print(range, of: history, output)
            throw CommandFailure(
                "It is one of these events: the states between them could not be judged.")
        case .never:
            throw CommandFailure(
                isFirst
                    ? "There is no such event: \(question.sentence(stops)) in any state."
                    : """
                    After event \(last), the last to look at, \(question.sentence(stops)). \
                    --first also looks at the states before it.
                    """)
        }
    }

    /// Halves the range again and again.
    private func search(
        in range: ClosedRange<UInt64>, of history: History, _ isSo: (inout Snapshot) throws -> Bool?
    ) throws -> BisectResult {
        try history.bisect(in: range) { state in
            switch try isSo(&state) {
            case nil: .cannotTell
            case let isSo?: isSo != stops ? .holds : .doesNotHold
            }
        }
    }

    /// Goes through the range up to the first state that is so, or, for --stops, is not and the one before was.
    private func firstTurn(
        in range: ClosedRange<UInt64>, of history: History, _ question: any BisectQuestion,
        _ isSo: (inout Snapshot) throws -> Bool?
    ) throws -> BisectResult {
        var result = BisectResult.never
        var last: (sequence: UInt64, isSo: Bool)?
        var isUnclear = false
        try history.scan(in: range, isEveryEventSeen: question.seesEveryEvent) { state in
            guard let now = try isSo(&state) else {
                isUnclear = true
                return true
            }
            if now != stops, !stops || last?.isSo == true {
                let start = last.map { $0.sequence + 1 } ?? range.lowerBound
                result =
                    isUnclear && start < state.sequence
                    ? .among(start...state.sequence) : .found(state.sequence)
                return false
            }
            (last, isUnclear) = ((state.sequence, now), false)
            return true
        }
        return result
    }

    private func printAll(
        in range: ClosedRange<UInt64>, of history: History, _ question: any BisectQuestion,
        _ output: LineOutput
    ) throws {
        var turns: [Turn] = []
        // The first of the states before this one that could not be judged.
        var unclear: UInt64?
        try question.ask(about: history) { isSo in
            try history.scan(in: range, isEveryEventSeen: question.seesEveryEvent) { state in
                guard let now = try isSo(&state) else {
                    unclear = unclear ?? state.sequence
                    return true
                }
                if now != turns.last?.isSo ?? false {
                    let first = unclear ?? state.sequence
                    turns.append(Turn(events: first...state.sequence, isSo: now))
                }
                unclear = nil
                return true
            }
        }
        for turn in turns { try print(turn, of: history, output) }
        if turns.isEmpty {
            throw CommandFailure(
                "There is no such event: \(question.sentence(false)) in any state.")
        }
        if !turns.allSatisfy(\.isCertain) {
            throw CommandFailure(
                "Of consecutive events with a question mark one is the right one: the states "
                    + "between them could not be judged.")
        }
    }

    /// A change of the answer.
    private struct Turn {
        /// The answer changed with one of these.
        let events: ClosedRange<UInt64>
        let isSo: Bool

        var isCertain: Bool { events.count == 1 }
    }

    private func print(_ turn: Turn, of history: History, _ output: LineOutput) throws {
        let word = (turn.isSo ? "so" : "not so") + (turn.isCertain ? "" : "?")
        let events = try history.summaries(in: turn.events)
        while let event = try events.next() {
            if log.json {
                var object = event.bisectJSON
                object["holds"] = .bool(turn.isSo)
                if !turn.isCertain { object["certain"] = false }
                try output.write(JSONValue.object(object).text)
            } else {
                try output.write(word.padded(to: 8) + event.line)
            }
        }
    }

    private func print(
        _ range: ClosedRange<UInt64>, of history: History, _ output: LineOutput
    ) throws {
        let events = try history.summaries(in: range)
        while let event = try events.next() {
            try output.write(log.json ? JSONValue.object(event.bisectJSON).text : event.line)
        }
    }

    private func makeQuestion() throws -> any BisectQuestion {
        let request = try query.map { query in
            var request = GraphQLRequest(query: query, operationName: operation)
            if let variables { request.variables = try parseVariables(variables) }
            return request
        }
        if let request, let expect {
            return ExpectedData(request, try parseExpectation(expect))
        }
        return BisectTrial(TrialCommand(trial), request)
    }

    /// The data that is looked for; of a whole response the data counts.
    private func parseExpectation(_ text: String) throws -> JSONValue {
        do throws(JSONError) {
            let value = try JSONValue(parsing: text)
            return value.object?.keys == ["data"] ? value["data"] ?? value : value
        } catch {
            throw ValidationError("--expect is not JSON. \(error)")
        }
    }
}

extension EventSummary {
    /// The form of `relay bisect --json`.
    fileprivate var bisectJSON: JSONObject {
        JSONObject(present: ["sequence": JSONValue(sequence), "operation": JSONValue(operation)])
    }
}
