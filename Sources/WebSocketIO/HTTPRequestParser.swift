/// Reads requests out of the bytes of a connection. RFC 9112. A pure value.
///
/// The server reads requests by itself, because libwebsockets 4.1 goes round in circles over a
/// request with a body that was sent before the answer to the one before it.
struct HTTPRequestParser {
    /// What of the bytes is not done with yet.
    private(set) var buffer: [UInt8] = []
    private var taken = 0
    /// As far as the end of a head has been looked for.
    private var searched = 0
    private let maxHeadBytes: Int
    private let maxBodyBytes: Int
    private var head: Head?

    struct Head: Equatable {
        var method: String
        /// Percent-decoded.
        var path: String
        var query: [HTTPRequest.QueryItem]
        var headers: HTTPHeaders
        var isHTTP11: Bool
        var bodyBytes: Int
        /// As it came, from the request line to the empty line.
        var bytes: [UInt8]

        /// Whether the connection may serve another request after this one. RFC 9112 §9.3.
        var keepsAlive: Bool {
            isHTTP11
                ? !headers.lists("close", in: "connection")
                : headers.lists("keep-alive", in: "connection")
        }

        var expectsContinue: Bool {
            isHTTP11 && bodyBytes > 0 && headers.lists("100-continue", in: "expect")
        }

        /// RFC 9110 §7.8: an upgrade to anything else is ignored.
        var asksForWebSocket: Bool { headers.lists("websocket", in: "upgrade") }
    }

    enum Outcome: Equatable {
        /// More bytes are needed.
        case incomplete
        /// A head is there and its client waits to be told to send the body. Comes once a request.
        case headBeforeBody(Head)
        case request(Head, body: [UInt8])
        /// What has come is no request, or one that is not served; nothing after it can be read.
        case refused(HTTPResponse)
    }

    init(maxHeadBytes: Int, maxBodyBytes: Int) {
        self.maxHeadBytes = maxHeadBytes
        self.maxBodyBytes = maxBodyBytes
    }

    /// How many bytes have come and are not taken.
    var waitingBytes: Int { buffer.count - taken }

    /// Whether a request has begun and is not complete.
    var isInsideRequest: Bool { head != nil || waitingBytes > 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        buffer.append(contentsOf: bytes)
    }

    /// The bytes that follow what has been read so far; they are gone from here then.
    mutating func takeRest() -> [UInt8] {
        defer { consume(waitingBytes) }
        return Array(buffer[taken...])
    }

    mutating func next() -> Outcome {
        if let head { return body(of: head) }
        // RFC 9112 §2.2: an empty line before a request is ignored.
        while waitingBytes >= 2, buffer[taken] == cr, buffer[taken + 1] == lf { consume(2) }
        guard let end = headEnd() else {
            return waitingBytes > maxHeadBytes ? .refused(.headTooLarge) : .incomplete
        }
        if end - taken > maxHeadBytes { return .refused(.headTooLarge) }
        let bytes = Array(buffer[taken..<end])
        consume(end - taken)
        do {
            let head = try Self.parse(bytes)
            if head.bodyBytes > maxBodyBytes {
                return .refused(
                    HTTPResponse(
                        status: 413, text: "The body is larger than \(maxBodyBytes) bytes."))
            }
            if head.bodyBytes == 0 { return .request(head, body: []) }
            self.head = head
            if head.expectsContinue, waitingBytes == 0 { return .headBeforeBody(head) }
            return body(of: head)
        } catch {
            return .refused(HTTPResponse(status: error.status, text: error.text))
        }
    }

    private mutating func body(of head: Head) -> Outcome {
        guard waitingBytes >= head.bodyBytes else { return .incomplete }
        let body = Array(buffer[taken..<taken + head.bodyBytes])
        consume(head.bodyBytes)
        self.head = nil
        return .request(head, body: body)
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

    /// Where the head ends, behind its empty line.
    private mutating func headEnd() -> Int? {
        var index = max(taken, searched - 3)
        while index + 3 < buffer.count {
            if buffer[index + 3] == lf, buffer[index] == cr, buffer[index + 1] == lf,
                buffer[index + 2] == cr
            {
                return index + 4
            }
            index += 1
        }
        searched = buffer.count
        return nil
    }
}

// MARK: - Heads

private let cr = UInt8(ascii: "\r")
private let lf = UInt8(ascii: "\n")

extension HTTPResponse {
    fileprivate static let headTooLarge = HTTPResponse(
        status: 431, text: "The request line and header fields are too large.")
}

extension HTTPRequestParser {
    private struct BadRequest: Error {
        var status = 400
        let text: String
    }

    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE",
    ]

