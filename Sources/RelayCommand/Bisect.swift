import ArgumentParser
import EventStore
import RelayJSON
import RelayServer
import RelayStore

/// `relay bisect`: since when?
struct Bisect: HistoryTool {
    static let configuration = CommandConfiguration(
        abstract: "Find the first event after which a query gives the expected data.",
        discussion: """
            Looks at few states: between --from and --to the query is taken to change its mind once. \
            Works offline and beside a running server; never writes.
            """)

    @OptionGroup var log: LogArguments

    @Option(help: ArgumentHelp("The query.", valueName: "document"))
    var query: String

    @Option(help: ArgumentHelp("The data that it shall give.", valueName: "json"))
    var expect: String

    @Flag(help: "Find the first event after which the query no longer gives the data.")
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

    func run(on history: History, printingTo output: LineOutput) async throws {
        var request = GraphQLRequest(query: query, operationName: operation)
        if let variables { request.variables = try parseVariables(variables) }
        let expected = try parseExpectation()
        let first = try from.map(history.sequence) ?? history.first
        let last = try history.sequence(of: to ?? "@")
        guard first <= last else {
            throw ValidationError("--from is event \(first), which is behind --to, event \(last).")
        }
        try checkAnswer(to: request, at: last, of: history)
        let found = try history.bisect(in: first...last) { state in
            let response = try PastService(state).answer(request)
            let data = try JSONValue(parsing: response.bytes)["data"] ?? .null
            return (data == expected) != stops
        }
        guard let found, let event = try history.summaries(in: found...found).next() else {
            throw CommandFailure(
                """
                After event \(last), the last to look at, the query \
                \(stops ? "still gives" : "does not give") \(expected.text).
                """)
        }
        guard !stops || found > first else {
            throw CommandFailure(
                """
                After event \(first), the first to look at, the query does not give \
                \(expected.text), so it cannot stop to; begin later with --from.
                """)
        }
        try output.write(log.json ? event.bisectJSON.text : event.line)
    }

    /// The data that is looked for; a whole response is taken for its data.
    private func parseExpectation() throws -> JSONValue {
        do throws(JSONError) {
            let value = try JSONValue(parsing: expect)
            return value.object?.keys == ["data"] ? value["data"] ?? value : value
        } catch {
            throw CommandFailure("--expect is not JSON. \(error)")
        }
    }

    /// A query that the newest schema refuses is a mistake, not an answer.
    private func checkAnswer(
        to request: GraphQLRequest, at sequence: UInt64, of history: History
    ) throws {
        let response = try PastService(history, at: sequence).answer(request)
        let value = try JSONValue(parsing: response.bytes)
        if value["data"] == nil, let message = value["errors"]?.array?.first?["message"]?.string {
            throw CommandFailure("The query was refused. \(message)")
        }
    }
}

extension EventSummary {
    /// The form of `relay bisect --json`.
    fileprivate var bisectJSON: JSONValue {
        ["sequence": JSONValue(sequence), "operation": JSONValue(operation)]
    }
}
