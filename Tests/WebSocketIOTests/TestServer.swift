import BoundedTesting
import HTTPMessages
import Testing
import Threads
import WebSocketIO

/// A server whose behaviour is given by closures, on a loop of its own.
struct TestServer: Sendable {
    let loop: IOLoop
    let server: HTTPServer
    let handler: RecordingHandler

    var port: Int { server.port }

    /// Serves while `body` runs, and stops after it, whatever happens.
    static func run(
        _ change: (inout HTTPServer.Options) -> Void = { _ in },
        handler: RecordingHandler = RecordingHandler(),
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var options = HTTPServer.Options(subprotocols: ["graphql-transport-ws", "echo"])
        // A machine that is busy with other tests must not look like a slow client.
        options.limits.handshakeTimeout = .seconds(60)
        options.limits.writeStuckTimeout = .seconds(60)
        options.limits.farewellTimeout = .testDeadline
        change(&options)
        let loop = try IOLoop.start()
        do {
            let server = try await HTTPServer.start(options, on: loop, handler: handler)
            try await body(TestServer(loop: loop, server: server, handler: handler))
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }
}

extension HTTPServer {
    /// How many connections there are, of either kind, handshakes included.
    func connectionCount() async throws -> Int { try await usage().connections }
}

/// Notes what happens, and answers as a test wants it.
final class RecordingHandler: HTTPServerHandler, WebSocketHandler {
    struct Record {
        var requests: [HTTPRequest] = []
        var upgrades: [HTTPRequest] = []
        var connections: [WebSocketConnection] = []
        var messages: [WebSocketMessage] = []
        var closes: [WebSocketClose] = []
        var drains = 0
        /// Why HTTP clients were left that were too slow.
        var slowClients: [String] = []
    }

    private let record = Lock(Record())
    private let decideHead: @Sendable (HTTPRequest) -> HTTPResponse?
    private let decideUpgrade: @Sendable (HTTPRequest) -> HTTPResponse?
    private let onRequest: @Sendable (HTTPRequest, HTTPResponder) -> Void
    private let onOpen: @Sendable (WebSocketConnection) -> Void
    private let onMessage: @Sendable (WebSocketMessage, WebSocketConnection) -> Void

    /// - Parameters:
    ///   - refusing: why an upgrade is refused, or nil to accept it.
    ///   - refusingHead: why a request's body is not waited for, or nil to ask for it.
    init(
        refusingHead: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        refusing: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        onRequest: @escaping @Sendable (HTTPRequest, HTTPResponder) -> Void = {
            request, responder in
            responder.respond(HTTPResponse(status: 200, text: "\(request.method) \(request.path)"))
        },
        onOpen: @escaping @Sendable (WebSocketConnection) -> Void = { _ in },
        onMessage: @escaping @Sendable (WebSocketMessage, WebSocketConnection) -> Void = {
            message, connection in connection.send(OutgoingMessage(message.kind, message.bytes))
        }
    ) {
        decideHead = refusingHead
        decideUpgrade = refusing
        self.onRequest = onRequest
        self.onOpen = onOpen
        self.onMessage = onMessage
    }

    var now: Record { record.withLock { $0 } }

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision {
        record.withLock { $0.upgrades.append(request) }
        return decideUpgrade(request).map { .refuse($0) } ?? .accept(self)
    }

    func refusal(beforeBody request: HTTPRequest) -> HTTPResponse? { decideHead(request) }

    func left(slowClient peerAddress: String, reason: String) {
        record.withLock { $0.slowClients.append(reason) }
    }

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        record.withLock { $0.requests.append(request) }
        onRequest(request, responder)
    }

    func opened(_ connection: WebSocketConnection) {
        record.withLock { $0.connections.append(connection) }
        onOpen(connection)
    }

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        record.withLock { $0.messages.append(message) }
        onMessage(message, connection)
    }

    func drained(_ connection: WebSocketConnection) {
        record.withLock { $0.drains += 1 }
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {
        record.withLock { $0.closes.append(close) }
    }
}

/// Waits until `condition` holds; fails after one generous deadline: tests that keep both threads of the pool busy may run
/// beside this one.
func eventually(
    within limit: Duration = .testDeadline, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.Instant.now + limit
    while try await !condition() {
        if ContinuousClock.Instant.now > deadline {
            Issue.record(comment ?? "it did not come true in time", sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(2))
    }
}
