import HTTPMessages

/// One request's answer, on the loop: which part of it has been given, and how it travels.
final class HTTPExchange {
    private enum Stage {
        case waitingForAnswer
        case streaming(BodyFraming)
        case complete
    }

    private weak var connection: HTTPConnection?
    private let isHead: Bool
    private let isHTTP11: Bool
    /// Whether the connection serves another request after this one.
    private var keepsAlive: Bool
    private var stage = Stage.waitingForAnswer
    private var onClose: (@Sendable () -> Void)?
    private var onDrained: (@Sendable () -> Void)?

    /// A client that ends its direction now has gone.
    private(set) var endsWithInput = false

    var isStreaming: Bool {
        if case .streaming = stage { true } else { false }
    }

    init(connection: HTTPConnection, isHead: Bool, isHTTP11: Bool, keepsAlive: Bool) {
        self.connection = connection
        self.isHead = isHead
        self.isHTTP11 = isHTTP11
        self.keepsAlive = keepsAlive
    }

    // MARK: - From the responder

    func respond(_ response: HTTPResponse) {
        guard case .waitingForAnswer = stage, let connection else { return }
        onClose = nil
        if response.endsConnection { keepsAlive = false }
        let hasBody = response.status != 204 && response.status != 304
        var headers = response.headers
        // RFC 9112 §9.3: what HTTP/1.1 takes for granted, HTTP/1.0 must be told.
        if keepsAlive && !isHTTP11 { headers.append("connection", "keep-alive") }
        let head = HTTPResponseHead(
            status: response.status, headers: headers,
            framing: hasBody ? .length(response.body.count) : .none,
            closesConnection: !keepsAlive)
        var bytes: [UInt8] = []
        let bodyBytes = hasBody && !isHead ? response.body.count : 0
        bytes.reserveCapacity(512 + bodyBytes)
        head.encode(into: &bytes)
        if bodyBytes > 0 { bytes.append(contentsOf: response.body) }
        connection.send(bytes)
        complete()
    }

    /// - Parameter onLeft: called once, when the client goes before the answer.
    func expectClient(_ onLeft: @escaping @Sendable () -> Void) {
        guard case .waitingForAnswer = stage, let connection else { return }
        onClose = onLeft
        endsWithInput = true
        if connection.isInputOver { connection.close() }
    }

    /// - Parameter onClose: called once, when the answer ends without `finishStream`.
    func startStream(
        status: Int, headers: HTTPHeaders, onClose: @escaping @Sendable () -> Void,
        onDrained: @escaping @Sendable () -> Void
    ) {
        guard case .waitingForAnswer = stage, let connection else {
            onClose()
            return
        }
        if !isHTTP11 { keepsAlive = false }
        endsWithInput = true
        let framing: BodyFraming = isHTTP11 ? .chunked : .untilClose
        self.onClose = onClose
        self.onDrained = onDrained
        stage = .streaming(framing)
        if connection.isInputOver { return connection.close() }
        var bytes: [UInt8] = []
        HTTPResponseHead(
            status: status, headers: headers, framing: framing, closesConnection: !keepsAlive
        ).encode(into: &bytes)
        connection.send(bytes)
        if isHead || connection.server.isStopping { windDown() }
    }

    func stream(_ piece: [UInt8]) {
        guard case .streaming(let framing) = stage, !piece.isEmpty else { return }
        guard framing == .chunked else {
            connection?.sendInTurn(piece)
            return
        }
        // RFC 9112 §7.1.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(piece.count + 12)
        bytes.append(contentsOf: String(piece.count, radix: 16).utf8)
        bytes.append(contentsOf: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])
        bytes.append(contentsOf: piece)
        bytes.append(contentsOf: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])
        connection?.sendInTurn(bytes)
    }

    var queuedBytes: Int { connection?.queuedBytes ?? 0 }

    func sendWaiting(downTo bytes: Int) { connection?.sendWaiting(downTo: bytes) }

    /// The stream's owner has no more.
    func finishStream() {
        onClose = nil
        endStream()
    }

    private func endStream() {
        guard case .streaming(let framing) = stage else { return }
        if framing == .chunked && !isHead { connection?.send(Array("0\r\n\r\n".utf8)) }
        complete()
    }

    private func complete() {
        stage = .complete
        onDrained = nil
        connection?.answered(keepsAlive: keepsAlive)
    }

    // MARK: - From the connection

    /// The server stops: ends a stream, whose owner is told, and keeps the connection for an answer
    /// that is still to come.
    func windDown() {
        keepsAlive = false
        guard isStreaming else { return }
        let onClose = self.onClose
        self.onClose = nil
        endStream()
        onClose?()
    }

    /// Everything has been handed to the operating system.
    func drained() {
        if isStreaming { onDrained?() }
    }

    /// The connection is gone.
    func closed() {
        stage = .complete
        onDrained = nil
        let onClose = self.onClose
        self.onClose = nil
        onClose?()
    }
}
