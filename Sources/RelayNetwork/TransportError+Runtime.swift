import Foundation
public import Relay

// What the runtime wants of an error of a network. The error itself is of a room that both the runtime's networks and
// programs without Foundation use.

extension TransportError: SentenceError {
    public var errorDescription: String? { message }
}

extension TransportError: NetworkFailure {
    /// Whether it is about the operation; see `NetworkFailure` of the runtime.
    public var endsMutation: Bool {
        switch code {
        // It would end the same way again, or must not be sent again.
        case .gaveUp, .interrupted, .unsupported, .badResponse: true
        // The server refuses to read it.
        case .closed(let code): code == .invalidMessage || code == .messageTooBig
        case .refused(let status): [400, 413, 422].contains(status)
        case .invalidURL, .cannotConnect, .timedOut, .unauthenticated, .tooManyOperations,
            .overflow, .badCredentials, .stopped:
            false
        }
    }
}
