import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A connection as its server sees it, whatever is spoken on it.
protocol ServerPeer: AnyObject {
    var id: UInt64 { get }
    /// Bytes that wait to be sent.
    var queuedBytes: Int { get }
    /// The server stops: ends in order, soon.
    func windDown()
    /// Ends at once.
    func abort()
}

/// The loop's side of a server: its listeners, its connections and how it ends.
final class ServerState {
    /// Connections beyond the limit that are still answered 503; more are just closed.
    private static let refusalSlots = 128

    unowned let core: LoopCore
    let options: HTTPServer.Options
    let handler: any HTTPServerHandler
    private let vhost: OpaquePointer
    private let tlsVhost: OpaquePointer?
    private var listeners: [Listener] = []
    private var peers: [UInt64: any ServerPeer] = [:]
    /// Those of `peers` that speak HTTP.
    private var http: [UInt64: HTTPConnection] = [:]
    /// The encrypted sides of connections, which may outlive these for their last bytes.
    private var terminators: [UInt64: TLSTerminator] = [:]
    var compressedConnections = 0

    private(set) var isStopping = false
    private var whenStopped: [() -> Void] = []

    var usage: HTTPServer.Usage {
        HTTPServer.Usage(
            connections: peers.count,
            queuedBytes: peers.values.reduce(0) { $0 + $1.queuedBytes })
    }
    var isEmpty: Bool { peers.isEmpty }

    init(
        core: LoopCore, options: HTTPServer.Options, handler: any HTTPServerHandler,
        listening sockets: ListeningSockets
    ) throws(IOError) {
        self.core = core
        self.options = options
        self.handler = handler
        vhost = try core.makeServerVhost(options)
        tlsVhost = try options.tls.map(core.makeTLSVhost)
        listeners = sockets.takeDescriptors().map { descriptor in
            Listener(core: core, descriptor: descriptor) { [unowned self] connection, address in
                accepted(connection, from: address)
            }
        }
        core.insert(self)
    }

    // MARK: - Connections

    private func accepted(_ descriptor: Int32, from address: String) {
        if isStopping || peers.count >= options.maxConnections + Self.refusalSlots {
            closeDescriptor(descriptor)
            return
        }
        guard let inner = tlsVhost.map({ terminateTLS(on: descriptor, $0) }) ?? descriptor else {
            return
        }
        let connection = HTTPConnection(
            server: self, descriptor: inner, peerAddress: address,
            isRefused: peers.count >= options.maxConnections)
        peers[connection.id] = connection
        http[connection.id] = connection
        core.scheduleSweep()
    }

    /// Returns a socket on which the connection can be read and written unencrypted.
    private func terminateTLS(on descriptor: Int32, _ vhost: OpaquePointer) -> Int32? {
        guard let (outside, inside) = makeStreamSocketPair() else {
            closeDescriptor(descriptor)
            return nil
        }
        let terminator = TLSTerminator(
            core: core, inner: outside,
            patienceMilliseconds: options.writeStuckTimeout.wholeMilliseconds
        ) { [weak self] id in
            guard let self else { return }
            terminators[id] = nil
            if isStopping { finishIfEmpty() }
        }
        terminators[terminator.id] = terminator
        terminator.adopt(descriptor, vhost: vhost)
        return inside
    }

    /// The library goes on with a connection.
    ///
    /// - Parameters:
    ///   - handshake: what the client has sent for it.
    ///   - rest: what came after it.
    func upgraded(
        _ connection: HTTPConnection, descriptor: Int32, to webSocket: ServerWebSocket,
        handshake: [UInt8], rest: [UInt8]
    ) {
        peers[webSocket.id] = webSocket
        forget(connection)
        let isAdopted = webSocket.adopt(
            descriptor, handshake: handshake, rest: rest, vhost: vhost)
        if !isAdopted { forget(webSocket) }
    }

    func forget(_ peer: any ServerPeer) {
        peers[peer.id] = nil
        http[peer.id] = nil
        if isStopping { finishIfEmpty() }
    }

    func sweep(now: Int64) {
        for connection in Array(http.values) { connection.sweep(now: now) }
    }

    // MARK: - The end

