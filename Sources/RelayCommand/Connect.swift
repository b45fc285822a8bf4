import ArgumentParser
import RelayJSON

/// `relay connect`: a prompt at a server.
struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Type operations, see their results; subscriptions go on printing.",
        discussion: """
            Where standard input or output is no terminal: one operation a line in, one line of JSON \
            a result out, until all operations are over.
            """)

    @Argument(help: "The server.")
    var url = "ws://127.0.0.1:8080/graphql"

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let client = try await GraphQLClient.connect(server, url)
        let prompt = Prompt(isTerminal: StandardStream.areBothTerminals)
        prompt.greet(url)
        let hasErrors = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await session(client, prompt) }
            group.addTask { throw await client.ended() }
            // Whichever comes first: the input's end, or the connection's.
            let hasErrors = try await group.next() ?? false
            await client.close()
            return hasErrors
        }
        if hasErrors, !prompt.isTerminal { throw ExitCode(1) }
    }

    /// Runs what is typed, until the input ends; true when a result had errors.
    private func session(_ client: GraphQLClient, _ prompt: Prompt) async throws -> Bool {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for await line in inputLines() {
                if line.allSatisfy(\.isWhitespace) {
                    prompt.show()
                    continue
                }
                // Started here, so that what is typed in order is sent in order.
                let results = await client.run(["query": .string(line)])
                group.addTask {
                    var hasErrors = false
                    for try await result in results {
                        hasErrors = hasErrors || result["errors"] != nil
                        prompt.write(result.text)
                    }
                    return hasErrors
                }
            }
            prompt.leave()
            if prompt.isTerminal { group.cancelAll() }
            return try await group.reduce(false) { $0 || $1 }
        }
    }
}

/// Lines in and lines out, with a prompt where there is somebody to read it.
private struct Prompt: Sendable {
    let isTerminal: Bool
    private static let text = "relay> "

    func greet(_ url: String) {
        guard isTerminal else { return }
        printAtOnce("Connected to \(url). One operation a line; Ctrl-D ends.\n")
        show()
    }

    func show() {
        guard isTerminal else { return }
        printAtOnce(Self.text)
    }

    /// The input has ended: what comes next on the terminal begins a line.
    func leave() {
        if isTerminal { printAtOnce("\n") }
    }

    /// Writes a result; a prompt that stands there is written anew below it.
    func write(_ line: String) {
        printAtOnce(isTerminal ? "\r\(line)\n\(Self.text)" : "\(line)\n")
    }
}
