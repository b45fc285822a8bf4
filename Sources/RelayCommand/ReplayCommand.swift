import ArgumentParser
import EventStore
import RelayJSON
import RelayServer

/// `relay replay`: the past of a log.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Query a log in the past.",
        discussion: """
            Works offline and beside a running server; never writes. A point is a sequence, a time \
            (RFC 3339), @ for the end, @-3 for the third event before it, or @now-1h.
            """)

    @Argument(help: ArgumentHelp("The log's directory.", valueName: "dir"))
    var directory: String

    @Option(
        help: ArgumentHelp("The state after this point. (default: the end)", valueName: "point"))
    var at: String?

    @Option(help: ArgumentHelp("The query to answer.", valueName: "document"))
    var query: String

    @Option(help: ArgumentHelp("The query's variables, a JSON object.", valueName: "json"))
    var variables: String?

    @Option(help: ArgumentHelp("Which operation of the document to run.", valueName: "name"))
    var operation: String?

    func run() async throws {
        let history = try History(directory)
        let sequence = try history.sequence(
            of: HistoryPoint(at ?? "@"), now: WallClock.microseconds())
        let service = try PastService(history, at: sequence)
        var request = GraphQLRequest(query: query, operationName: operation)
        if let variables { request.variables = try parseVariables(variables) }
        let response = service.answer(request)
        print(String(decoding: response.bytes, as: UTF8.self))
        if response.hasErrors { throw ExitCode(1) }
    }
}

/// Reads the value of a `--variables` option.
func parseVariables(_ text: String) throws(CommandFailure) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) {
        value = try JSONValue(parsing: text)
    } catch {
        throw CommandFailure("--variables is not JSON. \(error)")
    }
    guard case .object(let object) = value else {
        throw CommandFailure("--variables must be a JSON object, not \(text).")
    }
    return object
}
