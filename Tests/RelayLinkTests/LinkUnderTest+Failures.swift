import WebSocketIO

@testable import RelayLink

extension LinkUnderTest {
    static let address = ServerAddress(host: "localhost", port: 1, path: "/graphql")

    /// What prevents a connection.
    enum IOFailure {
        case unreachable
        case status(Int)

        var error: IOError {
            switch self {
            case .unreachable: IOError(code: .cannotConnect, message: "unreachable")
            case .status(let status):
                IOError(code: .handshakeRefused(status: status), message: "status \(status)")
            }
        }
    }
}
