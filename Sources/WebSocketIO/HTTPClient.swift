package import HTTPMessages

/// Sends single HTTP requests.
package enum HTTPClient {
    package struct Options: Sendable {
        /// Certificates in PEM to check a server against; nil means the system's.
        package var authorityFile: String?
        /// From the first packet to the last byte of the answer; of one that is delivered in pieces, to its
        /// first byte, and then from each piece to the next.
        package var timeout: Duration = .seconds(30)
        /// Larger answers are an error; those that are delivered in pieces may have any size.
        package var maxBodyBytes = 64 << 20

        package init(authorityFile: String? = nil) {
            self.authorityFile = authorityFile
        }
    }

    /// Sends a request and returns the whole answer, whatever its status; redirections are not
    /// followed. Cancelling the task closes the connection, and ends the wait.
    ///
    /// - Parameter body: sent, with its length, if it is not nil.
    /// Throws `IOError` with `cannotConnect`, `timedOut`, `connectionLost`, `tooLarge`,
    /// `badCredentials` or `stopped`, when the task is cancelled too.
    package static func send(
        _ method: String = "GET", to address: ServerAddress, headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8]? = nil, _ options: Options = Options(), on loop: IOLoop
    ) async throws -> HTTPResponse {
        let answer = HTTPAnswer(loop)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isTaken = loop.performOnCore { core in
                    let request = ClientRequest(
                        core: core, method: method, address: address, headers: headers, body: body,
                        options: options, isWhole: true,
                        handler: WholeAnswer { continuation.resume(with: $0) })
                    if answer.holds(request) { request.begin() } else { request.giveUp() }
                }
                if !isTaken {
                    continuation.resume(throwing: IOError.stopped("send a request to \(address)"))
                }
            }
        } onCancel: {
            answer.cancel()
        }
    }

    /// Sends a request whose answer is delivered in pieces, as it arrives.
    ///
    /// - Parameter handler: called on the loop's thread; its errors are those of ``send``.
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

/// Receives an answer in pieces, on the loop's thread and in this order.
package protocol HTTPAnswerHandler: Sendable {
    /// The answer begins. Its body is empty.
    func began(_ head: HTTPResponse)
    func received(_ piece: UnsafeRawBufferPointer)
    /// Called once, unless the answer was given up.
    /// - Parameter error: nil when the answer is whole.
    func ended(_ error: IOError?)
}

/// An answer in progress.
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

    /// Gives the answer up: code that waits for the whole of it is told so, and a handler that receives it in
    /// pieces gets no more calls.
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
private final class ClientRequest: Peer, ByteStreamOwner {
    let id: UInt64
    private let core: LoopCore
    private let method: String
    private let address: ServerAddress
    private let headers: HTTPHeaders
    private let body: [UInt8]?
    private let options: HTTPClient.Options
    /// Whether the answer has to be there in one time, and within one size.
    private let isWhole: Bool
    private var handler: (any HTTPAnswerHandler)?
    private var stream: ByteStream?
    private var isOpen = false
    private var timer: LoopTimer?
    private var heardAt = monotonicMilliseconds()
    private var parser: HTTPResponseParser
    private var receivedBytes = 0

    init(
        core: LoopCore, method: String, address: ServerAddress, headers: HTTPHeaders,
        body: [UInt8]?, options: HTTPClient.Options, isWhole: Bool,
        handler: any HTTPAnswerHandler
    ) {
        id = core.nextID()
        self.core = core
        self.method = method
        self.address = address
        self.headers = headers
        self.body = body
        self.options = options
        self.isWhole = isWhole
        self.handler = handler
        parser = HTTPResponseParser(isHead: method == "HEAD")
    }

    func begin() {
        core.insert(client: self)
        startTimer()
        do throws(IOError) {
            let stream = try ByteStream.connect(
                to: address, authorityFile: options.authorityFile, timeout: options.timeout,
                owner: self, core: core)
            if handler == nil { stream.close() } else { self.stream = stream }
        } catch {
            end(error)
        }
    }

    /// The answer is not wanted any more.
    func giveUp() {
        if isWhole { return fail(.stopped, "the task was cancelled") }
        handler = nil
        end(nil)
    }

    private func startTimer() {
        if handler == nil { return }
        let due = heardAt + options.timeout.wholeMilliseconds
        timer = core.schedule(at: due) { [weak self] in self?.timePassed(due) }
    }

    private func timePassed(_ due: Int64) {
        if due < heardAt + options.timeout.wholeMilliseconds { return startTimer() }
        let missing = isWhole ? "whole answer" : "word"
        let code = isOpen ? IOError.Code.timedOut : .cannotConnect
        fail(code, "there was no \(missing) within \(options.timeout)")
    }

    // MARK: - The request

    func streamOpened() {
        isOpen = true
        // It may be open before `begin` has returned.
        core.schedule(at: monotonicMilliseconds()) { [weak self] in self?.sendRequest() }
    }

    private func sendRequest() {
        guard handler != nil, let stream, !stream.isClosed else { return }
        var fields: HTTPHeaders = ["host": address.hostField, "connection": "close"]
        for field in headers.fields { fields.append(field.name, field.value) }
        if let body { fields.append("content-length", String(body.count)) }
        let head = ClientRequestHead(method: method, path: address.path, headers: fields).encoded
        if !stream.write(head + (body ?? [])) { streamLost("the connection broke off") }
    }

    // MARK: - The answer

    func streamReceived(_ bytes: UnsafeRawBufferPointer) {
        if !isWhole { heardAt = monotonicMilliseconds() }
        parser.append(bytes)
        while handler != nil {
            switch parser.next() {
            case .incomplete: return
            case .head(let head):
                handler?.began(HTTPResponse(status: head.status, headers: head.headers))
            case .body(let piece): take(piece)
            case .complete: return end(nil)
            case .broken(let cause):
                return fail(.connectionLost, "there was an answer, but \(cause)")
            }
        }
    }

    private func take(_ piece: [UInt8]) {
        if isWhole, piece.count > options.maxBodyBytes - receivedBytes {
            return fail(.tooLarge, "the answer is larger than \(options.maxBodyBytes) bytes")
        }
        receivedBytes += piece.count
        piece.withUnsafeBytes { handler?.received($0) }
    }

    func streamInputEnded() {
        if parser.mayEndHere { return end(nil) }
        streamLost("the connection broke off")
    }

    /// RFC 9112 §8: an answer that lasts until the connection ends is whole only when that ends in order.
    func streamLost(_ cause: String) {
        if isOpen {
            fail(.connectionLost, "the connection broke off before the answer was complete")
        } else {
            fail(.cannotConnect, cause)
        }
    }

    // MARK: - The end

    private func fail(_ code: IOError.Code, _ cause: String) {
        let message = "Could not send \(method) \(address.path) to \(address): \(cause)."
        end(IOError(code: code, message: message))
    }

    /// Only the first outcome counts; the later ones are its consequences.
    private func end(_ error: IOError?) {
        timer?.cancel()
        stream?.close()
        core.removeClient(id)
        let handler = self.handler
        self.handler = nil
        handler?.ended(error)
    }

    // MARK: - As a peer

    var queuedBytes: Int { stream?.pendingBytes ?? 0 }
    func sweep(now: Int64) {}
    func windDown() { abort() }
    func abort() {
        fail(isOpen ? .connectionLost : .cannotConnect, "the network loop is stopping")
    }
}
