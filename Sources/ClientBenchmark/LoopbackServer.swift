import HTTPMessages
import RelayJSON
import WebSocketIO

/// A graphql-transport-ws server in this process that answers every operation with the same response.
final class LoopbackServer: HTTPServerHandler, WebSocketHandler {
    /// Whole `next` messages, made before anything is measured: one for each operation of a connection.
    private let answers: [[UInt8]]

    private init(_ response: [UInt8], operations: Int) {
        answers = (0..<operations).map { number in
            Array(#"{"id":"\#(number + 1)","type":"next","payload":"#.utf8) + response
                + Array("}".utf8)
        }
    }

    /// Serves for as long as the process lives.
    /// - Returns: the URL.
    static func start(_ response: [UInt8], operations: Int) async throws -> String {
        let server = try await HTTPServer.start(
            HTTPServer.Options(subprotocols: ["graphql-transport-ws"]), on: IOLoop.start(),
            handler: LoopbackServer(response, operations: operations))
        return "ws://127.0.0.1:\(server.port)/graphql"
    }

    func upgrade(_ request: HTTPRequest) -> UpgradeDecision { .accept(self) }
    func respond(to request: HTTPRequest, with responder: HTTPResponder) {}
    func opened(_ connection: WebSocketConnection) {}
    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {}

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        guard let json = try? JSONValue(parsing: message.bytes) else { return }
        func send(_ bytes: [UInt8]) { connection.send(OutgoingMessage(.text, bytes)) }
        switch json["type"]?.string {
        case "connection_init": send(Array(#"{"type":"connection_ack"}"#.utf8))
        case "subscribe":
            guard let id = json["id"]?.string, let number = Int(id),
                answers.indices.contains(number - 1)
            else { return connection.close() }
            send(answers[number - 1])
            send(Array(#"{"id":"\#(id)","type":"complete"}"#.utf8))
        default: break
        }
    }
}
