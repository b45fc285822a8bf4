import CLibwebsockets

/// A WebSocket connection that a server has accepted, from the library's part of the handshake on.
final class ServerWebSocket: Endpoint, ServerPeer {
    let server: ServerState
    private let handler: any WebSocketHandler
    private let peerAddress: String
    private let subprotocol: String?
    private var session: WebSocketSession?
    private var isCompressed = false
    private var maskCheck: MaskCheck?
    private var sendsUnmasked = false

    init(
        server: ServerState, handler: any WebSocketHandler, peerAddress: String,
        subprotocol: String?
    ) {
        self.server = server
        self.handler = handler
        self.peerAddress = peerAddress
        self.subprotocol = subprotocol
        super.init(core: server.core)
    }

    /// Hands a socket to the library, together with the handshake that has come on it and what has
    /// come after it. Returns false if the library closed it at once.
    func adopt(
        _ descriptor: Int32, handshake: [UInt8], rest: [UInt8], vhost: OpaquePointer
    ) -> Bool {
        core.insert(self)
        checkMask(descriptor, rest)
        let received = handshake + rest
        core.adopting = self
        let adopted = received.withUnsafeBytes { bytes in
            lws_adopt_socket_vhost_readbuf(
                vhost, descriptor, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                bytes.count)
        }
        core.adopting = nil
        if adopted == nil, wsi == nil { core.remove(self) }
        return adopted != nil
    }

    /// RFC 6455 §5.1.
    private func checkMask(_ descriptor: Int32, _ rest: [UInt8]) {
        let check = MaskCheck(core: core, descriptor: descriptor, received: rest[...]) {
            [unowned self] isMasked in
            maskCheck = nil
            sendsUnmasked = !isMasked
            refuseUnmasked()
        }
        if check.isWatching { maskCheck = check }
    }

    private func refuseUnmasked() {
        guard sendsUnmasked else { return }
        session?.close(code: 1_002, reason: "A client must mask its frames")
    }

    private func endMaskCheck() {
        maskCheck?.stop()
        maskCheck = nil
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
        switch reason {
        case LWS_CALLBACK_RECEIVE: return session?.receive(bytes, from: wsi) ?? -1
        case LWS_CALLBACK_RECEIVE_PONG: session?.heardFromPeer()
        case LWS_CALLBACK_SERVER_WRITEABLE: return session?.writable(wsi) ?? -1
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: session?.peerCloses(bytes)
        case LWS_CALLBACK_CLOSED:
            endMaskCheck()
            session?.libraryCloses(wsi)
        case LWS_CALLBACK_ESTABLISHED: open()
        case LWS_CALLBACK_CONFIRM_EXTENSION_OKAY: return confirmCompression()
        // It speaks HTTP only to shake hands; whatever else it is asked for is a mistake.
        case LWS_CALLBACK_HTTP, LWS_CALLBACK_RAW_ADOPT: return -1
        default: break
        }
        return 0
    }

    var queuedBytes: Int { session?.queuedBytes ?? 0 }

    private func open() {
        let connection = WebSocketConnection(
            id: id, peerAddress: peerAddress, subprotocol: subprotocol, loop: core.loop)
        let session = WebSocketSession(
            endpoint: self, connection: connection, handler: handler,
            framing: isCompressed ? .library(isCompressed: true) : .shared,
            limits: server.options.sessionLimits)
        self.session = session
        session.opened()
        refuseUnmasked()
        if server.isStopping { windDown() }
    }

    private func confirmCompression() -> Int32 {
        guard
            !isCompressed,
            server.compressedConnections < server.options.maxCompressedConnections
        else { return 1 }
        isCompressed = true
        server.compressedConnections += 1
        return 0
    }

    override func libraryDestroyed() {
        endMaskCheck()
        if isCompressed { server.compressedConnections -= 1 }
        session?.ended()
        session = nil
        server.forget(self)
    }

    override func sweep(now: Int64) {
        session?.sweep(now: now)
    }

    /// The server stops.
    func windDown() {
        session?.close(code: 1_001, reason: "The server is stopping")
    }
}
