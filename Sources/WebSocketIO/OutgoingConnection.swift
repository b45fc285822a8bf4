import HTTPMessages

/// A WebSocket connection that we make, up to the end of its handshake. RFC 6455 §4.1.
final class OutgoingConnection: Peer, ByteStreamOwner {
    let id: UInt64
    private let core: LoopCore
    private let address: ServerAddress
    private let options: WebSocketClient.Options
    private let handler: any WebSocketHandler
    private let key = WebSocketHandshake.makeKey()
    private var connected: ((Result<WebSocketConnection, any Error>) -> Void)?
    private var stream: ByteStream?
    private var timer: LoopTimer?
    private var parser = HTTPResponseParser(isHead: false)
    private var isOpen = false

    /// - Parameter connected: called once, with the connection or with what prevented it.
    init(
        core: LoopCore, address: ServerAddress, options: WebSocketClient.Options,
        handler: any WebSocketHandler,
        connected: @escaping (Result<WebSocketConnection, any Error>) -> Void
    ) {
        id = core.nextID()
        self.core = core
        self.address = address
        self.options = options
        self.handler = handler
        self.connected = connected
    }

    func connect() {
        core.insert(client: self)
        let patience = options.connectTimeout
        let deadline = monotonicMilliseconds() + patience.wholeMilliseconds
        timer = core.schedule(at: deadline) { [weak self] in
            self?.fail(.timedOut, "there was no answer within \(patience)")
        }
        do throws(IOError) {
            let stream = try ByteStream.connect(
                to: address, authorityFile: options.authorityFile, timeout: patience, owner: self,
                core: core)
            if connected == nil { stream.close() } else { self.stream = stream }
        } catch {
            fail(error)
        }
    }

    // MARK: - The stream

    func streamOpened() {
        isOpen = true
        // It may be open before `connect` has returned.
        core.schedule(at: monotonicMilliseconds()) { [weak self] in self?.shakeHands() }
    }

    private func shakeHands() {
        guard connected != nil, let stream, !stream.isClosed else { return }
        let request = WebSocketHandshake.request(to: address, key: key, options)
        if !stream.write(request) { streamLost("the connection broke off") }
    }

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        parser.append(bytes)
        switch parser.next() {
        case .head(let head): answered(head)
        case .broken(let cause): fail(.cannotConnect, "the server answered, but \(cause)")
        case .incomplete, .body, .complete: break
        }
    }

    func streamInputEnded() { streamLost("the connection broke off during the handshake") }

    func streamLost(_ cause: String) {
        fail(isOpen ? .connectionLost : .cannotConnect, cause)
    }

    private func answered(_ head: HTTPResponseParser.Head) {
        guard head.status == 101 else {
            return fail(
                .handshakeRefused(status: head.status),
                "the server answered with HTTP status \(head.status)")
        }
        if let fault = WebSocketHandshake.fault(in: head.headers, key: key, options) {
            return fail(.cannotConnect, fault)
        }
        guard let stream, let connected = takeConnected() else { return }
        let deflate = DeflateAgreement(answer: head.headers.values(of: "sec-websocket-extensions"))
        let connection = WebSocketConnection(
            id: id, peerAddress: address.host,
            subprotocol: head.headers["sec-websocket-protocol"], isCompressed: deflate != nil,
            loop: core.loop)
        let session = WebSocketSession(
            stream: stream, role: .client, connection: connection, handler: handler,
            limits: WebSocketSession.Limits(
                maxMessageBytes: options.maxMessageBytes, maxQueuedBytes: options.maxQueuedBytes,
                keepAliveMilliseconds: options.keepAlive.wholeMilliseconds,
                writeStuckMilliseconds: options.writeStuckTimeout.wholeMilliseconds),
            deflate: deflate
        ) { [unowned core, id] in core.removeClient(id) }
        core.insert(client: session)
        session.begin(with: parser.takeRest())
        connected(.success(connection))
    }

    // MARK: - The end

    private func takeConnected() -> ((Result<WebSocketConnection, any Error>) -> Void)? {
        timer?.cancel()
        defer { connected = nil }
        return connected
    }

    private func fail(_ code: IOError.Code, _ cause: String) {
        fail(
            IOError(
                code: code,
                message: "Could not open a WebSocket connection to \(address): \(cause)."))
    }

    /// Only the first failure counts; the later ones are its consequences.
    private func fail(_ error: any Error) {
        guard let connected = takeConnected() else { return }
        stream?.close()
        core.removeClient(id)
        connected(.failure(error))
    }

    // MARK: - As a peer

    var queuedBytes: Int { 0 }
    func sweep(now: Int64) {}
    func windDown() { abort() }
    func abort() { streamLost("the network loop is stopping") }
}
