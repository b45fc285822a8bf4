import HTTPMessages

/// A connection that a server has accepted: HTTP requests, one after the other, until one of them
/// turns it into a WebSocket connection.
final class HTTPConnection: Peer, ByteStreamOwner, Flushable {
    /// So much may wait unread here while an answer is being made.
    private static let maxWaitingBytes = 65_536
    /// A body may take longer than a head by two milliseconds a byte: it has to come with 500 bytes a second.
    private static let millisecondsPerBodyByte: Int64 = 2
    /// An idle connection is closed so long after the server has begun to stop: a request that was in
    /// progress by then gets its answer.
    private static let lastCallMilliseconds: Int64 = 100

    private enum Phase: Equatable {
        case open
        /// Everything is written or will be; then the connection ends.
        case ending
        /// The stream has another owner, or is closed.
        case over
    }

    let id: UInt64
    let server: ServerState
    private let stream: ByteStream
    private let peerAddress: String
    /// There are too many connections: whatever it asks for, it is told so.
    private let isRefused: Bool

    private var parser: HTTPRequestParser
    private var exchange: HTTPExchange?
    /// What waits for the stream to take more, or for this connection's turn.
    private var output: [[UInt8]] = []
    private var outputBytes = 0
    private var isWaitingForFlush = false

    private var phase = Phase.open
    private var isServing = false
    /// The handler has seen the head of the request whose body is awaited, and wants the body.
    private var isBodyWelcome = false
    private var hasServedRequest = false
    /// Since when the present state of affairs lasts, in monotonic milliseconds.
    private var waitingSince = monotonicMilliseconds()

    /// Takes over a stream.
    init(server: ServerState, stream: ByteStream, peerAddress: String, isRefused: Bool) {
        id = server.core.nextID()
        self.server = server
        self.stream = stream
        self.peerAddress = peerAddress
        self.isRefused = isRefused
        let limits = server.options.limits
        parser = HTTPRequestParser(
            maxHeadBytes: limits.headBytes, maxBodyBytes: limits.bodyBytes)
        stream.owner = self
        stream.isReading = true
    }

