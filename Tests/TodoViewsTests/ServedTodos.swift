import Foundation
import Logging
import RelayNetwork
import RelayServer
import RelayTerminal
import TerminalTesting
import Testing
import TodoFixtures
import TodoMutations

@testable import TodoViews

/// The todo example with its shared mutations, as `TodoServer` serves it.
struct ServedTodos {
    /// - Parameters:
    ///   - tokens: the server is for those who have one; empty: for everybody.
    ///   - refused: a mutation's field that is refused.
    ///   - suggestions: what `suggestTodo` waits for.
    static func start(
        _ storage: Server.Storage = .memory, port: Int = 0, tokens: [String] = [],
        refusing refused: String? = nil, suggestions: AsyncStream<String>? = nil
    ) async throws -> Server {
        let schema = String(decoding: try TodoExample.file("todo.graphql"), as: UTF8.self)
        var configuration = Server.Configuration(
            schema: schema + TodoMutations.schema, schemaName: "todo.graphql", storage: storage)
        configuration.seed = try TodoExample.file("todo.seed.ndjson")
        configuration.port = port
        configuration.tokens = tokens
        configuration.handlers.mutation("changeAllTodos", TodoMutations.changeAllTodos)
        configuration.handlers.mutation("sinkFinishedTodos", TodoMutations.sinkFinishedTodos)
        configuration.handlers.mutation("moveTodo", TodoMutations.moveTodo)
        configuration.handlers.check("renameTodo") { variables, _, _ in
            if variables.input?["text"]?.stringValue?.contains("!") ?? false {
                throw HandlerError("Nothing is that urgent.", code: "BAD_USER_INPUT")
            }
        }
        if let refused {
            configuration.handlers.check(refused) { _, _, _ in
                throw HandlerError("Nobody may.", code: "FORBIDDEN")
            }
        }
        if let suggestions {
            configuration.add(schema: suggesting, name: "suggesting.graphql")
            addSuggestTodo(suggestions, to: &configuration.handlers)
        }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try await Server.start(configuration, logger: logger)
    }

    private static let suggesting = """
        extend type Mutation { suggestTodo(input: SuggestTodoInput!): SuggestTodoPayload }
        input SuggestTodoInput { topic: String! userId: ID! = "me" clientMutationId: String }
        type SuggestTodoPayload { todo: Todo! todoEdge: TodoEdge! user: User! clientMutationId: String }
        """

    /// As `TodoServer` has it, but for where suggestions come from: an empty one is none.
    private static func addSuggestTodo(
        _ suggestions: AsyncStream<String>, to handlers: inout Handlers
    ) {
        handlers.mutation(
            "suggestTodo",
            waitingFor: { _, _, _ in
                let suggestion = await suggestions.first { _ in true } ?? ""
                if suggestion.isEmpty {
                    throw HandlerError("Nothing comes to mind.", code: "UPSTREAM")
                }
                return { records, variables, _ in
                    let id = variables.input?["userId"]?.stringValue ?? ""
                    let todo = records.create(typeName: "Todo")
                    todo["text"] = suggestion
                    todo["complete"] = false
                    records[DataID(id)]?.connection("todos")?.insert(
                        todo, edgeType: "TodoEdge", at: .end)
                    return todo.dataID
                }
            })
    }

    /// Serves while the body runs.
    static func run(
        refusing refused: String? = nil, suggestions: AsyncStream<String>? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (Server) async throws -> Void
    ) async throws {
        let server = try await start(refusing: refused, suggestions: suggestions)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}

extension TodoSession {
    /// A client of a server on this machine, that tries again soon.
    convenience init(port: Int, directory: String? = nil) throws {
        var options = WebSocketNetwork.Options()
        options.retry = RetryPolicy(
            initialDelay: .milliseconds(5), maximumDelay: .milliseconds(50))
        try self.init(
            url: "ws://127.0.0.1:\(port)/graphql", directory: directory, options: options)
    }

    @MainActor func pilot(height: Int = 14) -> Pilot {
        Pilot(size: Size(width: 64, height: height)) { TodoScreen(self) }
    }
}

extension Pilot {
    /// The rows of the list.
    var rows: [String] {
        text.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("☐") || $0.hasPrefix("☑")
        }
    }

    /// Those of the rows that are less prominent.
    var dimmedRows: [String] {
        guard let buffer else { return [] }
        return (0..<buffer.size.height).compactMap { row in
            let text = buffer.text(ofRow: row)
            let isRow = text.hasPrefix("☐") || text.hasPrefix("☑")
            let isDimmed =
                buffer[Position(column: 2, row: row)].style.foreground == .secondary
            return isRow && isDimmed ? text : nil
        }
    }

    /// The same without the marks of what is in flight: the server may answer before anybody looks.
    var shownTexts: [String] { rows.map { $0.replacing(" …", with: "") } }

    func shows(rows: [String], sourceLocation: SourceLocation = #_sourceLocation) async {
        await shows(sourceLocation: sourceLocation) { _ in self.rows == rows }
    }
}
