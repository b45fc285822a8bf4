import CLibwebsockets

/// Sends single HTTP requests.
package enum HTTPClient {
    package struct Options: Sendable {
        /// Certificates in PEM to check a server against; nil means the system's.
        package var authorityFile: String?
        /// From the first packet to the last byte of the answer.
        package var timeout: Duration = .seconds(30)
        /// Larger answers are an error.
        package var maxBodyBytes = 64 << 20

        package init(authorityFile: String? = nil) {
            self.authorityFile = authorityFile
        }
    }

    /// Sends a request and returns the whole answer, whatever its status; redirections are not
    /// followed. Of the answer's header fields, the common ones are there.
    ///
    /// - Parameter body: sent, with its length, if it is not nil.
    /// Throws `IOError` with `cannotConnect`, `timedOut`, `connectionLost`, `tooLarge`,
    /// `badCredentials` or `stopped`.
    package static func send(
        _ method: String = "GET", to address: ServerAddress, headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8]? = nil, _ options: Options = Options(), on loop: IOLoop
    ) async throws -> HTTPResponse {
        try await withCheckedThrowingContinuation { continuation in
            let isTaken = loop.performOnCore { core in
                ClientRequest(
                    core: core, method: method, address: address, headers: headers, body: body,
                    options: options
                ) { continuation.resume(with: $0) }.begin()
            }
            if !isTaken {
                continuation.resume(throwing: IOError.stopped("send a request to \(address)"))
            }
        }
    }
}

/// One request that we make and its answer.
private final class ClientRequest: Endpoint {
    private static let pieceBytes = 65_536

    private let method: String
    private let address: ServerAddress
    private let headers: HTTPHeaders
    private let body: [UInt8]?
    private let options: HTTPClient.Options
    private var completed: ((Result<HTTPResponse, any Error>) -> Void)?
    private var timer: LoopTimer?
    private var sentBytes = 0
    private var answer: HTTPResponse?

    init(
        core: LoopCore, method: String, address: ServerAddress, headers: HTTPHeaders,
        body: [UInt8]?, options: HTTPClient.Options,
        completed: @escaping (Result<HTTPResponse, any Error>) -> Void
    ) {
        self.method = method
        self.address = address
        self.headers = headers
        self.body = body
        self.options = options
        self.completed = completed
        super.init(core: core)
    }

    func begin() {
        core.insert(self)
        do {
            let connect = ClientConnect(
                address: address, method: method, authorityFile: options.authorityFile)
            if try connect.begin(for: self) {
                startTimer()
                return
            }
            wsi = nil
            fail(.cannotConnect, "the connection could not be made")
        } catch {
            complete(.failure(error))
        }
        core.remove(self)
    }

    private func startTimer() {
        if completed == nil { return }
        let patience = options.timeout
        timer = core.schedule(at: monotonicMilliseconds() + patience.wholeMilliseconds) {
            [weak self] in
            guard let self else { return }
            fail(.timedOut, "there was no whole answer within \(patience)")
            abort()
        }
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        if completed == nil { return -1 }
        let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
        switch reason {
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
            return appendHeaders(at: data, room: count, wsi)
        case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE: return writeBody(to: wsi)
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            fail(.cannotConnect, address.cause(bytes))
        case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
            answer = HTTPResponse(
                status: Int(lws_http_client_http_response(wsi)),
                headers: AnswerHeadReader(wsi: wsi).headers)
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP: return readBody(from: wsi)
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ: return append(bytes)
        case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
            finish()
            return -1
        default: break
        }
        return 0
    }

    override func libraryDestroyed() {
        fail(.connectionLost, "the connection broke off before the answer was complete")
    }

    // MARK: - The request

    private func appendHeaders(
        at data: UnsafeMutableRawPointer?, room: Int, _ wsi: OpaquePointer
    ) -> Int32 {
        var headers = headers
        if let body {
            headers.append("content-length", String(body.count))
            if !body.isEmpty {
                lws_client_http_body_pending(wsi, 1)
                lws_callback_on_writable(wsi)
            }
        }
        if ClientConnect.append(headers, at: data, room: room) { return 0 }
        fail(.tooLarge, "the header fields are too large")
        return -1
    }

    private func writeBody(to wsi: OpaquePointer) -> Int32 {
        guard let body, sentBytes < body.count else { return 0 }
        let end = min(sentBytes + Self.pieceBytes, body.count)
        let isAlive = body.withUnsafeBytes {
            FrameBuffer.writeRaw(UnsafeRawBufferPointer(rebasing: $0[sentBytes..<end]), to: wsi)
        }
        if !isAlive { return -1 }
        sentBytes = end
        if sentBytes == body.count {
            lws_client_http_body_pending(wsi, 0)
        } else {
            lws_callback_on_writable(wsi)
        }
        return 0
    }

    // MARK: - The answer

    /// The library gives a piece out by another callback.
    private func readBody(from wsi: OpaquePointer) -> Int32 {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            guard let base = buffer.baseAddress else { return -1 }
            let headroom = FrameBuffer.headroom.count
            var start: UnsafeMutablePointer<CChar>? = base + headroom
            var length = Int32(buffer.count - headroom)
            return lws_http_client_read(wsi, &start, &length) < 0 ? -1 : 0
        }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        if bytes.count > options.maxBodyBytes - (answer?.body.count ?? 0) {
            fail(.tooLarge, "the answer is larger than \(options.maxBodyBytes) bytes")
            return -1
        }
        answer?.body.append(contentsOf: bytes)
        return 0
    }

    private func finish() {
        if let answer { complete(.success(answer)) }
    }

    private func fail(_ code: IOError.Code, _ cause: String) {
        let message = "Could not send \(method) \(address.path) to \(address): \(cause)."
        complete(.failure(IOError(code: code, message: message)))
    }

    /// Only the first outcome counts; the later ones are its consequences.
    private func complete(_ result: Result<HTTPResponse, any Error>) {
        timer?.cancel()
        let completed = self.completed
        self.completed = nil
        completed?(result)
    }
}
