import RelayLink
import WebSocketIO

/// The thread on which all networks of this process do their work. It starts with the first of them and
/// ends with the process.
enum NetworkLoop {
    private static let shared = Result { () throws(IOError) in try IOLoop.start() }

    static func loop() throws(TransportError) -> IOLoop {
        do {
            return try shared.get()
        } catch {
            throw TransportError(error)
        }
    }
}

extension ServerAddress {
    /// The server that a network is for.
    init(networkURL url: String) throws(TransportError) {
        guard let address = ServerAddress(url: url) else {
            throw TransportError(
                code: .invalidURL,
                message: """
                    "\(url)" is not a server URL: it must begin with ws://, wss://, http:// or \
                    https:// and have a host.
                    """)
        }
        self = address
    }
}
