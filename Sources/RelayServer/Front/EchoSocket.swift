import WebSocketIO

/// Sends back what it gets, so that conformance suites can examine the very stack that serves users.
final class EchoSocket: WebSocketHandler {
    static let subprotocol = "echo"

    func opened(_ connection: WebSocketConnection) {}

    func received(_ message: WebSocketMessage, on connection: WebSocketConnection) {
        connection.send(OutgoingMessage(message.kind, message.bytes))
    }

    func closed(_ close: WebSocketClose, on connection: WebSocketConnection) {}
}
