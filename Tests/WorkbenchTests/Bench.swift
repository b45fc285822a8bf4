// In every file of these tests: `.bounded`.
@_exported import BoundedTesting
import Console
import Disk
import Foundation
import HTTPMessages
import Logging
import RelayJSON
import RelayLink
import RelayServer
import TerminalUI
import Testing
import TodoFixtures
import WebSocketIO

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
    /// Waits until the screen is as expected; fails after one generous deadline, with what it is instead.
    func shows(
        sourceLocation: SourceLocation = #_sourceLocation, _ condition: (String) -> Bool
    ) async {
        let deadline = ContinuousClock.now + .testDeadline
        while !condition(text) {
            if ContinuousClock.now > deadline {
                Issue.record("the screen is:\n\(text)", sourceLocation: sourceLocation)
                return
            }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func shows(_ part: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        await shows(sourceLocation: sourceLocation) { $0.contains(part) }
    }

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
final class PlainServer: HTTPServerHandler, WebSocketHandler {
    private let answer: @Sendable (_ query: String) -> [String]
    private let closesAfter: String?

    /// - Parameters:
    ///   - closesAfter: an operation with this in it is carried out, and the connection breaks before its answer.
    ///   - answer: the results of an operation, as JSON.
    init(
        closesAfter: String? = nil, _ answer: @escaping @Sendable (_ query: String) -> [String]
    ) {
        self.closesAfter = closesAfter
        self.answer = answer
    }

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision { .accept(self) }
    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        responder.respond(HTTPResponse(status: 404, text: "no"))
    }
    func opened(_ connection: WebSocketConnection) {}
    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {}

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        guard let json = try? JSONValue(parsing: message.bytes) else { return }
        func send(_ text: String) { connection.send(OutgoingMessage(.text, Array(text.utf8))) }
        switch json["type"]?.string {
        case "connection_init": send(#"{"type":"connection_ack"}"#)
        case "subscribe":
            let id = (json["id"] ?? .null).text
            let query = json["payload"]?["query"]?.string ?? ""
            let results = answer(query)
            if let closesAfter, query.contains(closesAfter) { return connection.abort() }
            for result in results {
                send(#"{"type":"next","id":\#(id),"payload":\#(result)}"#)
            }
            send(#"{"type":"complete","id":\#(id)}"#)
        default: break
        }
    }

    /// Serves while the body runs.
    static func serve(
        isolation: isolated (any Actor)? = #isolation,
        _ answer: @escaping @Sendable (_ query: String) -> [String],
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        try await serve(PlainServer(answer), body)
    }

    static func serve(
        isolation: isolated (any Actor)? = #isolation, _ server: PlainServer,
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let loop = try IOLoop.start()
        do {
            let http = try await HTTPServer.start(
                HTTPServer.Options(subprotocols: ["graphql-transport-ws"]), on: loop,
                handler: server)
            try await body(http.port)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }
}
