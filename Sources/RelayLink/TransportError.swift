/// Why an operation got no response from the server.
///
/// What the server itself says about an operation is not such an error: it is a response with `errors`.
public struct TransportError: Error, CustomStringConvertible {
    /// What a program may want to act on.
    public enum Code: Hashable, Sendable {
        /// The text is not the URL of a server.
        case invalidURL
        /// The server could not be reached in as many attempts as the options allow.
        case cannotConnect
        /// There was no answer in time.
        case timedOut
        /// The server rejects the client, even with a fresh token.
        case unauthenticated
        /// The server answered with this HTTP status, and without a GraphQL response.
        case refused(status: Int)
        /// The connection was closed in a way that retrying would not fix.
        case closed(SocketCloseCode)
        /// The connection broke; it is unknown whether the mutation was carried out.
        case interrupted
        /// As often as the options allow, the mutation was sent and the connection ended before its answer,
        /// or the server had no response for it alone. It is unknown whether it was carried out.
        case gaveUp
        /// The server violated the protocol.
        case badResponse
        /// More operations wait than the options allow.
        case tooManyOperations
        /// Responses arrived faster than they were read, and the stream cannot be resumed.
        case overflow
        /// The network cannot carry this kind of operation.
        case unsupported
        /// A certificate, key or authority file could not be used.
        case badCredentials
        /// The network has ended.
        case stopped
    }

    /// What happened, for programs.
    public let code: Code
    /// What was attempted, on what, what was wrong, and the resulting state.
    public let message: String
    /// The underlying error, such as that of a token provider.
    public let cause: (any Error)?

    /// An error of a network.
    /// - Parameters:
    ///   - code: what happened, for programs.
    ///   - message: what was attempted, on what, what was wrong, and the resulting state.
    ///   - cause: the underlying error, such as that of a token provider.
    public init(code: Code, message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { message }
}

/// The code with which a WebSocket connection was closed. RFC 6455 §7.4, and graphql-transport-ws.
public struct SocketCloseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The purpose is fulfilled (RFC 6455 §7.4.1).
    public static let normal = SocketCloseCode(rawValue: 1000)
    /// The server shuts down, or the client leaves (RFC 6455 §7.4.1).
    public static let goingAway = SocketCloseCode(rawValue: 1001)
    /// The connection broke without a close frame.
    public static let abnormal = SocketCloseCode(rawValue: 1006)
    /// A message was too big (RFC 6455 §7.4.1).
    public static let messageTooBig = SocketCloseCode(rawValue: 1009)
    /// Something went wrong in the server (RFC 6455 §7.4.1).
    public static let internalError = SocketCloseCode(rawValue: 1011)
    /// The server is overloaded, or the client too slow.
    public static let tryAgainLater = SocketCloseCode(rawValue: 1013)
    /// The client received an invalid message.
    public static let badResponse = SocketCloseCode(rawValue: 4004)
    /// The server received an invalid message.
    public static let invalidMessage = SocketCloseCode(rawValue: 4400)
    /// A request was made before the connection was acknowledged (graphql-transport-ws).
    public static let unauthorized = SocketCloseCode(rawValue: 4401)
    /// The token was refused (graphql-transport-ws).
    public static let forbidden = SocketCloseCode(rawValue: 4403)
    /// The server does not speak graphql-transport-ws.
    public static let subprotocolNotAcceptable = SocketCloseCode(rawValue: 4406)
    /// The client did not initialise in time (graphql-transport-ws).
    public static let initialisationTimeout = SocketCloseCode(rawValue: 4408)
    /// An operation's id was used twice (graphql-transport-ws).
    public static let subscriberExists = SocketCloseCode(rawValue: 4409)
    /// The client initialised twice (graphql-transport-ws).
    public static let tooManyInitialisations = SocketCloseCode(rawValue: 4429)
    /// The server did not acknowledge in time (graphql-transport-ws).
    public static let acknowledgementTimeout = SocketCloseCode(rawValue: 4504)

    public var description: String { "\(rawValue)" }
}

extension TransportError {
    package static func stopped(_ attempted: String) -> TransportError {
        TransportError(
            code: .stopped, message: "Could not \(attempted): the network has been stopped.")
    }
}

extension TransportError {
    /// The server, or a proxy in front of it, refuses the request; not for lack of a token (401, 407).
    package var isRefusal: Bool {
        if case .refused(let status) = code {
            (400..<500).contains(status) && status != 407
        } else {
            false
        }
    }
}
