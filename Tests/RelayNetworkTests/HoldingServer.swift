import HTTPMessages
import RelayJSON
import Threads
import WebSocketIO

@testable import RelayNetwork

/// Answers GraphQL requests over HTTP, but holds those whose variable `text` is in a list until the test lets them go.
final class HoldingServer: HTTPServerHandler {
    /// The texts of mutations, in the order in which they came.
    let received = Noted<String>()
    /// Answers, in place of a response, with a status that says that nothing was done.
    private let refused: Set<String>
    private let held: Set<String>
    private let responders = Lock<[String: HTTPResponder]>([:])

    private init(_ held: Set<String>, _ refused: Set<String>) {
        self.held = held
        self.refused = refused
    }

    /// Serves while `body` runs.
    static func run(
        holding held: Set<String> = [], refusing refused: Set<String> = [],
        _ body: (_ server: HoldingServer, _ url: String) async throws -> Void
    ) async throws {
        let loop = try IOLoop.start()
        let server = HoldingServer(held, refused)
        do {
            let http = try await HTTPServer.start(HTTPServer.Options(), on: loop, handler: server)
            try await body(server, "http://127.0.0.1:\(http.port)/graphql")
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision {
        .refuse(HTTPResponse(status: 404, text: "no"))
    }

    func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        guard let text = request.body.json["variables"]?["text"]?.string else {
            return Self.answer(responder)
        }
        received.note(text)
        if refused.contains(text) {
            responder.respond(HTTPResponse(status: 503, text: "not now"))
        } else if held.contains(text) {
            responders.withLock { $0[text] = responder }
        } else {
            Self.answer(responder)
        }
    }

    /// Answers the request that was held.
    func release(_ text: String) {
        if let responder = responders.withLock({ $0.removeValue(forKey: text) }) {
            Self.answer(responder)
        }
    }

    private static func answer(_ responder: HTTPResponder) {
        responder.respond(
            HTTPResponse(
                status: 200, headers: ["content-type": "application/json"],
                body: Array(#"{"data":{}}"#.utf8)))
    }
}