    /// - Parameter completion: called when the last connection is gone.
    func stop(within deadline: Duration, completion: @escaping () -> Void) {
        whenStopped.append(completion)
        if !isStopping {
            isStopping = true
            listeners = []
            for peer in Array(peers.values) { peer.windDown() }
            core.schedule(at: monotonicMilliseconds() + deadline.wholeMilliseconds) { [weak self] in
                guard let self else { return }
                for peer in Array(peers.values) { peer.abort() }
                for terminator in Array(terminators.values) { terminator.abort() }
            }
        }
        finishIfEmpty()
    }

    /// The loop ends.
    func abortAll() {
        isStopping = true
        listeners = []
        for connection in Array(http.values) { connection.abort() }
    }

    private func finishIfEmpty() {
        guard peers.isEmpty, terminators.isEmpty else { return }
        let completions = whenStopped
        whenStopped = []
        for completion in completions { completion() }
    }
}

extension LoopCore {
    /// A vhost for the WebSocket connections of a server. It does not listen: they come to it with
    /// their handshake.
    func makeServerVhost(_ options: HTTPServer.Options) throws(IOError) -> OpaquePointer {
        let table = ProtocolTable(subprotocols: options.subprotocols)
        libraryTables.append(table)
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        info.protocols = UnsafePointer(table.entries)
        info.retry_and_idle_policy = idlePolicy
        if options.maxCompressedConnections > 0 { info.extensions = deflateExtension }
        let vhost = "server".withCString { name in
            info.vhost_name = name
            return lws_create_vhost(context, &info)
        }
        if let vhost { return vhost }
        throw IOError(
            code: .loopUnavailable,
            message: "Could not make a server: libwebsockets refused. Nothing is listening.")
    }

    /// A vhost for the encrypted side of connections.
    func makeTLSVhost(_ identity: HTTPServer.TLSIdentity) throws(IOError) -> OpaquePointer {
        let table = ProtocolTable()
        libraryTables.append(table)
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.protocols = UnsafePointer(table.entries)
        info.retry_and_idle_policy = idlePolicy
        let files = [identity.certificateFile, identity.keyFile]
        guard files.allSatisfy({ access($0, R_OK) == 0 }) else { throw badIdentity(identity) }
        let vhost = withCStrings(
            "tls", "http/1.1", identity.certificateFile, identity.keyFile
        ) { name, applications, certificate, key in
            info.vhost_name = name
            info.alpn = applications
            info.ssl_cert_filepath = certificate
            info.ssl_private_key_filepath = key
            return lws_create_vhost(context, &info)
        }
        if let vhost { return vhost }
        throw badIdentity(identity)
    }

    private func badIdentity(_ identity: HTTPServer.TLSIdentity) -> IOError {
        IOError(
            code: .badCredentials,
            message: "Could not serve TLS with certificate \(identity.certificateFile) and key "
                + "\(identity.keyFile): they cannot be read or do not belong together. "
                + "Nothing is listening.")
    }
}

private func withCStrings<Value>(
    _ first: String, _ second: String, _ third: String, _ fourth: String,
    _ body: (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>
    ) -> Value
) -> Value {
    first.withCString { first in
        second.withCString { second in
            third.withCString { third in
                fourth.withCString { fourth in body(first, second, third, fourth) }
            }
        }
    }
}

/// RFC 7692. Each message is compressed for itself, so that an idle connection keeps no window.
private func makeDeflateExtension() -> UnsafePointer<lws_extension> {
    // The entry after it is all zeros, which ends the table.
    let table = UnsafeMutablePointer<lws_extension>.allocate(capacity: 2)
    table.initialize(repeating: lws_extension(), count: 2)
    table[0].name = UnsafePointer(strdup("permessage-deflate"))
    table[0].callback = lws_extension_callback_pm_deflate
    table[0].client_offer = UnsafePointer(
        strdup("permessage-deflate; client_no_context_takeover; server_no_context_takeover"))
    return UnsafePointer(table)
}

// Never freed: vhosts point to it. Unsafe only in name, as nobody writes to it.
private nonisolated(unsafe) let deflateExtension = makeDeflateExtension()
