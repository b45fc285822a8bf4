package import HTTPMessages
import Synchronization

/// A server for HTTP and WebSocket on one port.
///
/// For example:
///
///     let loop = try IOLoop.start()
///     let server = try await HTTPServer.start(
///         HTTPServer.Options(host: "127.0.0.1", port: 0), on: loop, handler: handler)
///     print("listening on port \(server.port)")
///     …
///     await server.stop(within: .seconds(5))
///     await loop.stop()
package final class HTTPServer: Sendable {
    /// The port it listens on; the one the system chose if the options said 0.
    package let port: Int
    /// One for each loop, never none.
    private let sides: [Side]

    /// What one loop has of the server.
    private struct Side: Sendable {
        let loop: IOLoop
        let state: LoopConfined<ServerState>
    }

    /// Binds, listens and serves.
    ///
    /// Throws `IOError` with `cannotListen` when the port is taken or the host is not ours,
    /// `badCredentials` when the certificate or key cannot be used, or `stopped`.
    package static func start(
        _ options: Options, on loop: IOLoop, handler: any HTTPServerHandler
    ) async throws -> HTTPServer {
        try await start(options, on: [(loop, handler)])
    }

    /// Binds, listens and serves on several loops. The first accepts all connections and passes each to the loop that has
    /// the fewest, so that they are spread evenly however few they are; a connection stays with its loop.
    ///
    /// Throws as the other one does.
    /// - Parameter sockets: to listen on; closed when the start fails. Without them, the host and port of `options` are
    ///   bound.
    /// - Parameter loops: at least one; each with what its connections ask, on its thread.
    package static func start(
        _ options: Options, bound sockets: ListeningSockets? = nil,
        on loops: [(loop: IOLoop, handler: any HTTPServerHandler)]
    ) async throws -> HTTPServer {
        precondition(!loops.isEmpty, "a server needs a loop")
        let sockets = try sockets ?? ListeningSockets(host: options.host, port: options.port)
        let load = ServerLoad(loops: loops.count, options.limits)
        do {
            var made: [Side] = []
            for (index, (loop, handler)) in loops.enumerated() {
                let state = try await loop.runOnCore { core in
                    LoopConfined(
                        try ServerState(
                            core: core, options: options, handler: handler, load: load,
                            index: index),
                        on: loop)
                }
                made.append(Side(loop: loop, state: state))
            }
            let sides = made
            try sockets.listen()
            try await sides[0].loop.run {
                sides[0].state.value.listen(on: sockets) { place, descriptor, address in
                    let side = sides[place.loop]
                    return side.loop.perform {
                        side.state.value.adopt(
                            descriptor, from: address, isRefused: place.isRefused)
                    }
                }
            }
            return HTTPServer(port: sockets.port, sides: sides)
        } catch {
            sockets.close()
            throw error
        }
    }

    private init(port: Int, sides: [Side]) {
        self.port = port
        self.sides = sides
    }

    /// Ends the server in order: accepts no new connections, ends the streams, closes the WebSocket
    /// connections with 1001 after what is queued, lets requests be answered; what has not ended
    /// by the deadline is cut off. Returns when the last connection is gone. Idempotent.
    package func stop(within deadline: Duration) async {
        // What was accepted before this has been passed on before it, too: no loop gets a connection after its stop.
        _ = try? await sides[0].loop.run { [sides] in sides[0].state.value.stopListening() }
        await withTaskGroup { group in
            for side in sides {
                group.addTask { await Self.stop(side, within: deadline) }
            }
        }
    }

    private static func stop(_ side: Side, within deadline: Duration) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isTaken = side.loop.perform {
                side.state.value.stop(within: deadline) { continuation.resume() }
            }
            if !isTaken { continuation.resume() }
        }
    }

    /// What is in use at a moment.
    package struct Usage: Sendable {
        /// Connections of either kind, handshakes included.
        package var connections: Int
        /// Bytes that wait to be sent on all of them.
        package var queuedBytes: Int
    }

    /// What is in use on each of the loops.
    package func usageByLoop() async throws -> [Usage] {
        var usage: [Usage] = []
        for side in sides { usage.append(try await side.loop.run { side.state.value.usage }) }
        return usage
    }

    /// What is in use on all loops together.
    package func usage() async throws -> Usage {
        try await usageByLoop().reduce(into: Usage(connections: 0, queuedBytes: 0)) { all, one in
            all.connections += one.connections
            all.queuedBytes += one.queuedBytes
        }
    }
}

