// In every file of these tests: `.bounded`.
@_exported import BoundedTesting
import Console
import Disk
import Foundation
import Logging
import RelayJSON
import RelayLink
import RelayServer
import TerminalTesting
import TerminalUI
import Testing
import TodoFixtures
import WebSocketIO
import WebSocketTesting

@testable import Workbench

/// A workbench at a server on this machine, with its screen.
@MainActor
struct Bench {
    let pilot: Pilot
    let session: ServerSession
    let history: OperationHistory

    init(
        port: Int, token: String? = nil, history file: HistoryFile? = nil,
        size: Size = Size(width: 100, height: 44)
    ) throws {
        let url = "ws://127.0.0.1:\(port)/graphql"
        let watch = ConnectionWatch()
        session = try ServerSession.open(
            ServerAddress(argument: url), token: token, authorityFile: nil, retry: .quick
        ) { watch.report($0) }
        history = OperationHistory(file)
        let model = WorkbenchModel(url, session, watch, history: history)
        pilot = Pilot(size: size) { WorkbenchView(model) }
    }

    /// Writes an operation in place of what is in the editor, and runs it.
    func run(_ document: String) {
        pilot.press(KeyPress(.character("o"), .control))
        pilot.paste(document)
        pilot.press(KeyPress(.character("r"), .control))
    }

    /// The lines of the right side.
    private var right: [String] {
        pilot.text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).dropLast()
            .map { String($0.dropFirst(33)) }
    }

    /// What is in the editor.
    var editor: [String] { right.prefix { !$0.isEmpty } }

    /// The lines of the results, without those about the operation.
    var results: [String] {
        right.drop { !$0.hasPrefix("───") }.dropFirst(3).filter { !$0.isEmpty }
    }
}

extension RetryPolicy {
    static let quick = RetryPolicy(
        initialDelay: .milliseconds(5), maximumDelay: .milliseconds(50))
}

extension Pilot {
    /// The colour of a text on the screen; nil if it is not there.
    func color(of part: String) -> Color? {
        guard let buffer else { return nil }
        // In the results: what is above may have it as well.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (row, line) in lines.enumerated().reversed() {
            guard let range = line.range(of: part) else { continue }
            let column = line.distance(from: line.startIndex, to: range.lowerBound)
            return buffer[Position(column: column, row: row)].style.foreground
        }
        return nil
    }
}

enum Todos {
    static func start(
        _ storage: Server.Storage = .memory, port: Int = 0, tokens: [String] = []
    ) async throws -> Server {
        let schema = String(decoding: try TodoExample.file("todo.graphql"), as: UTF8.self)
        var configuration = Server.Configuration(
            schema: schema, schemaName: "todo.graphql", storage: storage)
        configuration.seed = try TodoExample.file("todo.seed.ndjson")
        configuration.port = port
        configuration.tokens = tokens
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try await Server.start(configuration, logger: logger)
    }

    /// A workbench at a server of the todo example, which it has read the schema of.
    @MainActor
    static func bench(
        size: Size = Size(width: 100, height: 44), _ body: (Bench) async throws -> Void
    ) async throws {
        try await serve { server in
            let bench = try Bench(port: server.port, size: size)
            await bench.pilot.shows("▾ query")
            try await body(bench)
            await bench.session.close()
        }
    }

    /// Serves while the body runs.
    static func serve(
        tokens: [String] = [], isolation: isolated (any Actor)? = #isolation,
        _ body: (Server) async throws -> Void
    ) async throws {
        let server = try await start(tokens: tokens)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }
}

/// A folder that is gone when this is.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A server that knows neither what newer editions of GraphQL have nor our extensions.
enum PlainServer {
    /// Serves while the body runs.
    /// - Parameters:
    ///   - closesAfter: an operation with this in it is carried out, and the connection breaks before its answer.
    ///   - answer: the results of an operation, as JSON.
    static func serve(
        closesAfter: String? = nil, isolation: isolated (any Actor)? = #isolation,
        _ answer: @escaping @Sendable (_ query: String) -> [String],
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let server = AnsweringServer { id, payload in
            let query = payload["query"]?.string ?? ""
            let results = answer(query)
            if let closesAfter, query.contains(closesAfter) { return nil }
            return results.map { #"{"type":"next","id":"\#(id)","payload":\#($0)}"# }
                + [#"{"type":"complete","id":"\#(id)"}"#]
        }
        try await server.serve(body)
    }
}
