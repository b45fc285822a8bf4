/// A whole message from a peer. A text's bytes are valid UTF-8.
package struct WebSocketMessage: Equatable, Sendable {
    package let kind: OutgoingMessage.Kind
    package let bytes: [UInt8]

    package init(_ kind: OutgoingMessage.Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// How a WebSocket connection ended. RFC 6455 §7.4.
package struct WebSocketClose: Equatable, Sendable, CustomStringConvertible {
    package let code: UInt16
    package let reason: String
    /// Whether the peer closed it; false when this side did, or neither (1006).
    package let isFromPeer: Bool

    package init(code: UInt16, reason: String = "", isFromPeer: Bool = false) {
        self.code = code
        self.reason = reason
        self.isFromPeer = isFromPeer
    }

    /// The connection broke off without a close frame.
    package static let abnormal = WebSocketClose(code: 1006)

    package var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }
}

/// What a connection tells its owner, at a server and at a client alike.
///
/// Every method is called on the loop's thread, in the order of events, and must not block:
/// `opened`, then the others in any number, then `closed` as the last one.
package protocol WebSocketHandler: AnyObject, Sendable {
    func opened(_ connection: WebSocketConnection)
    /// A whole message has come.
    func received(_ message: WebSocketMessage, on connection: WebSocketConnection)
    /// Nothing waits to be sent any more, after the peer was slow or a notice was asked for.
    func drained(_ connection: WebSocketConnection)
    /// The connection is gone; sending on it does nothing from now on.
    func closed(_ close: WebSocketClose, on connection: WebSocketConnection)
}

extension WebSocketHandler {
    package func drained(_ connection: WebSocketConnection) {}
}
