import CLibwebsockets

/// A connection in the library's raw role: it accepts TLS, and connects to servers.
///
/// The library's handle points here; `LoopCore.libraryStreams` keeps the stream until the handle is gone. The
/// descriptor is the library's to close, always.
final class LibraryStream: ByteStream {
    let id: UInt64
    /// The library's handle, nil before there is one and after it is gone.
    private var wsi: OpaquePointer?
    private let isEncrypted: Bool

    /// So much is handed to the library in one piece: it copies what the socket does not take.
    private static let pieceBytes = 65_536

    private init(core: LoopCore, isEncrypted: Bool) {
        id = core.nextID()
        self.isEncrypted = isEncrypted
        super.init(core: core, isReading: true)
    }

    /// Takes over an accepted socket, to do TLS on it. Nil when the library refuses; the socket is closed then.
    static func adopt(_ descriptor: Int32, vhost: OpaquePointer, core: LoopCore) -> LibraryStream? {
        let stream = LibraryStream(core: core, isEncrypted: true)
        core.insert(stream)
        var info = lws_adopt_desc_t()
        info.vh = vhost
        info.type = lws_adoption_type(
            rawValue: LWS_ADOPT_SOCKET.rawValue | LWS_ADOPT_ALLOW_SSL.rawValue)
        info.fd.sockfd = descriptor
        info.opaque = stream.opaque
        guard let wsi = lws_adopt_descriptor_vhost_via_info(&info) else {
            core.remove(stream)
            return nil
        }
        stream.wsi = wsi
        core.serviceLibraryTimers()
        return stream
    }

    /// Begins to connect; `streamOpened` or `streamLost` follow, also before this returns.
    ///
    /// - Parameter vhost: one that does not listen.
    static func connect(
        to address: ServerAddress, vhost: OpaquePointer, owner: any ByteStreamOwner, core: LoopCore
    ) -> LibraryStream {
        let stream = LibraryStream(core: core, isEncrypted: false)
        stream.owner = owner
        core.insert(stream)
        var info = lws_client_connect_info()
        info.context = core.context
        info.vhost = vhost
        info.port = Int32(address.port)
        info.retry_and_idle_policy = idlePolicy
        info.opaque_user_data = stream.opaque
        // The library copies the strings before the call returns.
        let wsi = address.host.withCString { host in
            "RAW".withCString { method in
                ProtocolTable.name.withCString { name in
                    info.address = host
                    info.host = host
                    info.method = method
                    info.local_protocol_name = name
                    return lws_client_connect_via_info(&info)
                }
            }
        }
        if let wsi {
            stream.wsi = wsi
            core.serviceLibraryTimers()
        } else {
            stream.wsi = nil
            core.remove(stream)
            stream.lose("the connection could not be made")
        }
        return stream
    }

    private var opaque: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ opaque: UnsafeMutableRawPointer) -> LibraryStream {
        Unmanaged<LibraryStream>.fromOpaque(opaque).takeUnretainedValue()
    }

    // MARK: - Callbacks

    /// Does what a callback asks for. A nonzero answer closes the connection.
    func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer
    ) -> Int32 {
        // A client's first callbacks come before the call that made the connection has returned.
        if self.wsi == nil { self.wsi = wsi }
        if isClosed { return -1 }
        switch reason {
        case LWS_CALLBACK_RAW_CONNECTED: owner?.streamOpened()
        case LWS_CALLBACK_RAW_RX: owner?.streamReceived(bytes)
        case LWS_CALLBACK_RAW_WRITEABLE: continueWriting()
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            // It is being taken down already, and may not be touched.
            self.wsi = nil
            lose(String(decoding: bytes, as: UTF8.self))
        default: break
        }
        return isClosed ? -1 : 0
    }

    /// The library's handle is gone, for whatever reason.
    func libraryDestroyed() {
        wsi = nil
        lose("the connection broke off")
    }

    // MARK: - The stream

    override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let wsi, let start = bytes.baseAddress else { return nil }
        let count = min(bytes.count, Self.pieceBytes)
        // The bytes are not changed; only the type of the parameter says they might.
        let pointer = UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
        // The library takes all of them: what the socket refuses it keeps, and `isFull` says so. Its name for raw
        // bytes, LWS_WRITE_RAW, is a macro for this one.
        return lws_write(wsi, pointer, count, LWS_WRITE_HTTP) < 0 ? nil : count
    }

    override var isFull: Bool {
        guard let wsi else { return false }
        return lws_partial_buffered(wsi) != 0
    }

    override func awaitWritable() {
        if let wsi { lws_callback_on_writable(wsi) }
    }

    override func readingChanged() {
        if let wsi { lws_rx_flow_control(wsi, isReading ? 1 : 0) }
    }

    override func finish() {
        guard let wsi else { return }
        // RFC 8446 §6.1: without a close_notify the peer takes what it has read for cut off.
        if isEncrypted, let tls = lws_get_ssl(wsi) { SSL_shutdown(tls) }
        shutdownSending(lws_get_socket_fd(wsi))
    }

    /// Ends the connection at the next turn of the loop, or with the answer to the callback that this is in.
    override func closeConnection() {
        guard let wsi else { return }
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC)
        core.serviceLibraryTimers()
    }
}

// Everything the library has to say comes through here. A top-level function: a closure could
// inherit an actor's isolation, and the library's thread would then trap on entering it.
func libwebsocketsCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    data: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    if reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS {
        // A vhost is being made; this is its SSL_CTX. OpenSSL would keep two buffers of 16 KB for each connection, also
        // when nothing is in them.
        if let user { clws_release_buffers(OpaquePointer(user)) }
        return 0
    }
    guard
        let wsi, let opaque = lws_get_opaque_user_data(wsi), let context = lws_get_context(wsi),
        let core = LoopWakeup.owner(of: lws_context_user(context))
    else { return 0 }
    let stream = LibraryStream.from(opaque)
    if reason == LWS_CALLBACK_WSI_DESTROY {
        lws_set_opaque_user_data(wsi, nil)
        core.enter {
            stream.libraryDestroyed()
            core.remove(stream)
        }
        return 0
    }
    let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
    return core.enter { stream.handle(reason, wsi: wsi, bytes) }
}
