import CLibwebsockets

/// A connection in the library's raw role: it accepts TLS, and connects to servers.
///
/// The library's handle points here; `LoopCore.libraryStreams` keeps the stream until the handle is gone. The
/// descriptor is the library's to close, always.
final class LibraryStream: ByteStream {
    let id: UInt64
    /// The library's handle, nil before there is one and after it is gone. The loop's thread alone has it.
    private var wsi: OpaquePointer? {
        get {
            if handle != nil { core.loop.assertIsCurrent() }
            return handle
        }
        set {
            if newValue != nil { core.loop.assertIsCurrent() }
            handle = newValue
        }
    }
    private var handle: OpaquePointer?
    private let isEncrypted: Bool
    private var isOpened = false

    // Of a connection that is being made.
    private var port = 0
    private var lookUp: HostResolver.LookUp?
    /// Those of its host that have not been tried.
    private var addresses: ArraySlice<String> = []
    /// How long finding the host and all of them may take.
    private var timeoutMilliseconds: Int64 = 0
    private var deadline: Int64 = 0
    private var timer: LoopTimer?
    private static let leastPatienceMilliseconds: Int64 = 250
    /// The address that was tried last has come to nothing, and the next one is tried at the loop's next turn.
    private var hasFailed = false

    /// So much is encrypted at once: a record of TLS.
    private static let recordBytes = 16_384

    private init(core: LoopCore, isEncrypted: Bool) {
        id = core.nextID()
        self.isEncrypted = isEncrypted
        super.init(core: core, isReading: true)
    }

    /// Takes over an accepted socket, to do TLS on it. Nil when the library refuses; the socket is closed then.
    static func adopt(_ descriptor: Int32, vhost: OpaquePointer, core: LoopCore) -> LibraryStream? {
        // When the library releases one for which it has no place, it writes outside its table.
        guard descriptor < core.descriptorTableSize else {
            closeDescriptor(descriptor)
            return nil
        }
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
        return stream
    }

    // MARK: Connecting

    /// Begins to connect; `streamOpened` or `streamLost` follow, also before this returns.
    static func connect(
        to address: ServerAddress, timeout: Duration = .seconds(10), owner: any ByteStreamOwner,
        core: LoopCore
    ) -> LibraryStream {
        let stream = LibraryStream(core: core, isEncrypted: false)
        stream.owner = owner
        stream.port = address.port
        stream.timeoutMilliseconds = timeout.wholeMilliseconds
        stream.deadline = monotonicMilliseconds() + stream.timeoutMilliseconds
        if HostResolver.isAddress(address.host) {
            stream.connect(toAddress: address.host)
        } else {
            stream.findAddresses(of: address.host)
        }
        return stream
    }

    private struct Waiting {
        weak var stream: LibraryStream?
    }

    private func findAddresses(of host: String) {
        let waiting = LoopConfined(Waiting(stream: self), on: core.loop)
        lookUp = core.resolver.begin(host) { [loop = core.loop] answer in
            loop.performOnCore { _ in waiting.value.stream?.found(answer) }
        }
    }

    private func found(_ answer: HostResolver.Answer) {
        lookUp = nil
        if isClosed { return }
        switch answer {
        case .success(let addresses):
            self.addresses = addresses[...]
            connectToNext(cause: "the host has no address")
        case .failure(let failure):
            lose(failure.cause)
        }
    }

    /// Tries the host's addresses, one after the other, until there is a connection.
    ///
    /// - Parameter cause: why there is none so far.
    private func connectToNext(cause: String) {
        if isClosed { return }
        guard let address = addresses.popFirst() else { return lose(cause) }
        connect(toAddress: address)
    }

    private func connect(toAddress host: String) {
        guard let vhost = core.vhostForClients() else { return lose("libwebsockets refused") }
        hasFailed = false
        core.insert(self)
        var info = lws_client_connect_info()
        info.context = core.context
        info.vhost = vhost
        info.port = Int32(port)
        info.retry_and_idle_policy = idlePolicy
        info.opaque_user_data = opaque
        // The library copies the strings before the call returns.
        let wsi = host.withCString { host in
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
        if hasFailed { return }
        guard let wsi else {
            self.wsi = nil
            core.remove(self)
            return connectingFailed("the connection could not be made")
        }
        self.wsi = wsi
        if clws_resolves_later == 0, lws_get_socket_fd(wsi) < 0 {
            // Since 4.3 it would try to make a socket again each second.
            if addresses.isEmpty { return lose("the connection could not be made") }
            forget(wsi)
            lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC)
            connectingFailed("the connection could not be made")
        } else if isClosed {
            closeConnection()
        } else if !addresses.isEmpty, !isOpened {
            let now = monotonicMilliseconds()
            // Its share of what is left, so that the last one gets its turn as well.
            let part = min(timeoutMilliseconds / 4, (deadline - now) / Int64(addresses.count + 1))
            let end = now + max(part, Self.leastPatienceMilliseconds)
            timer = core.schedule(at: end) { [weak self] in self?.leaveAddress() }
        }
    }

