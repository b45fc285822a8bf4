import ArgumentParser
import Foundation
import TerminalUI
import TodoViews

/// A todo list in the terminal: several of them, and any other client of the server, stay in step.
@main
struct TodoClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "TodoClient", abstract: "A todo list in the terminal.")

    @Argument(help: "The server.")
    var url = "ws://127.0.0.1:8080/graphql"

    @Option(
        help: "Where the list is kept, to be shown without a server; without it, in memory only.")
    var data: String?

    @Flag(help: "Clicks and the wheel are for the list; then the terminal selects no text.")
    var mouse = false

    @MainActor
    func run() async throws {
        // It reads what is on the disk, which the main actor does not wait for.
        let session = try await Task.detached { [url, data] in
            try TodoSession(url: url, directory: data)
        }.value
        let end: TerminalProgram.End
        do {
            end = try await TerminalProgram.run(mouse: mouse) { TodoScreen(session) }
        } catch {
            await close(session)
            throw error
        }
        await close(session)
        if case .signal(let number) = end { throw ExitCode(128 + number) }
    }

    private func close(_ session: TodoSession) async {
        guard let loss = await session.close() else { return }
        FileHandle.standardError.write(Data("\(loss)\n".utf8))
    }
}
