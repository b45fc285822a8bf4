import ArgumentParser
import Console
import EventStore
import RelayJSON
import RelayLink
@_spi(Rooms) import RelayRecords
import RelayServer
import ReplayDebugger
import StoreEngine
import TerminalUI

import struct ArgumentParser.Argument

/// `relay replay`: the past of a log.
struct ReplayCommand: ServedHistoryTool {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Look at past states of a log, query them, step through them.",
        usage: """
            relay replay <dir> [state [<record[.field]>]] [--at <point>]
            relay replay <url> state [<record[.field]>] [--at <point>] [--token <token>]
            relay replay <dir> --query <document> [--at <point>]
            relay replay <dir> --watch <document> [--at <point>]
            relay replay <dir> --step [--query <document>] [--at <point>]
            relay replay <dir> --serve [--speed <n> | --step] [--at <point>] [--port <port>]
            relay replay <dir> --check
            """,
        discussion: """
            Works offline and while a server is running; never writes. A point is a sequence, a time \
            (RFC 3339), @ for the end, @-3 for the third event before it, or @now-1h.
            """)

    /// What is shown of a state.
    enum Aspect: String, ExpressibleByArgument {
        case state
    }

    @OptionGroup var log: LogArguments

    @Argument(help: "The word \"state\": print records in the form of a seed file, one per line.")
    var aspect: Aspect?

    @Argument(help: ArgumentHelp("A record's id, or ID.field.", valueName: "record[.field]"))
    var path: String?

    @Option(
        help: ArgumentHelp("The state after this point. (default: the end)", valueName: "point"))
    var at: String?

    @Option(help: ArgumentHelp("The query to answer.", valueName: "document"))
    var query: String?

    @Option(
        help: ArgumentHelp(
            """
            Print what a subscriber of this document would have been sent, from the point on or \
            from the beginning: for a query its result and each one that differs from the one \
            before, for an event subscription every event. One pass over the log.
            """, valueName: "document"))
    var watch: String?

    @Option(help: ArgumentHelp("The query's variables, a JSON object.", valueName: "json"))
    var variables: String?

    @Option(help: ArgumentHelp("Which operation of the document to run.", valueName: "name"))
    var operation: String?

    @Flag(
        help: """
            On a terminal: a debugger that goes forward and back through the events, from the \
            newest or from the point on. Elsewhere and with --json: print the events one by one \
            and what each changed, from the point on or from the beginning.
            """)
    var step = false

    @Flag(
        help: """
            Fold all events again with this build, and compare with the state in each checkpoint; \
            exit code 2 when one differs.
            """)
    var check = false

    @Option(
        help: ArgumentHelp(
            "Certificates to verify the server of a wss:// address with, as PEM.",
            valueName: "file"))
    var ca: String?

    @OptionGroup(title: "Serving") var serving: ServingOptions

    func validate() throws {
        if serving.serve, aspect != nil || check || query != nil {
            throw ValidationError("--serve excludes \"state\", --query and --check.")
        }
        if serving.serve, step, serving.speed != nil {
            throw ValidationError("--speed and --step exclude each other.")
        }
        if aspect != nil, query != nil || step {
            throw ValidationError("\"state\" excludes --query and --step.")
        }
        if check, aspect != nil || at != nil || query != nil || step {
            throw ValidationError("--check takes only a directory.")
        }
        if watch != nil, serving.serve || aspect != nil || check || step || query != nil {
            throw ValidationError("--watch can only be combined with --at.")
        }
        if query == nil, watch == nil, variables != nil || operation != nil {
            throw ValidationError("--variables and --operation need --query or --watch.")
        }
        if aspect == nil { try log.checkIsDirectory("All but \"state\" needs") }
    }

    /// A server is shown one token; one that replays may accept several.
    var credentials: ServerCredentials {
        ServerCredentials(token: serving.token.last, ca: ca)
    }

    private static func noRecord(_ path: String) -> String {
        "There is no record \(path), or it has no such field."
    }

    func run(on history: ServedHistory, printingTo output: LineOutput) async throws {
        if let at { _ = try HistoryPoint(at) }
        let point = [(name: "at", value: at ?? "@")]
        guard let path else {
            _ = try await history.print("state", point, to: output)
            return
        }
        var nothing: HistoryRefusal?
        let isFound = try await history.first(of: BlameTarget.targets(path)) { target in
            do {
                return try await history.print("state", target + point, to: output).lines
            } catch let refusal as HistoryRefusal where refusal.status == 404 {
                nothing = nothing ?? refusal
                return 0
            }
        }
        if !isFound {
            throw CommandFailure(nothing?.description ?? Self.noRecord(path))
        }
    }

    func run(on history: History, printingTo output: LineOutput) async throws {
        if check { return try checkpoints(of: history, output) }
        if serving.serve {
            let start = try at.map(history.sequence) ?? history.firstState
            let form: SummaryForm = log.json ? .json : .columns
            return try await ServedReplay(serving, isStepped: step, form: form)
                .run(history, from: start)
        }
        let request = try makeRequest()
        if let request, watch != nil {
            let start = try at.map(history.sequence) ?? history.firstState
            return try WatchedReplay(output, request, json: log.json)
                .run(through: history, from: start)
        }
        if step, !log.json, TerminalProgram.hasScreen {
            return try await debug(history, start: at.map(history.sequence))
        }
        if step {
            let start =
                try at.map(history.sequence) ?? (history.first == 1 ? 0 : history.firstState)
            let replay = SteppedReplay(output, request, json: log.json)
            return try replay.run(through: history, from: start)
        }
        let sequence = try history.sequence(of: at ?? "@")
        if let request {
            let response = try PastService(history, at: sequence).answer(request)
            try output.write(String(decoding: response.bytes, as: UTF8.self))
            if response.hasErrors { throw ExitCode(1) }
        } else {
            try print(sequence, of: history, output)
        }
    }

    @MainActor
    private func debug(_ history: History, start: UInt64?) async throws {
        var history = history
        // Progress is on the screen.
        history.watch = nil
        let debugger = try Debugger(history)
        let (query, variables, operation) = (query, try variables.map(parseVariables), operation)
        let question = query.map {
            DebuggerQuery(text: $0, variables: variables ?? [:], operationName: operation)
        }
        let end = try await TerminalProgram.run {
            DebuggerView(DebuggerModel(debugger, at: start, query: question))
        }
        if case .signal(let number) = end { throw ExitCode(128 + number) }
    }

    private func checkpoints(of history: History, _ output: LineOutput) throws {
        let findings = try CheckpointFindings(history)
        if log.json {
            try output.write(JSONValue.object(findings.json).text)
        } else {
            for line in findings.lines { try output.write(line) }
        }
        guard let fault = findings.fault else { return }
        complain("Error: \(log.name): \(fault)")
        throw ExitCode.foundSomething
    }

    private func makeRequest() throws -> GraphQLRequest? {
        guard let query = query ?? watch else { return nil }
        var request = GraphQLRequest(query: query, operationName: operation)
        if let variables { request.variables = try parseVariables(variables) }
        return request
    }

    /// Prints all records, or the one that was asked for with all its fields or one.
    private func print(
        _ sequence: UInt64, of history: History, _ output: LineOutput
    ) throws {
        guard let path else {
            for line in try history.snapshot(at: sequence).recordLines { try output.write(line) }
            return
        }
        guard let line = try history.recordLine(BlameTarget.targets(path), at: sequence) else {
            throw CommandFailure(Self.noRecord(path))
        }
        try output.write(line)
    }
}

/// Reads the value of a `--variables` option.
func parseVariables(_ text: String) throws(ValidationError) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) {
        value = try JSONValue(parsing: text)
    } catch {
        throw ValidationError("--variables is not JSON. \(error)")
    }
    guard case .object(let object) = value else {
        throw ValidationError("--variables must be a JSON object, not \(text).")
    }
    return object
}
