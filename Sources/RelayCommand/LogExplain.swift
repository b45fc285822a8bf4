import ArgumentParser
import EventStore
import RelayJSON
import RelayServer
import RelayStore

import struct ArgumentParser.Argument

/// `relay log explain`: why was a subscriber told of it, or not?
struct LogExplain: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a subscriber was, or was not, told of an event.",
        discussion: """
            The server's own code decides, on the state that there was, by the schema that was in force: \
            whether the event is one that the subscription tells of, which argument kept it away, \
            whether it changed anything that the result is read from, and whether the result became \
            another. What only a running server knows is said as such: that a slow subscriber was sent \
            a later result instead, or was ended. Works offline and beside a running server; never \
            writes.
            """)

    @OptionGroup var log: LogArguments

    @Argument(help: ArgumentHelp("The event: a sequence, or another point.", valueName: "seq"))
    var point: String

    @Option(help: ArgumentHelp("The subscription, or a live query.", valueName: "document"))
    var document: String

    @Option(help: ArgumentHelp("Its variables, a JSON object.", valueName: "json"))
    var variables: String?

    @Option(help: ArgumentHelp("Which operation of the document.", valueName: "name"))
    var operation: String?

    func validate() throws {
        if log.directory.contains("://") {
            throw ValidationError(
                "\(log.directory) is no directory. A running server's log is explained from its files."
            )
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let sequence = try history.sequence(of: point)
        guard let extent = history.readable, extent.contains(sequence) else {
            throw CommandFailure("Event \(sequence) is no longer in \(log.directory).")
        }
        let explanation = try explain(sequence, in: history)
        if log.json {
            var object: JSONObject = [
                "sequence": JSONValue(sequence), "told": .bool(explanation.isTold),
                "reason": .string(explanation.reason),
            ]
            if let argument = explanation.argument { object["argument"] = .string(argument) }
            return try output.write(JSONValue.object(object).text)
        }
        let verdict = explanation.isTold ? "told" : "not told"
        try output.write("event \(sequence)  \(verdict): \(explanation.reason).")
    }

    private func explain(
        _ sequence: UInt64, in history: History
    ) throws -> PastSubscription.Explanation {
        guard sequence > 1 else { return .ofGenesis }
        var request = GraphQLRequest(query: document, operationName: operation)
        if let variables { request.variables = try parseVariables(variables) }
        let subscription = try PastSubscription(history.snapshot(at: sequence - 1), request)
        if let refusal = subscription.refusal {
            throw CommandFailure("The document was refused. \(refusal)")
        }
        _ = subscription.takeFirstResult()
        guard let step = try SummarizedEvents(history, after: sequence - 1).next() else {
            throw CommandFailure("Event \(sequence) is no longer in \(log.directory).")
        }
        return try subscription.explain(step.event, endingMutation: step.summary.intent)
    }
}
