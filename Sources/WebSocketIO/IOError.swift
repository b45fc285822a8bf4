#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What went wrong on a socket, with a sentence for people and a code for programs.
package struct IOError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a program may want to act on.
    package enum Code: Equatable, Sendable {
        /// The event loop could not be made.
        case loopUnavailable
        /// The loop, the server or the connection has ended; nothing was sent.
        case stopped
        /// The listening socket could not be bound. The system's error number, if it gave one.
        case cannotListen(errno: Int32)
        /// A certificate, key or authority file could not be used.
        case badCredentials
        /// No connection was made: refused, unreachable, unknown host, TLS failure.
        case cannotConnect
        /// Nothing was heard in time.
        case timedOut
        /// The peer answered a WebSocket handshake with this HTTP status.
        case handshakeRefused(status: Int)
        /// The peer went away before the answer was complete.
        case connectionLost
        /// An answer was larger than allowed.
        case tooLarge
    }

    package let code: Code
    /// What was tried, on what, what was wrong, and what state things are in.
    package let message: String

    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }

    static func stopped(_ attempted: String) -> IOError {
        IOError(code: .stopped, message: "Could not \(attempted): the network loop has stopped.")
    }
}

/// The system's words for an error number.
func systemErrorText(_ number: Int32) -> String {
    String(cString: strerror(number))
}
