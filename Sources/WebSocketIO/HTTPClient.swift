import CLibwebsockets

/// Sends single HTTP requests.
package enum HTTPClient {
    package struct Options: Sendable {
        /// Certificates in PEM to check a server against; nil means the system's.
        package var authorityFile: String?
        /// From the first packet to the last byte of the answer; of one that is taken piece by piece, to
        /// its first byte, and then from each piece to the next.
        package var timeout: Duration = .seconds(30)
        /// Larger answers are an error; those that are taken piece by piece may have any size.
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
                    options: options, isWhole: true,
                    handler: WholeAnswer { continuation.resume(with: $0) }
                ).begin()
            }
            if !isTaken {
                continuation.resume(throwing: IOError.stopped("send a request to \(address)"))
            }
        }
    }

    /// Sends a request whose answer is taken piece by piece, as it comes.
    ///
    /// - Parameter handler: told on the loop's thread; its errors are those of ``send``.
    /// - Returns: what gives the answer up.
    package static func stream(
        _ method: String = "GET", to address: ServerAddress, headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8]? = nil, _ options: Options = Options(), on loop: IOLoop,
        handler: any HTTPAnswerHandler
    ) -> HTTPAnswer {
        let answer = HTTPAnswer(loop)
        let isTaken = loop.performOnCore { core in
            let request = ClientRequest(
                core: core, method: method, address: address, headers: headers, body: body,
                options: options, isWhole: false, handler: handler)
            if answer.holds(request) { request.begin() }
        }
        if !isTaken { handler.ended(IOError.stopped("send a request to \(address)")) }
        return answer
    }
}

/// What an answer that is taken piece by piece is told to, on the loop's thread and in this order.
package protocol HTTPAnswerHandler: Sendable {
    /// The answer begins. Its body is empty.
    func began(_ head: HTTPResponse)
    func received(_ piece: UnsafeRawBufferPointer)
    /// Called once, unless the answer was given up.
    /// - Parameter error: nil when the answer is whole.
    func ended(_ error: IOError?)
}

/// An answer that is under way.
package final class HTTPAnswer: Sendable {
    private let loop: IOLoop
    private let request: LoopConfined<Request>

    private struct Request {
        weak var request: ClientRequest?
        var isGivenUp = false
    }

    fileprivate init(_ loop: IOLoop) {
        self.loop = loop
        request = LoopConfined(Request(), on: loop)
    }

    /// - Returns: false when it was given up before it began.
    fileprivate func holds(_ request: ClientRequest) -> Bool {
        self.request.value.request = request
        return !self.request.value.isGivenUp
    }

    /// Gives the answer up: its handler is told nothing more.
    package func cancel() {
        loop.performOnCore { [request] _ in
            request.value.isGivenUp = true
            request.value.request?.giveUp()
        }
    }
}

/// Puts an answer together.
private final class WholeAnswer: HTTPAnswerHandler, @unchecked Sendable {
    // Unchecked: used on the loop's thread only.
    private let completed: (Result<HTTPResponse, any Error>) -> Void
    private var answer: HTTPResponse?

    init(_ completed: @escaping (Result<HTTPResponse, any Error>) -> Void) {
        self.completed = completed
    }

    func began(_ head: HTTPResponse) { answer = head }

    func received(_ piece: UnsafeRawBufferPointer) { answer?.body.append(contentsOf: piece) }

    func ended(_ error: IOError?) {
        if let error {
            completed(.failure(error))
        } else if let answer {
            completed(.success(answer))
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
    /// Whether the answer has to be there in one time, and within one size.
    private let isWhole: Bool
    private var handler: (any HTTPAnswerHandler)?
    private var timer: LoopTimer?
    private var heardAt: Int64 = 0
    private var sentBytes = 0
    private var receivedBytes = 0
    private var hasBegun = false

    init(
        core: LoopCore, method: String, address: ServerAddress, headers: HTTPHeaders,
        body: [UInt8]?, options: HTTPClient.Options, isWhole: Bool,
        handler: any HTTPAnswerHandler
    ) {
        self.method = method
        self.address = address
        self.headers = headers
        self.body = body
        self.options = options
        self.isWhole = isWhole
        self.handler = handler
        super.init(core: core)
    }

    func begin() {
        core.insert(self)
        do throws(IOError) {
            let connect = ClientConnect(
                address: address, method: method, authorityFile: options.authorityFile)
            if try connect.begin(for: self) {
                heardAt = monotonicMilliseconds()
                startTimer()
                return
            }
            wsi = nil
            fail(.cannotConnect, "the connection could not be made")
        } catch {
            end(error)
        }
        core.remove(self)
    }

    /// Nobody wants the answer any more.
    func giveUp() {
        timer?.cancel()
        handler = nil
        abort()
    }

    private func startTimer() {
        if handler == nil { return }
        let due = heardAt + options.timeout.wholeMilliseconds
        timer = core.schedule(at: due) { [weak self] in self?.timePassed(due) }
    }

    private func timePassed(_ due: Int64) {
        if due < heardAt + options.timeout.wholeMilliseconds { return startTimer() }
        let missing = isWhole ? "whole answer" : "word"
        fail(.timedOut, "there was no \(missing) within \(options.timeout)")
        abort()
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        if handler == nil { return -1 }
        let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
        switch reason {
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
            return appendHeaders(at: data, room: count, wsi)
        case LWS_CALLBACK_CLIENT_HTTP_WRITEABLE: return writeBody(to: wsi)
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            fail(.cannotConnect, address.cause(bytes))
        case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
            hear()
            hasBegun = true
            handler?.began(
                HTTPResponse(
                    status: Int(lws_http_client_http_response(wsi)),
                    headers: AnswerHeadReader(wsi: wsi).headers))
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP: return readBody(from: wsi)
        case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ: return take(bytes)
        case LWS_CALLBACK_COMPLETED_CLIENT_HTTP:
            if hasBegun { end(nil) }
            return -1
        default: break
        }
        return 0
    }

    override func libraryDestroyed() {
        fail(.connectionLost, "the connection broke off before the answer was complete")
    }

    private func hear() { if !isWhole { heardAt = monotonicMilliseconds() } }

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

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        hear()
        if isWhole, bytes.count > options.maxBodyBytes - receivedBytes {
            fail(.tooLarge, "the answer is larger than \(options.maxBodyBytes) bytes")
            return -1
        }
        receivedBytes += bytes.count
        handler?.received(bytes)
        return 0
    }

    private func fail(_ code: IOError.Code, _ cause: String) {
        let message = "Could not send \(method) \(address.path) to \(address): \(cause)."
        end(IOError(code: code, message: message))
    }

    /// Only the first outcome counts; the later ones are its consequences.
    private func end(_ error: IOError?) {
        timer?.cancel()
        let handler = self.handler
        self.handler = nil
        handler?.ended(error)
    }
}
