import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A connection that a server has accepted: HTTP requests, one after the other, until one of them
/// turns it into a WebSocket connection and the library takes it over.
final class HTTPConnection: ServerPeer {
    /// So much may wait unread here while an answer is being made.
    private static let maxWaitingBytes = 65_536
    /// So much of the output in one write.
    private static let writeBytes = 262_144
    /// So long is listened, at the end, to a client that is still sending. RFC 9112 §9.6.
    private static let lingerMilliseconds: Int64 = 2_000

    private enum Phase: Equatable {
        case open
        /// Everything is written or will be; then the connection ends.
        case ending
        /// The client has been told the end, and what it still sends is thrown away: closing at once
        /// could take the answer away from it.
        case lingering
        case closed
    }

    let id: UInt64
    let server: ServerState
    private let descriptor: Int32
    private let peerAddress: String
    /// There are too many connections: whatever it asks for, it is told so.
    private let isRefused: Bool

    private var parser: HTTPRequestParser
    private var exchange: HTTPExchange?
    private var output: [[UInt8]] = []
    /// Of the first piece of `output`, what has been written.
    private var writtenBytes = 0
    private(set) var queuedBytes = 0

    private var phase = Phase.open
    private var isInputOver = false
    private var isServing = false
    private var hasServedRequest = false
    /// Since when the present state of affairs lasts, in monotonic milliseconds.
    private var waitingSince = monotonicMilliseconds()
    private var watcher: SocketWatcher?

    /// Takes over a connected socket.
    init(server: ServerState, descriptor: Int32, peerAddress: String, isRefused: Bool) {
        id = server.core.nextID()
        self.server = server
        self.descriptor = descriptor
        self.peerAddress = peerAddress
        self.isRefused = isRefused
        parser = HTTPRequestParser(
            maxHeadBytes: server.options.maxHeadBytes, maxBodyBytes: server.options.maxBodyBytes)
        watcher = SocketWatcher(core: server.core, descriptor: descriptor) { [weak self] events in
            // Strongly from here on: what is done may be the end of the connection.
            guard let self else { return }
            if events.contains(.write) { write() }
            if events.contains(.read) { read() }
        }
        watcher?.watch(.read)
    }

    // MARK: - Reading

    private func read() {
        if phase == .closed { return }
        let wasInsideRequest = parser.isInsideRequest
        let count = server.core.withReadBuffer { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0, phase == .open {
                parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            return count
        }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { close() }
            return
        }
        if count == 0 { return inputEnded() }
        serve()
        // The time for a first request runs from the connection on, for a later one from its first byte. The
        // blank lines that may come before it are no part of it, and win none.
        if hasServedRequest, exchange == nil, !wasInsideRequest, parser.isInsideRequest {
            waitingSince = monotonicMilliseconds()
        }
    }

    /// A client may end its direction and wait for its answers; who listens to a stream may not.
    private func inputEnded() {
        isInputOver = true
        if phase == .lingering || exchange?.isStreaming == true {
            close()
        } else if exchange == nil {
            serve()
        } else {
            updateWatching()
        }
    }

    /// Takes as many requests as there are, each when the one before it has been answered.
    private func serve() {
        // An answer that is given at once comes back here.
        if isServing { return }
        isServing = true
        while phase == .open, exchange == nil {
            switch parser.next() {
            case .incomplete:
                isServing = false
                if isInputOver { end() } else { updateWatching() }
                return
            case .headBeforeBody:
                if isRefused { continue }
                send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            case .request(let head, let body):
                begin(head, body)
            case .refused(let response):
                refuse(response)
            }
        }
        isServing = false
        updateWatching()
    }

