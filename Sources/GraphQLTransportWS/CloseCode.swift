/// How a `graphql-transport-ws` connection is closed: the codes and reasons of the protocol document.
package struct CloseCode: Hashable, Sendable {
    package let code: UInt16
    package let reason: String

    package init(_ code: UInt16, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// A message that is not of the protocol; the reason says what is wrong with it.
    package static func invalidMessage(_ reason: String) -> CloseCode { CloseCode(4400, reason) }

    /// An operation was asked for before the connection was acknowledged.
    package static let unauthorized = CloseCode(4401, "Unauthorized")

    /// connection_init was refused.
    package static let forbidden = CloseCode(4403, "Forbidden")

    package static let initialisationTimeout = CloseCode(4408, "Connection initialisation timeout")

    package static func subscriberExists(_ id: String) -> CloseCode {
        CloseCode(4409, "Subscriber for \(id) already exists")
    }

    /// The handshake agreed on no subprotocol that is spoken here.
    package static let subprotocolNotAcceptable = CloseCode(4406, "Subprotocol not acceptable")

    package static let tooManyInitialisations = CloseCode(4429, "Too many initialisation requests")

    /// A client's: the server has sent what is not of the protocol.
    package static func badResponse(_ reason: String) -> CloseCode { CloseCode(4004, reason) }

    /// A client's: the server has not acknowledged in time.
    package static let acknowledgementTimeout = CloseCode(
        4504, "Connection acknowledgement timeout")

    /// A client's: it needs the connection no longer.
    package static let normal = CloseCode(1000, "Normal Closure")
}