    // MARK: - Reading

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        guard phase == .open else { return }
        let wasInsideRequest = parser.isInsideRequest
        parser.append(bytes)
        serve()
        // The time for a first request runs from the connection on, for a later one from its first byte.
        // Blank lines before it are not part of it, and gain it no time.
        if hasServedRequest, exchange == nil, !wasInsideRequest, parser.isInsideRequest {
            waitingSince = monotonicMilliseconds()
        }
    }

    /// Whether the client has ended its direction.
    var isInputOver: Bool { stream.isInputOver }

    /// A client may end its direction and wait for its answers. One that listens to a stream may not: that it has gone
    /// looks the same, and a stream may be silent for long. Nor may one whose answer is much work.
    func streamInputEnded() {
        if exchange?.endsWithInput == true {
            close()
        } else if exchange == nil {
            serve()
        }
    }

    func streamLost(_ cause: String) { close() }

    /// Takes as many requests as there are, each when the one before it has been answered and the client has taken
    /// the answer.
    private func serve() {
        // An answer that is given at once comes back here.
        if isServing { return }
        isServing = true
        while phase == .open, exchange == nil, !isBackedUp {
            switch parser.next() {
            case .incomplete:
                if let head = parser.head, refusesBody(of: head) { continue }
                isServing = false
                if stream.isInputOver { end() } else { updateReading() }
                return
            case .headBeforeBody(let head):
                if refusesBody(of: head) { continue }
                send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            case .request(let head, let body):
                begin(head, body)
            case .refused(let response):
                refuse(response, isHead: parser.head?.method == "HEAD")
            }
        }
        isServing = false
        updateReading()
    }

    /// Answers a request whose body has not come, if its head says enough: a stranger's body is not kept.
    /// - Returns: whether it did. Asked once for each request.
    private func refusesBody(of head: HTTPRequestParser.Head) -> Bool {
        if isBodyWelcome { return false }
        isBodyWelcome = true
        let answer =
            isRefused ? Self.tooMany : server.handler.refusal(beforeBody: request(head, []))
        guard let answer else { return false }
        refuse(answer, isHead: head.method == "HEAD")
        return true
    }

    private static let tooMany = HTTPResponse(status: 503, text: "There are too many connections.")
    private static let tooSlow = HTTPResponse(status: 408, text: "The body comes too slowly.")

    private func begin(_ head: HTTPRequestParser.Head, _ body: [UInt8]) {
        isBodyWelcome = false
        waitingSince = monotonicMilliseconds()
        hasServedRequest = true
        if isRefused {
            refuse(Self.tooMany, isHead: head.method == "HEAD")
            return
        }
        var request = request(head, body)
        if head.asksForWebSocket {
            upgrade(&request, head)
            return
        }
        let exchange = HTTPExchange(
            connection: self, isHead: head.method == "HEAD", isHTTP11: head.isHTTP11,
            keepsAlive: head.keepsAlive && !server.isStopping)
        self.exchange = exchange
        server.handler.respond(
            to: request, with: HTTPResponder(exchange, loop: server.core.loop))
    }

    private func request(_ head: HTTPRequestParser.Head, _ body: [UInt8]) -> HTTPRequest {
        HTTPRequest(
            head: head, body: body, peerAddress: peerAddress,
            isSecure: server.options.tls != nil)
    }

    /// Answers at once and ends the connection; what the client still sends is not read.
    ///
    /// - Parameter isHead: RFC 9110 §9.3.2: the answer to a HEAD has no body.
    private func refuse(_ response: HTTPResponse, isHead: Bool = false) {
        phase = .ending
        var bytes: [UInt8] = []
        HTTPResponseHead(
            status: response.status, headers: response.headers,
            framing: .length(response.body.count), closesConnection: true
        ).encode(into: &bytes)
        send(isHead ? bytes : bytes + response.body)
    }

    private func upgrade(_ request: inout HTTPRequest, _ head: HTTPRequestParser.Head) {
        if let refusal = WebSocketHandshake.refusal(of: request) {
            return refuse(refusal)
        }
        let offered = request.offeredSubprotocols
        request.subprotocol = offered.first { server.options.subprotocols.contains($0) }
        if request.subprotocol == nil, !offered.isEmpty {
            return refuse(
                HTTPResponse(
                    status: 400,
                    text: "None of the subprotocols offered is spoken here: "
                        + offered.joined(separator: ", ")))
        }
        switch server.handler.upgrade(request) {
        case .refuse(let response): refuse(response)
        case .accept(let handler, let queuedBytes):
            var limits = server.options.limits.session
            limits.maxQueuedBytes = queuedBytes ?? limits.maxQueuedBytes
            handOver(to: handler, limits, request)
        }
    }

    /// The connection continues as a WebSocket.
    private func handOver(
        to handler: any WebSocketHandler, _ limits: WebSocketSession.Limits, _ request: HTTPRequest
    ) {
        phase = .over
        let deflate = server.agreeOnCompression(with: request)
        let connection = WebSocketConnection(
            id: server.core.nextID(), peerAddress: peerAddress, subprotocol: request.subprotocol,
            isCompressed: deflate != nil, loop: server.core.loop)
        let session = WebSocketSession(
            stream: stream, role: .server, connection: connection, handler: handler,
            limits: limits,
            preamble: WebSocketHandshake.answer(to: request, deflate: deflate),
            deflate: deflate
        ) { [unowned server] in
            server.forget(connection.id, isCompressed: deflate != nil)
        }
        server.upgraded(self, to: session)
        session.begin(with: parser.takeRest())
        if server.isStopping { session.windDown() }
    }

    // MARK: - Writing

    /// Bytes that wait to be sent.
    var queuedBytes: Int { outputBytes + stream.pendingBytes }

    /// Whether something that was sent still waits.
    private var isBackedUp: Bool { stream.isBlocked || !output.isEmpty }

    /// Writes what the stream takes of `bytes`, after what waits; the rest waits as well.
    func send(_ bytes: [UInt8]) {
        if phase == .over { return }
        if isBackedUp { return enqueue(bytes) }
        waitingSince = monotonicMilliseconds()
        if !stream.write(bytes) { return close() }
        if !stream.isBlocked { allWritten() }
    }

    /// Sends `bytes` after the present batch of work, when it is this connection's turn: what goes to many streams
    /// holds up nothing.
    func sendInTurn(_ bytes: [UInt8]) {
        if phase == .over { return }
        enqueue(bytes)
        if phase == .over || isWaitingForFlush || stream.isBlocked { return }
        isWaitingForFlush = true
        server.core.needsFlush(self)
    }

    private func enqueue(_ bytes: [UInt8]) {
        // What waits for a turn must not look like a client that is slow.
        sendWaiting(downTo: server.options.limits.queuedBytes)
        if phase == .over { return }
        if queuedBytes > server.options.limits.queuedBytes {
            return leave(reason: "Too much is waiting to be sent")
        }
        output.append(bytes)
        outputBytes += bytes.count
    }

    /// Writes what waits for its turn, if it is more than `bytes`, as far as the client takes it.
    func sendWaiting(downTo bytes: Int) {
        if outputBytes > bytes { flush() }
    }

    func flush() {
        isWaitingForFlush = false
        if phase != .over, !stream.isBlocked { writeOutput() }
    }

    func streamWritable() { writeOutput() }

    private func writeOutput() {
        waitingSince = monotonicMilliseconds()
        guard writePieces() else { return close() }
        if !isBackedUp { allWritten() }
    }

    /// Writes what the stream takes. False when the connection is lost.
    private func writePieces() -> Bool {
        var written = 0
        defer { output.removeFirst(written) }
        while written < output.count, !stream.isBlocked {
            outputBytes -= output[written].count
            written += 1
            if !stream.write(output[written - 1]) { return false }
        }
        return true
    }

    private func allWritten() {
        if phase == .ending {
            linger()
        } else if let exchange {
            exchange.drained()
        } else {
            serve()
        }
    }

    /// The answer is complete, though not yet all written.
    func answered(keepsAlive: Bool) {
        exchange = nil
        waitingSince = monotonicMilliseconds()
        if keepsAlive && phase == .open {
            serve()
        } else if phase == .open {
            end()
        }
    }

    /// Ends the connection after what is to be written.
    private func end() {
        phase = .ending
        if !isBackedUp { linger() }
    }

    private func updateReading() {
        if phase == .over { return }
        let isBusy = exchange != nil || isBackedUp
        let isFull = isBusy && parser.waitingBytes >= Self.maxWaitingBytes
        stream.isReading = !isFull && phase == .open
    }

    // MARK: - Ending

    /// The client has received everything, and may still be sending.
    private func linger() {
        phase = .over
        StreamDrain.begin(stream) { [self] in server.forget(id) }
    }

    /// Ends the connection at once.
    func close() {
        phase = .over
        stream.close()
        output = []
        outputBytes = 0
        exchange?.closed()
        exchange = nil
        server.forget(id)
    }

    func abort() { close() }

    /// Ends the connection of a client that is too slow.
    private func leave(reason: String) {
        server.handler.left(slowClient: peerAddress, reason: reason)
        close()
    }

    func windDown() {
        if let exchange { return exchange.windDown() }
        server.core.schedule(at: monotonicMilliseconds() + Self.lastCallMilliseconds) {
            [weak self] in self?.endIfIdle()
        }
    }

    private func endIfIdle() {
        guard phase == .open, exchange == nil, !parser.isInsideRequest else { return }
        // Its last answer may still be on its way out.
        if isBackedUp { end() } else { close() }
    }

    func sweep(now: Int64) {
        let elapsed = now - waitingSince
        let patience = server.options.limits.handshakeTimeout.wholeMilliseconds
        if stream.isBlocked { stream.look(now: now) }
        let isStuck = stream.isStuck(
            now: now, milliseconds: server.options.limits.writeStuckTimeout.wholeMilliseconds)
        switch phase {
        case .open where exchange == nil && !stream.isBlocked:
            if let bytes = parser.receivedBodyBytes {
                let bodyTime = Int64(bytes) * Self.millisecondsPerBodyByte
                if elapsed < patience + bodyTime { return }
                refuse(
                    isRefused ? Self.tooMany : Self.tooSlow, isHead: parser.head?.method == "HEAD")
                return
            }
            let idle = hasServedRequest && !parser.isInsideRequest
            let limit = idle ? server.options.limits.idleTimeout.wholeMilliseconds : patience
            if elapsed >= limit { close() }
        case .open, .ending: if isStuck { leave(reason: "Too slow: nothing was taken for a while") }
        case .over: break
        }
    }
}
