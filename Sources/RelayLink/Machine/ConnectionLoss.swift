import GraphQLTransportWS
import WebSocketIO

/// How a connection ended, or why it could not be made, and what remedy there is.
package struct ConnectionLoss: Sendable {
    package enum Remedy: Hashable, Sendable {
        /// Another attempt, after a while.
        case retry
        /// Another attempt with another token.
        case freshToken
        /// Another attempt, without the operation that the server refused to read.
        case withoutRefused
        /// None: the next attempt would end the same way.
        case none
    }

    package let error: TransportError
    package let remedy: Remedy

    init(_ error: TransportError, _ remedy: Remedy) {
        self.error = error
        self.remedy = remedy
    }

    /// The socket was closed, by the server or by neither end.
    init(_ close: WebSocketClose, of address: ServerAddress) {
        let code = SocketCloseCode(rawValue: close.code)
        // What we refuse to read ourselves cannot be attributed to an operation.
        let isOwnRefusal = !close.isFromPeer && code == .messageTooBig
        let message =
            isOwnRefusal
            ? "The connection to \(address) was closed: \(close)."
            : "\(address) closed the connection: \(close)."
        let remedy = isOwnRefusal ? .none : Self.remedy(for: code)
        self.init(
            TransportError(
                code: remedy == .freshToken ? .unauthenticated : .closed(code), message: message),
            remedy)
    }

    /// We have closed the connection ourselves.
    init(own code: CloseCode) {
        let isTimeout = code == .acknowledgementTimeout
        let end = code.reason.hasSuffix(".") ? "" : "."
        let message = "The connection was closed with \(code.code): \(code.reason)\(end)"
        self.init(
            TransportError(code: isTimeout ? .timedOut : .badResponse, message: message),
            isTimeout ? .retry : .none)
    }

    /// The connection was not made.
    package init(_ failure: any Error) {
        let error = TransportError(failure)
        switch error.code {
        case .unauthenticated: self.init(error, .freshToken)
        case .refused(let status):
            self.init(error, status == 429 || status >= 500 ? .retry : .none)
        case .badCredentials, .badResponse, .stopped: self.init(error, .none)
        default: self.init(error, .retry)
        }
    }

    private static func remedy(for code: SocketCloseCode) -> Remedy {
        switch code {
        case .unauthorized, .forbidden: .freshToken
        case .invalidMessage, .messageTooBig: .withoutRefused
        case .subprotocolNotAcceptable, .subscriberExists, .tooManyInitialisations: .none
        default: .retry
        }
    }
}

extension TransportError {
    /// A network's description of a failed connection or request.
    package init(_ failure: any Error) {
        guard let failure = failure as? IOError else {
            self.init(code: .cannotConnect, message: "\(failure)", cause: failure)
            return
        }
        let code: Code =
            switch failure.code {
            case .loopUnavailable, .stopped: .stopped
            case .badCredentials: .badCredentials
            case .timedOut: .timedOut
            case .handshakeRefused(let status):
                status == 401 || status == 403 ? .unauthenticated : .refused(status: status)
            case .tooLarge: .badResponse
            case .cannotListen, .cannotConnect, .connectionLost: .cannotConnect
            }
        self.init(code: code, message: failure.message)
    }
}
