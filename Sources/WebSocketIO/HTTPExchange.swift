import CLibwebsockets

/// One request and its answer, on the loop: what of the answer is still to be written.
final class HTTPExchange {
    /// So much of a body in one write; the library copies what the socket does not take of it.
    private static let writeBytes = 65_536

    private enum Stage {
        case waitingForAnswer
        /// The body comes in pieces; some may be waiting in `output`.
        case streaming(BodyFraming)
        /// All of the answer is in `output`.
        case complete
    }

    private weak var connection: ServerConnection?
    private let isHead: Bool
    private let isHTTP11: Bool
    /// Whether the connection serves another request after this one.
    private(set) var keepsAlive: Bool
    private var stage = Stage.waitingForAnswer

    /// What is still to be written, oldest first; of the first piece, what follows `sentBytes`.
    private var output: [[UInt8]] = []
    private var sentBytes = 0
    private(set) var queuedBytes = 0
    private var onClose: (@Sendable () -> Void)?

    init(connection: ServerConnection, isHead: Bool, isHTTP11: Bool, keepsAlive: Bool) {
        self.connection = connection
        self.isHead = isHead
        self.isHTTP11 = isHTTP11
        self.keepsAlive = keepsAlive
    }

    // MARK: - From the responder

    func respond(_ response: HTTPResponse, closing: Bool = false) {
        guard case .waitingForAnswer = stage, let connection else { return }
        if closing || connection.server.isStopping { keepsAlive = false }
        let hasBody = response.status != 204 && response.status != 304
        let head = HTTPResponseHead(
            status: response.status, headers: response.headers,
            framing: hasBody ? .length(response.body.count) : .none,
            closesConnection: !keepsAlive)
        stage = .complete
        var bytes: [UInt8] = []
        let bodyBytes = hasBody && !isHead ? response.body.count : 0
        bytes.reserveCapacity(512 + bodyBytes)
        head.encode(into: &bytes)
        if bodyBytes > 0 { bytes.append(contentsOf: response.body) }
        write(bytes)
    }

    /// - Parameter onClose: called once, when the answer ends without `finish`.
    func startStream(
        status: Int, headers: HTTPHeaders, onClose: @escaping @Sendable () -> Void
    ) {
        guard case .waitingForAnswer = stage, let connection else {
            onClose()
            return
        }
        if !isHTTP11 || connection.server.isStopping { keepsAlive = false }
        let framing: BodyFraming = isHTTP11 ? .chunked : .untilClose
        self.onClose = onClose
        stage = .streaming(framing)
        connection.holdsHeadersNoMore()
        var bytes: [UInt8] = []
        HTTPResponseHead(
            status: status, headers: headers, framing: framing, closesConnection: !keepsAlive
        ).encode(into: &bytes)
        write(bytes)
        if isHead || connection.server.isStopping { windDown() }
    }

    func stream(_ piece: [UInt8]) {
        guard case .streaming(let framing) = stage, !piece.isEmpty else { return }
        guard framing == .chunked else {
            write(piece)
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(piece.count + 12)
        bytes.append(contentsOf: String(piece.count, radix: 16).utf8)
        bytes.append(contentsOf: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])
        bytes.append(contentsOf: piece)
        bytes.append(contentsOf: [UInt8(ascii: "\r"), UInt8(ascii: "\n")])
        write(bytes)
    }

    /// The stream's owner has no more.
    func finishStream() {
        onClose = nil
        endStream()
    }

    /// The server stops: ends a stream, whose owner is told, and keeps the connection for an answer
    /// that is still to come.
    func windDown() {
        keepsAlive = false
        guard case .streaming = stage else { return }
        endStream()
        tellOwner()
    }

    private func endStream() {
        guard case .streaming(let framing) = stage else { return }
        stage = .complete
        if framing == .chunked && !isHead {
            write(Array("0\r\n\r\n".utf8))
        } else {
            connection?.wantsToWrite()
        }
    }

    func abort() { connection?.abort() }

    private func write(_ bytes: [UInt8]) {
        guard let connection else { return }
        queuedBytes += bytes.count
        if queuedBytes > connection.server.options.maxQueuedBytes + bytes.count {
            connection.abort()
            return
        }
        output.append(bytes)
        connection.wantsToWrite()
    }

    // MARK: - From the connection

    enum Progress {
        /// The socket is full, or the stream has no more at the moment.
        case waiting
        case complete
        case broken
    }

    /// Writes what the socket takes.
    func writeOutput(to wsi: OpaquePointer) -> Progress {
        while let piece = output.first {
            let length = min(piece.count - sentBytes, Self.writeBytes)
            let isAlive = piece.withUnsafeBytes {
                FrameBuffer.writeRaw(
                    UnsafeRawBufferPointer(rebasing: $0[sentBytes..<sentBytes + length]), to: wsi)
            }
            if !isAlive { return .broken }
            queuedBytes -= length
            sentBytes += length
            if sentBytes == piece.count {
                output.removeFirst()
                sentBytes = 0
            }
            if lws_partial_buffered(wsi) != 0 {
                lws_callback_on_writable(wsi)
                return .waiting
            }
        }
        if case .complete = stage { return .complete }
        return .waiting
    }

    /// The connection is gone.
    func closed() {
        stage = .complete
        tellOwner()
    }

    private func tellOwner() {
        let onClose = self.onClose
        self.onClose = nil
        onClose?()
    }
}
