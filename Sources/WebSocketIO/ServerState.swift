import CLibwebsockets
import HTTPMessages

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection as its loop sees it, whatever is spoken on it.
protocol Peer: AnyObject {
    var id: UInt64 { get }
    /// Bytes that wait to be sent.
    var queuedBytes: Int { get }
    /// Called about once a second with the monotonic milliseconds.
    func sweep(now: Int64)
    /// The server stops: ends in order, soon.
    func windDown()
    /// Ends at once.
    func abort()
}

/// One loop's side of a server: its connections and how they end; on the first loop, the listeners too.
final class ServerState {
    /// Passes a connected socket to the server's side on another loop; false if that loop has stopped.
    typealias HandOver =
        @Sendable (ServerLoad.Place, _ descriptor: Int32, _ address: String) -> Bool

    unowned let core: LoopCore
    let options: HTTPServer.Options
    let handler: any HTTPServerHandler
    private let tlsVhost: OpaquePointer?
    private var listeners: [PortListener] = []
    private var peers: [UInt64: any Peer] = [:]
    private let load: ServerLoad
    /// The number of this loop among those of the server.
    private let index: Int

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
        load: ServerLoad, index: Int
    ) throws(IOError) {
        self.core = core
        self.options = options
        self.handler = handler
        tlsVhost = try options.tls.map(core.makeTLSVhost)
        self.load = load
        self.index = index
        core.insert(self)
    }

    // MARK: - Connections

    /// Begins to accept connections, for all loops.
    func listen(on sockets: ListeningSockets, handOver: @escaping HandOver) {
        listeners = sockets.takeDescriptors().map { descriptor in
            PortListener(core: core, descriptor: descriptor) { [unowned self] connection, address in
                accepted(connection, from: address, handOver)
            }
        }
    }

    private func accepted(
        _ descriptor: Int32, from address: String, _ handOver: HandOver
    ) {
        guard !isStopping, let place = load.take() else { return closeDescriptor(descriptor) }
        if place.loop == index {
            adopt(descriptor, from: address, isRefused: place.isRefused)
        } else if !handOver(place, descriptor, address) {
            closeDescriptor(descriptor)
            load.leave(loop: place.loop)
        }
    }

    /// Takes over a connected socket, whose place is taken already.
    func adopt(_ descriptor: Int32, from address: String, isRefused: Bool) {
        if isStopping {
            closeDescriptor(descriptor)
            return load.leave(loop: index)
        }
        guard let stream = makeStream(on: descriptor) else { return load.leave(loop: index) }
        let connection = HTTPConnection(
            server: self, stream: stream, peerAddress: address, isRefused: isRefused)
        peers[connection.id] = connection
        core.scheduleSweep()
    }

    private func makeStream(on descriptor: Int32) -> ByteStream? {
        guard let tlsVhost else { return SocketStream(core: core, descriptor: descriptor) }
        return LibraryStream.adopt(descriptor, vhost: tlsVhost, core: core)
    }

    /// What is agreed on about compression; nil when there shall be none.
    func agreeOnCompression(with request: HTTPRequest) -> DeflateAgreement? {
        guard let agreement = DeflateAgreement(offers: request.offeredExtensions),
            load.takeCompression()
        else { return nil }
        return agreement
    }

    /// A connection goes on as a WebSocket.
    func upgraded(_ connection: HTTPConnection, to session: WebSocketSession) {
        peers[connection.id] = nil
        peers[session.id] = session
    }

    /// A connection is gone.
    func forget(_ id: UInt64, isCompressed: Bool = false) {
        guard peers.removeValue(forKey: id) != nil else { return }
        load.leave(loop: index)
        if isCompressed { load.leaveCompression() }
        if isStopping { finishIfEmpty() }
    }

    func sweep(now: Int64) {
        for peer in Array(peers.values) { peer.sweep(now: now) }
    }

    // MARK: - The end

    func stopListening() { listeners = [] }

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
            }
        }
        finishIfEmpty()
    }

    /// The loop ends.
    func abortAll() {
        isStopping = true
        listeners = []
        for peer in Array(peers.values) { peer.abort() }
    }

    private func finishIfEmpty() {
        guard peers.isEmpty else { return }
        let completions = whenStopped
        whenStopped = []
        for completion in completions { completion() }
    }
}

extension LoopCore {
    /// A vhost for encrypted connections. It does not listen: they come to it when they are accepted.
    func makeTLSVhost(_ identity: HTTPServer.TLSIdentity) throws(IOError) -> OpaquePointer {
        var info = lws_context_creation_info()
        info.port = CONTEXT_PORT_NO_LISTEN_SERVER
        info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
        info.protocols = ProtocolTable.shared.entries
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