    private func begin(_ head: HTTPRequestParser.Head, _ body: [UInt8]) {
        waitingSince = monotonicMilliseconds()
        hasServedRequest = true
        if isRefused {
            refuse(HTTPResponse(status: 503, text: "There are too many connections."))
            return
        }
        var request = HTTPRequest(
            method: head.method, path: head.path, query: head.query, headers: head.headers,
            body: body, peerAddress: peerAddress, isSecure: server.options.tls != nil)
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

    /// Answers at once and ends the connection; what the client still sends is not read.
    private func refuse(_ response: HTTPResponse) {
        phase = .ending
        var bytes: [UInt8] = []
        HTTPResponseHead(
            status: response.status, headers: response.headers,
            framing: .length(response.body.count), closesConnection: true
        ).encode(into: &bytes)
        send(bytes + response.body)
    }

    private func upgrade(_ request: inout HTTPRequest, _ head: HTTPRequestParser.Head) {
        if let refusal = WebSocketHandshake.refusal(of: request, isHTTP11: head.isHTTP11) {
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
        case .refuse(let response):
            refuse(response)
        case .accept(let handler):
            watcher?.stop()
            phase = .closed  // for us; the socket lives on
            server.upgraded(
                self, descriptor: descriptor,
                to: ServerWebSocket(
                    server: server, handler: handler, peerAddress: peerAddress,
                    subprotocol: request.subprotocol),
                handshake: head.bytes, rest: parser.takeRest())
        }
    }

    // MARK: - Writing

    /// Queues `bytes` and writes what the socket takes.
    func send(_ bytes: [UInt8]) {
        if phase == .closed || phase == .lingering { return }
        let wasWaiting = !output.isEmpty
        output.append(bytes)
        queuedBytes += bytes.count
        if !wasWaiting {
            write()
        } else if queuedBytes > server.options.maxQueuedBytes + bytes.count {
            close()
        }
    }

    private func write() {
        if phase == .closed { return }
        while let piece = output.first {
            let count = piece.withUnsafeBytes { piece in
                let rest = piece[writtenBytes...].prefix(Self.writeBytes)
                return sendWithoutSignal(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                return close()
            }
            waitingSince = monotonicMilliseconds()
            queuedBytes -= count
            writtenBytes += count
            if writtenBytes == piece.count {
                output.removeFirst()
                writtenBytes = 0
            }
        }
        if output.isEmpty && phase == .ending {
            linger()
        } else {
            updateWatching()
            if output.isEmpty { exchange?.drained() }
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
        if output.isEmpty { linger() } else { updateWatching() }
    }

    private func updateWatching() {
        if phase == .closed { return }
        var events: SocketWatcher.Events = output.isEmpty ? [] : .write
        let isFull = exchange != nil && parser.waitingBytes >= Self.maxWaitingBytes
        if !isInputOver && !isFull && phase != .ending { events.insert(.read) }
        watcher?.watch(events)
    }

    // MARK: - Ending

    private func linger() {
        if isInputOver { return close() }
        phase = .lingering
        waitingSince = monotonicMilliseconds()
        shutdown(descriptor, Int32(SHUT_WR))
        updateWatching()
    }

    /// Ends the connection at once.
    func close() {
        if phase == .closed { return }
        phase = .closed
        watcher?.stop()
        closeDescriptor(descriptor)
        output = []
        exchange?.closed()
        exchange = nil
        server.forget(self)
    }

    func abort() { close() }

    func windDown() {
        if let exchange {
            exchange.windDown()
        } else if phase == .open && !parser.isInsideRequest {
            close()
        }
    }

    func sweep(now: Int64) {
        let elapsed = now - waitingSince
        let patience = server.options.handshakeTimeout.wholeMilliseconds
        switch phase {
        case .lingering:
            if elapsed >= Self.lingerMilliseconds { close() }
        case .open where exchange == nil:
            let idle = hasServedRequest && !parser.isInsideRequest
            let limit = idle ? server.options.idleTimeout.wholeMilliseconds : patience
            if elapsed >= limit { close() }
        case .open, .ending:
            let stuck = server.options.writeStuckTimeout.wholeMilliseconds
            if !output.isEmpty && elapsed >= stuck { close() }
        case .closed: break
        }
    }
}