    private static func parse(_ bytes: [UInt8]) throws(BadRequest) -> Head {
        var lines = bytes.dropLast(4).split(separator: lf, omittingEmptySubsequences: false)[...]
        guard let requestLine = lines.popFirst().map(withoutCR) else {
            throw BadRequest(text: "The request line is missing.")
        }
        let parts = requestLine.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
            throw BadRequest(text: "The request line is not a method, a target and a version.")
        }
        let isHTTP11 = try isVersion11(parts[2])
        let method = String(decoding: parts[0], as: UTF8.self)
        guard methods.contains(method) else {
            throw BadRequest(
                status: method == "CONNECT" ? 405 : 501, text: "The method is not served here.")
        }
        let (path, query) = try target(parts[1], method: method)
        let headers = try fields(lines)
        if isHTTP11, headers.fields.count(where: { $0.name == "host" }) != 1 {
            throw BadRequest(text: "There must be one Host field.")
        }
        return Head(
            method: method, path: path, query: query, headers: headers, isHTTP11: isHTTP11,
            bodyBytes: try bodyBytes(headers, method: method), bytes: bytes)
    }

    private static func withoutCR(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == cr ? line.dropLast() : line
    }

    private static func isVersion11(_ version: ArraySlice<UInt8>) throws(BadRequest) -> Bool {
        let version = String(decoding: version, as: UTF8.self)
        if version == "HTTP/1.1" { return true }
        if version == "HTTP/1.0" { return false }
        throw version.hasPrefix("HTTP/")
            ? BadRequest(status: 505, text: "This server speaks HTTP/1.1.")
            : BadRequest(text: "The request line does not end with an HTTP version.")
    }

    /// RFC 9112 §3.2: a path, a whole URL, or for OPTIONS an asterisk.
    private static func target(
        _ bytes: ArraySlice<UInt8>, method: String
    ) throws(BadRequest) -> (String, [HTTPRequest.QueryItem]) {
        var rest = bytes
        if rest.first != UInt8(ascii: "/") {
            if method == "OPTIONS", rest.elementsEqual("*".utf8) { return ("*", []) }
            guard let schemeEnd = rest.firstRange(of: Array("://".utf8)) else {
                throw BadRequest(text: "The target is neither a path nor a URL.")
            }
            rest = rest[schemeEnd.upperBound...]
            let pathStart =
                rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                ?? rest.endIndex
            rest = rest[pathStart...]
        }
        let pathEnd = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        let path = percentDecoded(rest[..<pathEnd], plusIsBlank: false)
        let query = rest[pathEnd...].dropFirst().split(separator: UInt8(ascii: "&")).map { item in
            let nameEnd = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return HTTPRequest.QueryItem(
                name: percentDecoded(item[..<nameEnd], plusIsBlank: true),
                value: percentDecoded(item[nameEnd...].dropFirst(), plusIsBlank: true))
        }
        return (path.isEmpty ? "/" : path, query)
    }

    private static func percentDecoded(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
                continue
            }
            decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            index += 1
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func fields(
        _ lines: ArraySlice<ArraySlice<UInt8>>
    ) throws(BadRequest) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines {
            let line = withoutCR(line)
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
                throw BadRequest(text: "A header field has no name.")
            }
            // RFC 9112 §5.1 and §5.2: no blank before the colon, no line folding.
            guard line[..<colon].allSatisfy(isTokenByte) else {
                throw BadRequest(text: "A header field's name has a character that is not allowed.")
            }
            let value = line[(colon + 1)...]
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
                throw BadRequest(text: "A header field's value has a control character.")
            }
            headers.append(
                String(decoding: line[..<colon], as: UTF8.self),
                String(Substring(decoding: value, as: UTF8.self).trimmingBlanks))
        }
        return headers
    }

    /// RFC 9110 §5.6.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// RFC 9112 §6. Chunked bodies are not read: who sends a body says how long it is.
    private static func bodyBytes(
        _ headers: HTTPHeaders, method: String
    ) throws(BadRequest) -> Int {
        if headers["transfer-encoding"] != nil {
            throw BadRequest(status: 411, text: "Send the body with a Content-Length.")
        }
        let lengths = Set(
            headers.fields.filter { $0.name == "content-length" }.map(\.value))
        guard let length = lengths.first else {
            if ["POST", "PUT", "PATCH"].contains(method) {
                throw BadRequest(status: 411, text: "Send the body with a Content-Length.")
            }
            return 0
        }
        let isNumber = !length.isEmpty && length.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard lengths.count == 1, isNumber, let number = Int(length) else {
            throw BadRequest(text: "Content-Length is not a number.")
        }
        return number
    }
}
