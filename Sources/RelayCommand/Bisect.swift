import ArgumentParser
import EventStore
import RelayJSON
import RelayServer
import RelayStore

/// `relay bisect`: since when?
struct Bisect: HistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Find the first event after which a query gives the expected data.",
        usage: """
            relay bisect <dir> --query <document> --expect <json> [--stops] [<options>]
            relay bisect <dir> [--query <document>] [<options>] --run <command> ...
            """,
        discussion: """
            Looks at few states: between --from and --to the answer is taken to change once. Works \
            offline and beside a running server; never writes.

            With --run the exit status of a command decides: 0 is good, 125 cannot tell, anything \
            else up to 127 is bad; found is the first event after which it is bad. On its standard \
            input it has the answer of --query, or else all records, one a line; in its environment \
            RELAY_SEQUENCE, the event after which the state was so. {} in its words stands for a \
            copy of the log that ends there, which "relay serve --data" can run on.
            """)

    @OptionGroup var log: LogArguments

    @Option(help: ArgumentHelp("The query.", valueName: "document"))
    var query: String?

    @Option(help: ArgumentHelp("The data that it shall give.", valueName: "json"))
    var expect: String?

    @Option(
        name: .customLong("run"), parsing: .remaining,
        help: ArgumentHelp(
            "The command that decides, with its arguments; stands last.", valueName: "command"))
    var trial: [String] = []

    @Flag(help: "Find the first event after which it is no longer so.")
    var stops = false

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
        if !trial.isEmpty, expect != nil {
            throw ValidationError("--expect and --run exclude each other.")
        }
        if query == nil, variables != nil || operation != nil {
            throw ValidationError("--variables and --operation need --query.")
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let first = try from.map(history.sequence) ?? max(1, history.first)
        let last = try history.sequence(of: to ?? "@")
        guard first <= last else {
            throw ValidationError("--from is event \(first), which is behind --to, event \(last).")
        }
        let question = try makeQuestion()
        let result = try question.answers(about: history) { isSo in
            try history.bisect(in: first...last) { state in
                switch try isSo(state) {
                case nil: .cannotTell
                case let isSo?: isSo != stops ? .holds : .doesNotHold
                }
            }
        }
        switch result {
        case .found(let sequence):
            guard !stops || sequence > first else {
                throw CommandFailure(
                    """
                    After event \(first), the first to look at, \(question.sentence(false)), so it \
                    cannot stop to; begin later with --from.
                    """)
            }
            try print(sequence...sequence, of: history, output)
        case .among(let range):
            try print(range, of: history, output)
            throw CommandFailure(
                "It is one of these events: of the states between them nothing could be told.")
        case .never:
            throw CommandFailure(
                "After event \(last), the last to look at, \(question.sentence(stops)).")
        }
    }

    private func print(
        _ range: ClosedRange<UInt64>, of history: History, _ output: LineOutput
    ) throws {
        let events = try history.summaries(in: range)
        while let event = try events.next() {
            try output.write(log.json ? event.bisectJSON.text : event.line)
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

    /// The data that is looked for; a whole response is taken for its data.
    private func parseExpectation(_ text: String) throws -> JSONValue {
        do throws(JSONError) {
            let value = try JSONValue(parsing: text)
            return value.object?.keys == ["data"] ? value["data"] ?? value : value
        } catch {
            throw CommandFailure("--expect is not JSON. \(error)")
        }
    }
}

extension EventSummary {
    /// The form of `relay bisect --json`.
    fileprivate var bisectJSON: JSONValue {
        ["sequence": JSONValue(sequence), "operation": JSONValue(operation)]
    }
}
