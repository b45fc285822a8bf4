import CLibwebsockets

/// A WebSocket connection that we make, from the first packet to the end.
final class ClientConnection: Endpoint {
    private enum Phase {
        case connecting((Result<WebSocketConnection, any Error>) -> Void, LoopTimer?)
        case webSocket(WebSocketSession)
        case ended
    }

    private let address: ServerAddress
    private let options: WebSocketClient.Options
    private let handler: any WebSocketHandler
    private var phase: Phase
    /// What the server has picked.
    private var subprotocol: String?

    /// - Parameter connected: called once, with the connection or with what prevented it.
    init(
        core: LoopCore, address: ServerAddress, options: WebSocketClient.Options,
        handler: any WebSocketHandler,
        connected: @escaping (Result<WebSocketConnection, any Error>) -> Void
    ) {
        self.address = address
        self.options = options
        self.handler = handler
        phase = .connecting(connected, nil)
        super.init(core: core)
    }

    func connect() {
        core.insert(self)
        do {
            let connect = ClientConnect(
                address: address, subprotocols: options.subprotocols,
                authorityFile: options.authorityFile)
            if try connect.begin(for: self) {
                startTimer()
                return
            }
            wsi = nil
            fail(.cannotConnect, "the connection could not be made")
        } catch {
            fail(error)
        }
        core.remove(self)
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
            if ClientConnect.append(options.headers, at: data, room: count) { return 0 }
            fail(.tooLarge, "the header fields are too large")
            return -1
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            connectionFailed(
                wsi, UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count))
        case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH:
            // The last moment at which the answer's fields can be read.
            subprotocol = AnswerHeadReader(wsi: wsi).value(of: WSI_TOKEN_PROTOCOL)
        case LWS_CALLBACK_CLIENT_ESTABLISHED: open()
        default:
            return handleWebSocket(
                reason, wsi: wsi,
                UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count))
        }
        return 0
    }

    private func handleWebSocket(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer
    ) -> Int32 {
        guard case .webSocket(let session) = phase else { return 0 }
        switch reason {
        case LWS_CALLBACK_CLIENT_RECEIVE: return session.receive(bytes, from: wsi)
        case LWS_CALLBACK_CLIENT_RECEIVE_PONG: session.heardFromPeer()
        case LWS_CALLBACK_CLIENT_WRITEABLE: return session.writable(wsi)
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: session.peerCloses(bytes)
        case LWS_CALLBACK_CLIENT_CLOSED: session.libraryCloses(wsi)
        default: break
        }
        return 0
    }

    override func libraryDestroyed() {
        if case .webSocket(let session) = phase {
            phase = .ended
            session.ended()
        } else {
            fail(.connectionLost, "the connection broke off during the handshake")
        }
    }

    override func sweep(now: Int64) {
        if case .webSocket(let session) = phase { session.sweep(now: now) }
    }

    // MARK: - Connecting

    private func startTimer() {
        guard case .connecting(let connected, nil) = phase else { return }
        let patience = options.connectTimeout
        let deadline = monotonicMilliseconds() + patience.wholeMilliseconds
        let timer = core.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            fail(.timedOut, "there was no answer within \(patience)")
            abort()
        }
        phase = .connecting(connected, timer)
    }

    private func open() {
        guard case .connecting(let connected, let timer) = phase else { return }
        timer?.cancel()
        let connection = WebSocketConnection(
            id: id, peerAddress: address.host,
            subprotocol: subprotocol, loop: core.loop)
        let session = WebSocketSession(
            endpoint: self, connection: connection, handler: handler,
            framing: .library(isCompressed: false),
            limits: WebSocketSession.Limits(
                maxMessageBytes: options.maxMessageBytes, maxQueuedBytes: options.maxQueuedBytes,
                keepAliveMilliseconds: options.keepAlive.wholeMilliseconds,
                writeStuckMilliseconds: options.writeStuckTimeout.wholeMilliseconds))
        phase = .webSocket(session)
        session.opened()
        connected(.success(connection))
    }

    private func connectionFailed(_ wsi: OpaquePointer, _ text: UnsafeRawBufferPointer) {
        let status = Int(lws_http_client_http_response(wsi))
        if status != 0 && status != 101 {
            fail(
                .handshakeRefused(status: status), "the server answered with HTTP status \(status)")
        } else {
            fail(.cannotConnect, address.cause(text))
        }
    }

    private func fail(_ code: IOError.Code, _ cause: String) {
        fail(
            IOError(
                code: code,
                message: "Could not open a WebSocket connection to \(address): \(cause)."))
    }

    /// Only the first failure counts; the later ones are its consequences.
    private func fail(_ error: any Error) {
        guard case .connecting(let connected, let timer) = phase else { return }
        timer?.cancel()
        phase = .ended
        connected(.failure(error))
    }
}
