package import HTTPMessages

/// Makes WebSocket connections to servers.
///
/// For example:
///
///     let connection = try await WebSocketClient.connect(
///         to: ServerAddress(host: "127.0.0.1", port: 8080, path: "/graphql"),
///         WebSocketClient.Options(subprotocols: ["graphql-transport-ws"]),
///         on: loop, handler: handler)
///     connection.send(text: #"{"type":"connection_init"}"#)
package enum WebSocketClient {
    package struct Options: Sendable {
        /// What is offered; the server picks one.
        package var subprotocols: [String]
        /// Besides those of the handshake, such as `authorization`.
        package var headers: HTTPHeaders
        /// Certificates in PEM to check a server against; nil means the system's.
        package var authorityFile: String?
        /// Offer the server compression (permessage-deflate, RFC 7692). Whether it is used is the server's to say.
        package var offersCompression = false
        /// From the first packet to the end of the handshake.
        package var connectTimeout: Duration = .seconds(10)
        /// Larger messages close the connection with 1009.
        package var maxMessageBytes = 64 << 20
        /// Payload bytes waiting to be sent; beyond it, the connection is closed with 1013.
        package var maxQueuedBytes = 64 << 20
        /// After so much silence the server is pinged; after twice as much it is dead.
        package var keepAlive: Duration = .seconds(30)
        /// A server that takes nothing for so long is left, with 1013.
        package var writeStuckTimeout: Duration = .seconds(30)

        package init(
            subprotocols: [String] = [], headers: HTTPHeaders = HTTPHeaders(),
            authorityFile: String? = nil
        ) {
            self.subprotocols = subprotocols
            self.headers = headers
            self.authorityFile = authorityFile
        }
    }

    /// Connects, and returns when the handshake is done; `handler` then has heard of it already.
    ///
    /// Throws `IOError` with `cannotConnect`, `timedOut`, `handshakeRefused`, `badCredentials` or
    /// `stopped`; then the handler hears nothing.
    package static func connect(
        to address: ServerAddress, _ options: Options = Options(), on loop: IOLoop,
        handler: any WebSocketHandler
    ) async throws -> WebSocketConnection {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = loop.performOnCore { core in
                OutgoingConnection(
                    core: core, address: address, options: options, handler: handler
                ) { continuation.resume(with: $0) }.connect()
            }
            if !isTaken {
                continuation.resume(throwing: IOError.stopped("connect to \(address)"))
            }
        }
    }
}
