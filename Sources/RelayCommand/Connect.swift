import ArgumentParser
import Console
import Disk
import RelayJSON
import TerminalUI
import WebSocketIO
import Workbench

import struct ArgumentParser.Argument

/// `relay connect`: a workbench at a server; where there is no screen, a prompt.
struct Connect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explore a GraphQL server: its schema, operations, and live results.",
        discussion: """
            On a terminal: a screen with the schema, an editor that completes, and the results of \
            any number of operations; F1 shows the keys. It works with every server that speaks \
            graphql-transport-ws, and reconnects for as long as it takes. The operations that were \
            run are kept in connect-history in $XDG_STATE_HOME/relay or ~/.local/state/relay, which \
            only you can read.

            If standard input or output is not a terminal: reads one operation per line, writes \
            one line of JSON per result, until all operations have ended. When the connection \
            breaks, it reconnects and operations continue: subscriptions after their last results, \
            mutations at a relay server by their ids, so that each is carried out once (at others \
            they fail). It ends with exit code 1 \
            when the server stops, or cannot be reached for half a minute.
            """)

    @Argument(help: "The server.")
    var url = "ws://127.0.0.1:8080/graphql"

    @Flag(help: "Do not keep a history of operations.")
    var noHistory = false

    @OptionGroup var server: ServerOptions

    func run() async throws {
        if TerminalProgram.hasScreen { return try await showScreen() }
        let prompt = Prompt(isTerminal: StandardStream.areBothTerminals)
        let session = try await ServerSession.connect(server, url) { prompt.note($0) }
        prompt.greet(url)
        let hasErrors = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await operations(of: session, prompt) }
            group.addTask { throw await session.ended() }
            // Whichever comes first: the input's end, or the session's.
            let hasErrors = try await group.next() ?? false
            group.cancelAll()
            await session.close()
            return hasErrors
        }
        if hasErrors, !prompt.isTerminal { throw ExitCode(1) }
    }

    @MainActor
    private func showScreen() async throws {
        let watch = ConnectionWatch()
        let session = try ServerSession.open(
            ServerAddress(argument: url), token: server.resolvedToken, authorityFile: server.ca
        ) { watch.report($0) }
        let history = OperationHistory(noHistory ? nil : Self.historyFile)
        let url = url
        let ending: Result<TerminalProgram.End, any Error>
        do {
            ending = .success(
                try await TerminalProgram.run {
                    WorkbenchView(WorkbenchModel(url, session, watch, history: history))
                })
        } catch {
            ending = .failure(error)
        }
        await history.settle()
        await session.close()
        if case .signal(let number) = try ending.get() { throw ExitCode(128 + number) }
    }

    /// By the XDG Base Directory Specification: what is not an absolute path is ignored.
    private static var historyFile: HistoryFile? {
        let state =
            environmentValue("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environmentValue("HOME").map { $0 + "/.local/state" }
        return state.map {
            HistoryFile(POSIXFileSystem(), directory: $0 + "/relay", name: "connect-history")
        }
    }

    /// Runs what is typed, until the input ends; true when a result had errors.
    private func operations(of session: ServerSession, _ prompt: Prompt) async throws -> Bool {
        // Another server could carry out a mutation again that is sent again.
        let isOurs = try await session.isOurs()
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            for await line in inputLines() {
                if line.allSatisfy(\.isWhitespace) {
                    prompt.show()
                    continue
                }
                // Started here, so that what is typed in order is sent in order.
                let results = session.run(["query": .string(line)], namesMutation: isOurs)
                group.addTask {
                    var hasErrors = false
                    for try await result in results {
                        hasErrors = hasErrors || result.hasErrors
                        prompt.write(result.line)
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

/// Lines in and lines out, with a prompt on a terminal.
private struct Prompt: Sendable {
    let isTerminal: Bool
    private static let text = "relay> "

    func greet(_ url: String) {
        guard isTerminal else { return }
        printAtOnce("Connected to \(url). One operation per line; Ctrl-D ends.\n")
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

    /// Writes to standard error what is not a result.
    func note(_ line: String) {
        complain(isTerminal ? "\r\(line)" : line)
        show()
    }

    /// Writes a result; a prompt on the line is rewritten below it.
    func write(_ line: String) {
        printAtOnce(isTerminal ? "\r\(line)\n\(Self.text)" : "\(line)\n")
    }
}
