import CLibwebsockets

/// A connection that a server has accepted: HTTP requests, one after the other, until one of them
/// turns it into a WebSocket connection.
final class ServerConnection: Endpoint {
    private enum Phase {
        /// No request, or part of its head.
        case awaitingRequest
        case receivingBody(HTTPRequest, HTTPExchange)
        case answering(HTTPExchange)
        /// The library completes the handshake.
        case upgrading(any WebSocketHandler, subprotocol: String?)
        case webSocket(WebSocketSession)
    }

    let server: ServerState
    private let peerAddress: String
    /// There are too many connections: whatever it asks for, it is told so.
    private let isRefused: Bool
    private var phase = Phase.awaitingRequest {
        didSet { phaseBegan = monotonicMilliseconds() }
    }
    private var phaseBegan = monotonicMilliseconds()
    private var hasServedRequest = false
    private var isCompressed = false

    init(server: ServerState, peerAddress: String, isRefused: Bool) {
        self.server = server
        self.peerAddress = peerAddress
        self.isRefused = isRefused
        super.init(core: server.core)
    }

    /// Takes over an accepted socket, also in the case of failure.
    func adopt(_ descriptor: Int32, vhost: OpaquePointer) -> Bool {
        var info = lws_adopt_desc_t()
        info.vh = vhost
        info.type = lws_adoption_type(
            rawValue: LWS_ADOPT_SOCKET.rawValue | LWS_ADOPT_HTTP.rawValue
                | (server.options.tls == nil ? 0 : LWS_ADOPT_ALLOW_SSL.rawValue))
        info.fd.sockfd = descriptor
        info.opaque = opaque
        wsi = lws_adopt_descriptor_vhost_via_info(&info)
        return wsi != nil
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
        switch reason {
        case LWS_CALLBACK_HTTP: return beginRequest(wsi)
        case LWS_CALLBACK_HTTP_BODY: collectBody(bytes)
        case LWS_CALLBACK_HTTP_BODY_COMPLETION: endBody(wsi)
        case LWS_CALLBACK_HTTP_WRITEABLE: return writeAnswer(wsi)
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return confirmUpgrade(wsi)
        case LWS_CALLBACK_CONFIRM_EXTENSION_OKAY: return confirmCompression()
        case LWS_CALLBACK_ESTABLISHED: return openWebSocket()
        case LWS_CALLBACK_RAW_ADOPT: return refuseRaw(wsi)
        default: return handleWebSocket(reason, wsi: wsi, bytes)
        }
        return 0
    }

    private func handleWebSocket(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, _ bytes: UnsafeRawBufferPointer
    ) -> Int32 {
        guard case .webSocket(let session) = phase else { return 0 }
        switch reason {
        case LWS_CALLBACK_RECEIVE: return session.receive(bytes, from: wsi)
        case LWS_CALLBACK_RECEIVE_PONG: session.heardFromPeer()
        case LWS_CALLBACK_SERVER_WRITEABLE: return session.writable(wsi)
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: session.peerCloses(bytes)
        case LWS_CALLBACK_TIMER: return session.timerFired(wsi)
        case LWS_CALLBACK_CLOSED: session.libraryCloses(wsi)
        default: break
        }
        return 0
    }

    override func libraryDestroyed() {
        if isCompressed { server.compressedConnections -= 1 }
        switch phase {
        case .receivingBody(_, let exchange), .answering(let exchange): exchange.closed()
        case .webSocket(let session): session.ended()
        case .awaitingRequest, .upgrading: break
        }
        phase = .awaitingRequest
        server.forget(self)
    }

    // MARK: - Requests

    private func beginRequest(_ wsi: OpaquePointer) -> Int32 {
        let head = RequestHeadReader(wsi: wsi)
        let isHTTP11 = head.isHTTP11
        guard let request = readRequest(head) else {
            return refuse(HTTPResponse(status: 501, text: "The method is not known here."), wsi)
        }
        if let refusal = refusal(of: request, isHTTP11: isHTTP11) { return refuse(refusal, wsi) }
        // Timeouts of the library's own would end a connection that waits for its answer.
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
        let exchange = HTTPExchange(
            connection: self, isHead: request.method == "HEAD", isHTTP11: isHTTP11,
            keepsAlive: isHTTP11
                ? !request.headers.lists("close", in: "connection")
                : request.headers.lists("keep-alive", in: "connection"))
        if contentLength(of: request) ?? 0 > 0 {
            phase = .receivingBody(request, exchange)
        } else {
            answer(request, exchange)
        }
        return 0
    }

    private func readRequest(_ head: RequestHeadReader) -> HTTPRequest? {
        head.request(
            extraHeaderNames: server.options.extraHeaderNames, peerAddress: peerAddress,
            isSecure: server.options.tls != nil)
    }

    /// Why a request is not even looked at by the owner, or nil.
    private func refusal(of request: HTTPRequest, isHTTP11: Bool) -> HTTPResponse? {
        if isRefused {
            return HTTPResponse(status: 503, text: "There are too many connections.")
        }
        if isHTTP11 && request.headers["host"] == nil {
            return HTTPResponse(status: 400, text: "The Host field is missing.")
        }
        if request.headers["transfer-encoding"] != nil {
            // The library does not read chunked requests.
            return HTTPResponse(status: 411, text: "Send the body with a Content-Length.")
        }
        guard let text = request.headers["content-length"] else {
            return ["POST", "PUT", "PATCH"].contains(request.method)
                ? HTTPResponse(status: 411, text: "Send the body with a Content-Length.") : nil
        }
        guard let length = contentLength(of: request) else {
            return HTTPResponse(status: 400, text: "Content-Length is not a number: \(text)")
        }
        let limit = server.options.maxBodyBytes
        return length > limit
            ? HTTPResponse(status: 413, text: "The body is larger than \(limit) bytes.") : nil
    }

