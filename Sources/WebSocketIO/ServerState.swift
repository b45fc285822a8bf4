import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The loop's side of a server: its listeners, its connections and how it ends.
final class ServerState {
    /// Connections beyond the limit that are still answered 503; more are just closed.
    private static let refusalSlots = 128

    let core: LoopCore
    let options: HTTPServer.Options
    let handler: any HTTPServerHandler
    private let vhost: OpaquePointer
    private var listeners: [Listener] = []
    private var connections: [UInt64: ServerConnection] = [:]
    var compressedConnections = 0

    private(set) var isStopping = false
    private var whenStopped: [() -> Void] = []

    var connectionCount: Int { connections.count }
    var isFull: Bool { connections.count >= options.maxConnections }

    init(
        core: LoopCore, options: HTTPServer.Options, handler: any HTTPServerHandler,
        listening sockets: ListeningSockets
    ) throws(IOError) {
        self.core = core
        self.options = options
        self.handler = handler
        vhost = try core.makeServerVhost(options)
        for descriptor in sockets.takeDescriptors() {
            let listener = Listener(core: core) { [unowned self] descriptor, address in
                accepted(descriptor, from: address)
            }
            guard listener.listen(on: descriptor, vhost: vhost) else { continue }
            listeners.append(listener)
        }
    }

    private func accepted(_ descriptor: Int32, from address: String) {
        if isStopping || connections.count >= options.maxConnections + Self.refusalSlots {
            close(descriptor)
            return
        }
        let connection = ServerConnection(server: self, peerAddress: address, isRefused: isFull)
        connections[connection.id] = connection
        core.insert(connection)
        if !connection.adopt(descriptor, vhost: vhost) {
            core.remove(connection)
            forget(connection)
        }
    }

    func forget(_ connection: ServerConnection) {
        connections[connection.id] = nil
        if isStopping { finishIfEmpty() }
    }

    /// - Parameter completion: called when the last connection is gone.
    func stop(within deadline: Duration, completion: @escaping () -> Void) {
        whenStopped.append(completion)
        if !isStopping {
            isStopping = true
            for listener in listeners { listener.stop() }
            listeners = []
            for connection in Array(connections.values) { connection.windDown() }
            core.schedule(at: monotonicMilliseconds() + deadline.wholeMilliseconds) { [weak self] in
                guard let self else { return }
                for connection in Array(connections.values) { connection.abort() }
            }
        }
        finishIfEmpty()
    }

    private func finishIfEmpty() {
        guard connections.isEmpty else { return }
        let completions = whenStopped
        whenStopped = []
        for completion in completions { completion() }
    }
}

extension LoopCore {
    /// A vhost to serve under. It does not listen itself: we accept, so that a busy port is an
    /// error with a number, the connections can be counted, and listening can end.
    func makeServerVhost(_ options: HTTPServer.Options) throws(IOError) -> OpaquePointer {
        let table = ProtocolTable(subprotocols: options.subprotocols)
        libraryTables.append(table)
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        info.protocols = UnsafePointer(table.entries)
        info.retry_and_idle_policy = idlePolicy
        info.keepalive_timeout = Int32(
            clamping: options.idleTimeout.wholeMilliseconds / 1_000)
        info.timeout_secs = UInt32(
            clamping: max(1, options.handshakeTimeout.wholeMilliseconds / 1_000))
        info.timeout_secs_ah_idle = info.timeout_secs
        if options.maxCompressedConnections > 0 { info.extensions = deflateExtension }
        let vhost =
            if let tls = options.tls {
                withCStrings("server", "http/1.1", tls.certificateFile, tls.keyFile) {
                    name, protocols, certificate, key in
                    info.vhost_name = name
                    // HTTP/2 would put several requests on one handle.
                    info.alpn = protocols
                    info.ssl_cert_filepath = certificate
                    info.ssl_private_key_filepath = key
                    return lws_create_vhost(context, &info)
                }
            } else {
                "server".withCString { name in
                    info.vhost_name = name
                    return lws_create_vhost(context, &info)
                }
            }
        if let vhost { return vhost }
        throw IOError(
            code: .badCredentials,
            message: options.tls.map {
                "Could not serve TLS with certificate \($0.certificateFile) and key \($0.keyFile): "
                    + "they cannot be read or do not belong together. Nothing is listening."
            } ?? "Could not make a server: libwebsockets refused. Nothing is listening.")
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
