import Foundation
public import Relay

// How the runtime interprets network errors. The error itself is in a room that both the runtime's networks and
// programs without Foundation use.

extension TransportError: SentenceError {
    public var errorDescription: String? { message }
}

extension TransportError: NetworkFailure {
    /// Whether it is about the operation; see the runtime's `NetworkFailure`.
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
