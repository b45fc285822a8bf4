// Errors of operations that end here.
extension TransportError {
    package static func tooMany(_ name: String, _ limit: Int) -> TransportError {
        TransportError(
            code: .tooManyOperations,
            message: "Operation \(name) was not sent: \(limit) operations are in flight or waiting.")
    }

    package static func overflow(_ name: String) -> TransportError {
        TransportError(
            code: .overflow,
            message: """
                Responses of operation \(name) arrived faster than they were read, and it has no \
                cursor to resume from. It was stopped.
                """)
    }

    package static func interrupted(_ name: String) -> TransportError {
        TransportError(
            code: .interrupted,
            message: """
                The connection was lost before mutation \(name) was answered. Whether it was \
                carried out is not known; it was not sent again.
                """)
    }

    package static func gaveUp(_ name: String, after count: UInt64) -> TransportError {
        TransportError(
            code: .gaveUp,
            message: """
                Mutation \(name) was given up: it was sent \(count) times, and each time the connection \
                was lost or the server gave no GraphQL response. Whether it was carried out is not known.
                """)
    }

    package static func refused(_ name: String, _ error: TransportError) -> TransportError {
        TransportError(
            code: error.code,
            message: """
                Operation \(name) was given up because the server refuses to read it. \(error.message)
                """)
    }

    package static func noTokenInTime(_ limit: Duration) -> TransportError {
        TransportError(
            code: .timedOut, message: "The token provider returned no token within \(limit).")
    }

    package static func noPongInTime(_ limit: Duration) -> TransportError {
        TransportError(
            code: .timedOut, message: "The server did not answer a ping within \(limit).")
    }

    package static func noToken(_ error: any Error) -> TransportError {
        TransportError(
            code: .unauthenticated, message: "The token provider failed: \(error)", cause: error)
    }
}
