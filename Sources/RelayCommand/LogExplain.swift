import ArgumentParser
import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

import struct ArgumentParser.Argument

/// `relay log explain`: why was a subscriber notified of it, or not?
struct LogExplain: HistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why a subscriber was, or was not, notified of an event.",
        discussion: """
            The server's own code decides, on the state and under the schema at that point: \
            whether the subscription sends such events, which argument kept the event away, \
            whether it changed anything that the result is read from, and whether the result \
            changed. What only a running server can know is marked as such: that a slow subscriber \
            was sent a later result instead, or was ended. Works offline and while a server is \
            running, on its directory or its URL; never writes.
            """)

    @OptionGroup var log: LogArguments

    @OptionGroup var server: ServerOptions

    @Argument(help: ArgumentHelp("The event: a sequence, or another point.", valueName: "seq"))
    var point: String

    @Option(help: ArgumentHelp("The subscription, or a live query.", valueName: "document"))
    var document: String

    @Option(help: ArgumentHelp("Its variables, a JSON object.", valueName: "json"))
    var variables: String?

    @Option(help: ArgumentHelp("Which operation of the document.", valueName: "name"))
    var operation: String?

    func validate() throws {
        if log.isServed, Int64(point).map({ $0 > 0 }) != true {
            throw ValidationError("A running server explains an event by its sequence, from 1.")
        }
    }

    func run(printingTo output: LineOutput) async throws {
        guard log.isServed else { return try await readHistory(printingTo: output) }
        let explanation = try await askServer()
        try write(explanation, to: output)
        try output.flush()
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        let sequence = try history.sequence(of: point)
        guard let extent = history.readable, extent.contains(sequence) else {
            throw CommandFailure("Event \(sequence) is no longer in \(log.name).")
        }
        try write(explain(sequence, in: history).json(of: sequence), to: output)
    }

    private func write(_ explanation: JSONObject, to output: LineOutput) throws {
        if log.json { return try output.write(JSONValue.object(explanation).text) }
        let verdict = explanation["told"] == true ? "told" : "not told"
        let reason = explanation["reason"]?.string ?? ""
        try output.write(
            "event \(explanation["sequence"]?.text ?? point)  \(verdict): \(reason.printable).")
    }

    /// `extensions.relay.explain` (docs/websocket.md).
    private func askServer() async throws -> JSONObject {
        var parameters: JSONObject = ["query": .string(document)]
        if let operation { parameters["operationName"] = .string(operation) }
        if let variables {
            parameters["variables"] = .object(try parseVariables(variables))
        }
        let relay: JSONObject = ["explain": Int64(point).map(JSONValue.int) ?? .null]
        let session = try await ServerSession.connect(server, log.directory)
        var answer: JSONValue?
        for try await result in session.run(parameters, relay: relay) {
            answer = answer ?? result.json
        }
        await session.close()
        if let explanation = answer?["extensions"]?["relay"]?["explain"]?.object {
            return explanation
        }
        let message = answer?["errors"]?.array?.first?["message"]?.string
        throw CommandFailure(
            message ?? "\(log.directory) gave no explanation; it may be an older version.")
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
        let summary = try history.summary(of: sequence)
        return try subscription.explain(
            history.event(sequence), endingMutation: summary.intent)
    }
}