extension HTTPServer {
    /// Where to listen, what is spoken, and the bounds of everything.
    package struct Options: Sendable {
        /// An address, or a name for addresses of this machine.
        package var host: String
        /// 0 lets the system choose.
        package var port: Int
        package var tls: TLSIdentity?
        /// The subprotocols that may be agreed on.
        package var subprotocols: [String]

        package var limits = Limits()

        package init(
            host: String = "127.0.0.1", port: Int = 0, tls: TLSIdentity? = nil,
            subprotocols: [String] = []
        ) {
            self.host = host
            self.port = port
            self.tls = tls
            self.subprotocols = subprotocols
        }
    }

    /// What connections may take up.
    package struct Limits: Sendable {
        /// Connections of either kind. Later clients get 503.
        package var connections = 20_000
        /// So many clients beyond these get their 503 at the same time, and have a connection for it; later ones are
        /// closed without an answer.
        package var refusals = 128
        /// Larger WebSocket messages close their connection with 1009.
        package var messageBytes = 4 << 20
        /// A larger request line with its header fields is answered 431.
        package var headBytes = 16_384
        /// Larger bodies of requests are answered 413.
        package var bodyBytes = 4 << 20
        /// Bytes that may wait for one connection; beyond it, it is closed, a WebSocket with 1013.
        package var queuedBytes = 16 << 20
        /// From accepting a connection, and from the first byte of each later request, to having the
        /// request whole. A body has two milliseconds more for each byte of it that has come.
        package var handshakeTimeout: Duration = .seconds(10)
        /// How long an HTTP connection may wait for its next request.
        package var idleTimeout: Duration = .seconds(60)
        /// After so much silence a WebSocket peer is pinged; after twice as much it is dead.
        package var keepAlive: Duration = .seconds(30)
        /// A peer that takes nothing for so long is left; with 1013 on a WebSocket connection.
        package var writeStuckTimeout: Duration = .seconds(10)
        /// How long a WebSocket peer that is being closed may take to read on, and learn why.
        package var farewellTimeout: Duration = .seconds(30)
        /// WebSocket connections that may use permessage-deflate, which costs up to 270 KB each while they are
        /// sent to, and nothing when they are idle.
        package var compressedConnections = 0

        package init() {}

        var session: WebSocketSession.Limits {
            WebSocketSession.Limits(
                maxMessageBytes: messageBytes, maxQueuedBytes: queuedBytes,
                keepAliveMilliseconds: keepAlive.wholeMilliseconds,
                writeStuckMilliseconds: writeStuckTimeout.wholeMilliseconds,
                farewellMilliseconds: farewellTimeout.wholeMilliseconds)
        }
    }

    /// A server's certificate chain and private key, as PEM files.
    package struct TLSIdentity: Sendable {
        package var certificateFile: String
        package var keyFile: String

        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }
}

/// What a server asks of its owner. Called on the loop's thread; must not block.
package protocol HTTPServerHandler: AnyObject, Sendable {
    /// Someone wants a WebSocket connection. The handshake is well-formed; `request.subprotocol` is
    /// what will be agreed on.
    func upgrade(_ request: HTTPRequest) -> UpgradeDecision
    /// The head of a request has arrived, and its client waits for permission to send the body (RFC 9110
    /// §10.1.1): the answer, where the head alone decides it; the connection ends with it then.
    func refusal(beforeBody request: HTTPRequest) -> HTTPResponse?
    /// An HTTP client was left because it did not take what it asked for.
    func left(slowClient peerAddress: String, reason: String)
    /// A request has come, with its whole body. The answer may be given later, on any thread.
    func respond(to request: HTTPRequest, with responder: HTTPResponder)
}

extension HTTPServerHandler {
    package func refusal(beforeBody request: HTTPRequest) -> HTTPResponse? { nil }
    package func left(slowClient peerAddress: String, reason: String) {}
}

/// Whether a client gets the WebSocket connection it asks for.
package enum UpgradeDecision: Sendable {
    /// Yes; this handler gets its calls from now on. As many bytes may wait for the peer, if not as the server's limit says.
    case accept(any WebSocketHandler, queuedBytes: Int? = nil)
    /// No; this is the answer, and the connection ends.
    case refuse(HTTPResponse)
}
