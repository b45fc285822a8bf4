package import HTTPMessages
package import RelayJSON
package import WebSocketIO

/// A server of graphql-transport-ws that lets everybody in, and answers operations as a test wants.
package final class AnsweringServer: HTTPServerHandler, WebSocketHandler {
    /// What to send for an operation; nil: the connection breaks.
    package typealias Answer = @Sendable (_ id: String, _ payload: JSONValue) -> [String]?

    private let heard: @Sendable (_ type: String, _ id: String) -> Void
    private let answer: Answer

    /// - Parameters:
    ///   - heard: told of each message about an operation.
    ///   - answer: called for each operation, on the loop's thread.
    package init(
        heard: @escaping @Sendable (_ type: String, _ id: String) -> Void = { _, _ in },
        answer: @escaping Answer
    ) {
        self.heard = heard
        self.answer = answer
    }

    package func upgrade(_ request: HTTPRequest) -> UpgradeDecision { .accept(self) }
    package func respond(to request: HTTPRequest, with responder: HTTPResponder) {
        responder.respond(HTTPResponse(status: 404, text: "no"))
    }
    package func opened(_ connection: WebSocketConnection) {}
    package func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {}

    package func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        guard let json = try? JSONValue(parsing: message.bytes), let type = json["type"]?.string
        else { return }
        if type == "connection_init" {
            return connection.send(text: #"{"type":"connection_ack"}"#)
        }
        guard let id = json["id"]?.string else { return }
        heard(type, id)
        guard type == "subscribe" else { return }
        guard let messages = answer(id, json["payload"] ?? .null) else {
            return connection.abort()
        }
        for message in messages { connection.send(text: message) }
    }

    /// Serves while the body runs.
    package func serve(
        isolation: isolated (any Actor)? = #isolation, _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let loop = try IOLoop.start()
        do {
            let http = try await HTTPServer.start(
                HTTPServer.Options(subprotocols: ["graphql-transport-ws"]), on: loop,
                handler: self)
            try await body(http.port)
        } catch {
            await loop.stop()
            throw error
        }
        await loop.stop()
    }
}