    /// An address that does not answer must not take the time of the others.
    private func leaveAddress() {
        guard let wsi, !isOpened, !isClosed else { return }
        forget(wsi)
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC)
        connectToNext(cause: "there was no answer")
    }

    /// The library reports nothing more about this handle, which it takes down.
    private func forget(_ wsi: OpaquePointer) {
        lws_set_opaque_user_data(wsi, nil)
        self.wsi = nil
        core.remove(self)
    }

    /// One address failed.
    private func connectingFailed(_ cause: String) {
        if isClosed || hasFailed { return }
        timer?.cancel()
        if addresses.isEmpty { return lose(cause) }
        hasFailed = true
        // Not from within the library's call.
        core.schedule(at: monotonicMilliseconds()) { [weak self] in
            self?.connectToNext(cause: cause)
        }
    }

    private var opaque: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func from(_ opaque: UnsafeMutableRawPointer) -> LibraryStream {
        Unmanaged<LibraryStream>.fromOpaque(opaque).takeUnretainedValue()
    }

    // MARK: - Callbacks

    /// Does what a callback asks for, and returns what the library shall do: 0: continue; -1, close the
    /// connection.
    ///
    /// Only three callbacks may close it. The others come from the middle of the library's own work, also while it
    /// takes a connection down: of LWS_CALLBACK_LOCK_POLL, which it sends where it was built with external polling
    /// (Debian 13), it takes anything but 0 for "leave the tables as they are", and keeps a descriptor that it closes.
    func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_RAW_CONNECTED, LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE:
            if isClosed { return -1 }
            // A client's first callback comes before the call that made the connection has returned.
            self.wsi = wsi
            serve(reason, bytes)
            return isClosed ? -1 : 0
        case LWS_CALLBACK_RAW_CLOSE:
            // The library takes the peer's end for the connection's. For an encrypted one it can no longer be
            // told whether the peer has said that it ends.
            if !isClosed, !isEncrypted, !isInputOver, isOpened, peerEnd == .finished {
                isInputOver = true
                owner?.streamInputEnded()
            }
            return 0
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            // It is being taken down already, and may not be touched.
            self.wsi = nil
            if isClosed { return 0 }
            if !addresses.isEmpty { forget(wsi) }
            connectingFailed(String(decoding: bytes, as: UTF8.self))
            return 0
        default:
            return 0
        }
    }

    private func serve(_ reason: lws_callback_reasons, _ bytes: UnsafeRawBufferPointer) {
        switch reason {
        case LWS_CALLBACK_RAW_CONNECTED:
            // Some versions (4.3.3) say it twice.
            if isOpened { return }
            isOpened = true
            timer?.cancel()
            addresses = []
            owner?.streamOpened()
        case LWS_CALLBACK_RAW_RX: owner?.streamReceived(bytes)
        default: continueWriting()
        }
    }

    /// The library's handle is gone, for whatever reason.
    func libraryDestroyed() {
        wsi = nil
        if isOpened || isEncrypted {
            lose("the connection broke off")
        } else {
            connectingFailed("the connection broke off")
        }
    }

    // MARK: - The stream

    /// Bypasses `lws_write`, which keeps what a socket does not take and reads nothing meanwhile, so that the
    /// loop is notified of waiting input again and again.
    override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let wsi else { return nil }
        guard isEncrypted else { return sendSome(lws_get_socket_fd(wsi), bytes) }
        guard let tls = lws_get_ssl(wsi) else { return nil }
        // What another connection left there would be mistaken for this one's error.
        ERR_clear_error()
        let count = SSL_write(tls, bytes.baseAddress, Int32(min(bytes.count, Self.recordBytes)))
        if count > 0 { return Int(count) }
        // The record that was begun is gone on with when the same bytes are written again.
        return SSL_get_error(tls, count) == SSL_ERROR_WANT_WRITE ? 0 : nil
    }

    override var sentBytes: Int {
        guard isEncrypted, let wsi, let tls = lws_get_ssl(wsi), let socket = SSL_get_wbio(tls)
        else {
            return super.sentBytes
        }
        return Int(clamping: BIO_number_written(socket))
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
        if isEncrypted, let tls = lws_get_ssl(wsi) {
            ERR_clear_error()
            SSL_shutdown(tls)
        }
        shutdownSending(lws_get_socket_fd(wsi))
    }

    /// Ends the connection at once, without a word to the peer: with TLS, no alert is sent. From within a callback of
    /// the library, when that has returned.
    override func closeConnection() {
        timer?.cancel()
        if let lookUp { core.resolver.cancel(lookUp) }
        lookUp = nil
        guard wsi != nil else { return }
        if core.isInLibrary {
            core.schedule(at: monotonicMilliseconds()) { [self] in destroyHandle() }
        } else {
            destroyHandle()
        }
    }

    /// The library forgets a timeout of its own as soon as a connection gets on, so it is not asked for one.
    private func destroyHandle() {
        if let wsi { lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC) }
    }

    override var descriptor: Int32? { wsi.map(lws_get_socket_fd) }
}

// Everything the library has to say comes through here. A top-level function: a closure could
// inherit an actor's isolation, and the library's thread would then trap on entering it.
func libwebsocketsCallback(
    wsi: OpaquePointer?, reason: lws_callback_reasons, user: UnsafeMutableRawPointer?,
    data: UnsafeMutableRawPointer?, count: Int
) -> Int32 {
    if reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS {
        // A vhost is being made; this is its SSL_CTX.
        if let user { clws_set_modes(OpaquePointer(user)) }
        return 0
    }
    guard
        let wsi, let opaque = lws_get_opaque_user_data(wsi), let context = lws_get_context(wsi),
        let core = LoopWakeup.owner(of: lws_context_user(context))
    else { return 0 }
    let stream = LibraryStream.from(opaque)
    if reason == LWS_CALLBACK_WSI_DESTROY {
        lws_set_opaque_user_data(wsi, nil)
        core.enterFromLibrary {
            stream.libraryDestroyed()
            core.remove(stream)
        }
        return 0
    }
    let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
    return core.enterFromLibrary { stream.handle(reason, wsi: wsi, bytes) }
}
