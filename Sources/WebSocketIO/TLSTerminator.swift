import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The encrypted side of a connection: the library does TLS on the socket, and what is inside goes
/// through a pair of local sockets to a connection that knows nothing of TLS.
///
/// So there is one way in which requests are read and connections are upgraded, with TLS or without.
final class TLSTerminator: Endpoint {
    private let inner: Int32
    private let patienceMilliseconds: Int64
    private let ended: (UInt64) -> Void
    private var watcher: SocketWatcher?
    /// What the inner side has not taken yet. Nothing is read from the network meanwhile.
    private var inbound: [UInt8] = []
    /// Since when the inner side has ended, in monotonic milliseconds; nil as long as it has not.
    private var innerEnd: Int64?
    private var isInnerOver: Bool { innerEnd != nil }

    /// - Parameter inner: one of two connected local sockets, which is closed at the end.
    /// - Parameter patienceMilliseconds: how long the last bytes of the inner side may take.
    /// - Parameter ended: called once with our number, when the connection is gone.
    init(
        core: LoopCore, inner: Int32, patienceMilliseconds: Int64,
        ended: @escaping (UInt64) -> Void
    ) {
        self.inner = inner
        self.patienceMilliseconds = patienceMilliseconds
        self.ended = ended
        super.init(core: core)
        watcher = SocketWatcher(core: core, descriptor: inner) { [weak self] events in
            guard let self else { return }
            if events.contains(.write) { passInbound() }
            if events.contains(.read) { passOutbound() }
        }
    }

    /// Takes over an accepted socket, also in the case of failure.
    func adopt(_ descriptor: Int32, vhost: OpaquePointer) {
        core.insert(self)
        var info = lws_adopt_desc_t()
        info.vh = vhost
        info.type = lws_adoption_type(
            rawValue: LWS_ADOPT_SOCKET.rawValue | LWS_ADOPT_ALLOW_SSL.rawValue)
        info.fd.sockfd = descriptor
        info.opaque = opaque
        if let wsi = lws_adopt_descriptor_vhost_via_info(&info) {
            self.wsi = wsi
            core.serviceLibraryTimers()
            updateWatching()
        } else {
            libraryDestroyed()
            core.remove(self)
        }
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_RAW_RX:
            inbound.append(
                contentsOf: UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count))
            passInbound()
        case LWS_CALLBACK_RAW_WRITEABLE:
            if isInnerOver && lws_partial_buffered(wsi) == 0 { return -1 }
            updateWatching()
        default: break
        }
        return 0
    }

    override func libraryDestroyed() {
        guard let watcher else { return }
        watcher.stop()
        self.watcher = nil
        closeDescriptor(inner)
        ended(id)
    }

    override func sweep(now: Int64) {
        if let innerEnd, now - innerEnd >= patienceMilliseconds { abort() }
    }

    /// From the network to the inner side.
    private func passInbound() {
        while !inbound.isEmpty {
            let count = inbound.withUnsafeBytes { sendWithoutSignal(inner, $0) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno != EAGAIN { abort() }
                break
            }
            inbound.removeFirst(count)
        }
        if let wsi { lws_rx_flow_control(wsi, inbound.isEmpty ? 1 : 0) }
        updateWatching()
    }

    /// From the inner side to the network.
    private func passOutbound() {
        guard let wsi, lws_partial_buffered(wsi) == 0 else { return updateWatching() }
        let isAlive = core.withReadBuffer { buffer in
            let count = recv(inner, buffer.baseAddress, buffer.count, 0)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 {
                innerEnd = monotonicMilliseconds()
                return true
            }
            return FrameBuffer.writeRaw(
                UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: wsi)
        }
        if !isAlive { return abort() }
        updateWatching()
    }

    private func updateWatching() {
        guard let wsi else { return }
        let isFull = lws_partial_buffered(wsi) != 0
        if isFull || isInnerOver { lws_callback_on_writable(wsi) }
        var events: SocketWatcher.Events = isFull || isInnerOver ? [] : .read
        if !inbound.isEmpty { events.insert(.write) }
        watcher?.watch(events)
    }
}