    private func contentLength(of request: HTTPRequest) -> Int? {
        guard let text = request.headers["content-length"] else { return nil }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? Int(text) : nil
    }

    private func collectBody(_ bytes: UnsafeRawBufferPointer) {
        guard case .receivingBody(var request, let exchange) = phase else { return }
        phase = .awaitingRequest  // so that the array below has one owner
        request.body.append(contentsOf: bytes)
        phase = .receivingBody(request, exchange)
    }

    private func endBody(_ wsi: OpaquePointer) {
        guard case .receivingBody(let request, let exchange) = phase else { return }
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
        answer(request, exchange)
    }

    private func answer(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        phase = .answering(exchange)
        server.handler.respond(
            to: request, with: HTTPResponder(exchange, loop: core.loop))
    }

    // MARK: - Answers

    func wantsToWrite() {
        if let wsi { lws_callback_on_writable(wsi) }
    }

    /// Gives back the library's header table, 16 KB, while a stream goes on.
    func holdsHeadersNoMore() {
        if let wsi { lws_http_mark_sse(wsi) }
    }

    private func writeAnswer(_ wsi: OpaquePointer) -> Int32 {
        guard case .answering(let exchange) = phase else { return 0 }
        switch exchange.writeOutput(to: wsi) {
        case .waiting: return 0
        case .broken: return -1
        case .complete:
            hasServedRequest = true
            phase = .awaitingRequest
            if !exchange.keepsAlive { return -1 }
            return lws_http_transaction_completed(wsi) == 0 ? 0 : -1
        }
    }

    /// Answers at once and ends the connection; what the client still sends is not read.
    private func refuse(_ response: HTTPResponse, _ wsi: OpaquePointer) -> Int32 {
        var bytes: [UInt8] = []
        HTTPResponseHead(
            status: response.status, headers: response.headers,
            framing: .length(response.body.count), closesConnection: true
        ).encode(into: &bytes)
        bytes.append(contentsOf: response.body)
        _ = bytes.withUnsafeBytes { FrameBuffer.writeRaw($0, to: wsi) }
        return -1
    }

    // MARK: - Upgrades

    private func confirmUpgrade(_ wsi: OpaquePointer) -> Int32 {
        let head = RequestHeadReader(wsi: wsi)
        // For an upgrade it does not know the library has answered 403 itself and dropped the
        // header table, and would go on to read it (CVE-2025-11677) unless we hang up.
        guard head.isPresent, var request = readRequest(head) else { return -1 }
        if isRefused {
            return refuse(
                HTTPResponse(status: 503, text: "There are too many connections."), wsi)
        }
        if let refusal = WebSocketHandshake.refusal(of: request, isHTTP11: head.isHTTP11) {
            return refuse(refusal, wsi)
        }
        let offered = request.offeredSubprotocols
        let agreed = offered.first { server.options.subprotocols.contains($0) }
        if agreed == nil, !offered.isEmpty {
            return refuse(
                HTTPResponse(
                    status: 400,
                    text: "None of the subprotocols offered is spoken here: "
                        + offered.joined(separator: ", ")), wsi)
        }
        request.subprotocol = agreed
        switch server.handler.upgrade(request) {
        case .refuse(let response):
            return refuse(response, wsi)
        case .accept(let handler):
            phase = .upgrading(handler, subprotocol: agreed)
            return 0
        }
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

    private func openWebSocket() -> Int32 {
        guard case .upgrading(let handler, let subprotocol) = phase else { return -1 }
        let connection = WebSocketConnection(
            id: id, peerAddress: peerAddress, subprotocol: subprotocol, loop: core.loop)
        let session = WebSocketSession(
            endpoint: self, connection: connection, handler: handler,
            framing: isCompressed ? .library(isCompressed: true) : .shared,
            limits: server.options.sessionLimits)
        phase = .webSocket(session)
        session.opened()
        if server.isStopping { windDown() }
        return 0
    }

    /// `CONNECT`, which the library treats as a wish for a raw connection.
    private func refuseRaw(_ wsi: OpaquePointer) -> Int32 {
        refuse(HTTPResponse(status: 405, text: "This is no proxy."), wsi)
    }

    // MARK: - Watching and ending

    override func sweep(now: Int64) {
        let elapsed = now - phaseBegan
        let patience = server.options.handshakeTimeout.wholeMilliseconds
        switch phase {
        case .awaitingRequest:
            let idle = hasServedRequest ? server.options.idleTimeout.wholeMilliseconds : 0
            if elapsed >= patience + idle { abort() }
        case .receivingBody, .upgrading:
            if elapsed >= patience { abort() }
        case .answering: break
        case .webSocket(let session): session.sweep(now: now)
        }
    }

    /// The server stops.
    func windDown() {
        switch phase {
        case .awaitingRequest: abort()
        case .receivingBody(_, let exchange), .answering(let exchange): exchange.windDown()
        case .upgrading: break
        case .webSocket(let session): session.close(code: 1_001, reason: "The server is stopping")
        }
    }
}
