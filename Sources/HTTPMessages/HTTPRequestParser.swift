/// Reads requests out of the bytes of a connection. RFC 9112. A pure value.
///
/// The server reads requests by itself, because libwebsockets 4.1 goes round in circles over a
/// request with a body that was sent before the answer to the one before it.
///
/// What comes out is the same however the bytes were cut into pieces. Where the RFC lets a reader choose between
/// refusing and repairing (a lone line feed, folded lines, blanks in odd places), this one refuses: a proxy
/// may have repaired it differently, and then the two disagree about where a request ends.
package struct HTTPRequestParser {
    package typealias Head = HTTPRequestHead

    /// What of the bytes is not done with yet.
    private(set) var buffer: [UInt8] = []
    private var taken = 0
    /// As far as the end of a head has been looked for.
    private var searched = 0
    private let maxHeadBytes: Int
    private let maxBodyBytes: Int
    /// Of a request whose body is not complete, or that was refused.
    package private(set) var head: Head?
    /// Of a request whose body comes in chunks.
    private var chunks: ChunkedBody?

    package enum Outcome: Equatable {
        /// More bytes are needed.
        case incomplete
        /// A head is there and its client waits for permission to send the body. Comes once a request.
        case headBeforeBody(Head)
        case request(Head, body: [UInt8])
        /// What has arrived is not a request, or not one that is served; nothing after it can be read.
        case refused(HTTPResponse)
    }

    package init(maxHeadBytes: Int, maxBodyBytes: Int) {
        self.maxHeadBytes = maxHeadBytes
        self.maxBodyBytes = maxBodyBytes
    }

    /// How many bytes have arrived and are not consumed.
    package var waitingBytes: Int { buffer.count - taken }

    /// Whether a request has begun and is not complete. Half of a blank line before it is not part of it.
    package var isInsideRequest: Bool {
        head != nil || waitingBytes > 1 || waitingBytes == 1 && buffer[taken] != .carriageReturn
    }

    /// Of a request whose head is there, how many bytes of its body have come; nil when no body is waited for.
    package var receivedBodyBytes: Int? {
        head == nil ? nil : waitingBytes + (chunks?.content.count ?? 0)
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        buffer.append(contentsOf: bytes)
    }

    /// The bytes that follow what has been read so far; they are gone from here then.
    package mutating func takeRest() -> [UInt8] {
        defer { consume(waitingBytes) }
        return Array(buffer[taken...])
    }

    package mutating func next() -> Outcome {
        do throws(BadRequest) {
            if head == nil {
                guard let head = try readHead() else { return .incomplete }
                if head.expectsContinue, waitingBytes == 0 { return .headBeforeBody(head) }
            }
            guard let head, let body = try readBody(head.framing) else { return .incomplete }
            self.head = nil
            return .request(head, body: body)
        } catch {
            return .refused(HTTPResponse(status: error.status, text: error.text))
        }
    }

    private mutating func readHead() throws(BadRequest) -> Head? {
        // RFC 9112 §2.2: an empty line before a request is ignored.
        while waitingBytes >= 2, buffer[taken] == .carriageReturn, buffer[taken + 1] == .lineFeed {
            consume(2)
        }
        guard let end = try headEnd() else { return nil }
        let bytes = Array(buffer[taken..<end])
        consume(end - taken)
        let head = try Head(parsing: bytes)
        self.head = head
        switch head.framing {
        case .length(let count) where count > maxBodyBytes:
            throw BadRequest(status: 413, text: "The body is larger than \(maxBodyBytes) bytes.")
        case .length: break
        case .chunked:
            chunks = ChunkedBody(maxBytes: maxBodyBytes, maxExtraBytes: maxHeadBytes)
        }
        return head
    }

    /// Where the head ends, after its empty line; nil when that has not come.
    private mutating func headEnd() throws(BadRequest) -> Int? {
        let limit = min(buffer.count, taken + maxHeadBytes)
        while searched < limit {
            let index = searched
            searched += 1
            guard buffer[index] == .lineFeed else { continue }
            guard index > taken, buffer[index - 1] == .carriageReturn else {
                throw BadRequest(text: "A line does not end with CRLF.")
            }
            if index >= taken + 3, buffer[index - 2] == .lineFeed,
                buffer[index - 3] == .carriageReturn
            {
                return index + 1
            }
        }
        if waitingBytes <= maxHeadBytes { return nil }
        throw BadRequest(status: 431, text: "The request line and header fields are too large.")
    }

    /// The body, when all of it is there.
    private mutating func readBody(_ framing: Head.BodyFraming) throws(BadRequest) -> [UInt8]? {
        if case .length(let count) = framing {
            guard waitingBytes >= count else { return nil }
            defer { consume(count) }
            return Array(buffer[taken..<taken + count])
        }
        let count = try chunks?.read(buffer[taken...]) ?? 0
        consume(count)
        guard let body = chunks, body.isComplete else { return nil }
        chunks = nil
        return body.content
    }

    private mutating func consume(_ count: Int) {
        taken += count
        searched = taken
        if taken == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.count <= 16_384)
            taken = 0
            searched = 0
        } else if taken >= 65_536 {
            buffer.removeFirst(taken)
            taken = 0
            searched = 0
        }
    }
}
