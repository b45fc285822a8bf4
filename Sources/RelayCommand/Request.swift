import ArgumentParser
import Console
import RelayJSON

/// `relay request`: one operation, its results as JSON lines.
struct Request: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send one operation of any kind, and print each result as a line of JSON.",
        discussion: """
            A subscription runs until it completes, --count results have arrived, or Ctrl-C. When \
            the connection breaks, it reconnects: a subscription resumes after its last result, a \
            query is resent. A mutation that may have reached the server is not. Exit code 1 when \
            any result has errors, when the server stops, when it cannot be reached for half a \
            minute, or when it is unknown whether a mutation was carried out.
            """)

    @Argument(help: "The server: ws://HOST:PORT/graphql")
    var url: String

    @Argument(help: "The GraphQL document.")
    var document: String

    @Option(help: ArgumentHelp("The operation's variables, a JSON object.", valueName: "json"))
    var variables: String?

    @Option(help: ArgumentHelp("Which operation of the document to run.", valueName: "name"))
    var operation: String?

    @Option(help: ArgumentHelp("Stop after this many results.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("Resume after this cursor.", valueName: "cursor"))
    var resume: String?

    @Flag(help: "After the first result, get changes as record patches.")
    var records = false

    @Option(
        help: ArgumentHelp(
            "Answer from the past: a sequence or an RFC 3339 time.", valueName: "point"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "Wait until the server has this event: for a server of several.", valueName: "cursor"))
    var atLeast: String?

    @OptionGroup var server: ServerOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
    }

    func run() async throws {
        let parameters = try makeParameters()
        let stop = StopSignals()
        let session = try await ServerSession.connect(server, url)
        let work = Task { try await printResults(of: session.run(parameters, relay: relay)) }
        let interrupt = Task {
            _ = await stop.first()
            work.cancel()
        }
        let hasErrors = try await work.value
        interrupt.cancel()
        await session.close()
        if hasErrors { throw ExitCode(1) }
    }

    private func makeParameters() throws -> JSONObject {
        var parameters: JSONObject = ["query": .string(document)]
        if let operation { parameters["operationName"] = .string(operation) }
        if let variables {
            parameters["variables"] = .object(try parseVariables(variables))
        }
        return parameters
    }

    /// What is asked for beyond GraphQL (docs/websocket.md).
    private var relay: JSONObject {
        var relay = JSONObject()
        if let resume { relay["resume"] = .string(resume) }
        if records { relay["records"] = true }
        if let at { relay["at"] = Int64(at).map(JSONValue.int) ?? .string(at) }
        if let atLeast { relay["atLeast"] = .string(atLeast) }
        return relay
    }

    /// Prints until the operation is over; true when a result had errors.
    private func printResults(of results: OperationResults) async throws -> Bool {
        var hasErrors = false
        var printed = 0
        for try await result in results {
            hasErrors = hasErrors || result.hasErrors
            printAtOnce(result.line + "\n")
            printed += 1
            if printed == count { break }
        }
        return hasErrors
    }
}
