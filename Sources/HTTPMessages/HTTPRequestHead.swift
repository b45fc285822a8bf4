/// A request line and the fields below it. RFC 9112 §3, §5.
package struct HTTPRequestHead: Equatable {
    package var method: String
    var target: RequestTarget
    package var headers: HTTPHeaders
    /// Whether the client speaks HTTP/1.1 or a later 1.x, not 1.0.
    package var isHTTP11: Bool
    var framing: BodyFraming

    /// Percent-decoded.
    package var path: String { target.path }
    package var query: [HTTPRequest.QueryItem] { target.query }

    /// How the end of the body is found. RFC 9112 §6.
    enum BodyFraming: Equatable {
        case length(Int)
        case chunked
    }

    /// Whether the connection may serve another request after this one. RFC 9112 §9.3.
    package var keepsAlive: Bool {
        isHTTP11
            ? !headers.lists("close", in: "connection")
            : headers.lists("keep-alive", in: "connection")
    }

    /// RFC 9110 §10.1.1.
    var expectsContinue: Bool {
        isHTTP11 && framing != .length(0) && headers.lists("100-continue", in: "expect")
    }

    /// RFC 9110 §7.8: an upgrade to anything else is ignored, and so is one in a request of HTTP/1.0.
    package var asksForWebSocket: Bool { isHTTP11 && headers.lists("websocket", in: "upgrade") }
}

/// Why bytes are not a request, or not one that is served.
struct BadRequest: Error {
    var status = 400
    let text: String
}

extension HTTPRequestHead {
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE",
    ]

    /// - Parameter bytes: up to and with the empty line; each line feed follows a carriage return.
    init(parsing bytes: [UInt8]) throws(BadRequest) {
        var lines = bytes.dropLast(3).split(
            separator: .lineFeed, omittingEmptySubsequences: false)[...]
        // A carriage return that ends no line is met below: no grammar has a place for it. RFC 9112 §2.2.
        let parts = (lines.popFirst() ?? []).withoutLineEnd.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
            throw BadRequest(text: "The request line is not a method, a target and a version.")
        }
        let isHTTP11 = try Self.isVersion11(parts[2])
        let method = try Self.method(parts[0])
        let target = try RequestTarget(parts[1], method: method)
        var fields = HTTPHeaders()
        for line in lines {
            let (name, value) = try Self.field(line.withoutLineEnd)
            fields.append(name, value)
        }
        try Self.checkSingleFields(fields)
        let headers = try Self.withOneHost(fields, isHTTP11: isHTTP11, target: target)
        self.init(
            method: method, target: target, headers: headers, isHTTP11: isHTTP11,
            framing: try Self.framing(headers, method: method, isHTTP11: isHTTP11))
    }

    /// RFC 9112 §2.3. A later minor version is served as 1.1: RFC 9110 §2.5.
    private static func isVersion11(_ version: ArraySlice<UInt8>) throws(BadRequest) -> Bool {
        let digits = Array(version.dropFirst(5))
        guard version.starts(with: "HTTP/".utf8), digits.count == 3, digits[0].isDigit,
            digits[1] == UInt8(ascii: "."), digits[2].isDigit
        else { throw BadRequest(text: "The request line does not end with an HTTP version.") }
        guard digits[0] == UInt8(ascii: "1") else {
            throw BadRequest(status: 505, text: "This server speaks HTTP/1.1.")
        }
        return digits[2] != UInt8(ascii: "0")
    }

    private static func method(_ bytes: ArraySlice<UInt8>) throws(BadRequest) -> String {
        guard bytes.allSatisfy(\.isTokenByte) else {
            throw BadRequest(text: "The request line does not begin with a method.")
        }
        let method = String(decoding: bytes, as: UTF8.self)
        guard methods.contains(method) else {
            throw BadRequest(status: 501, text: "The method is not served here.")
        }
        return method
    }

    /// A line of the head, or of the trailers. RFC 9112 §5.1 and §5.2: no blank before the colon, no folding.
    static func field(
        _ line: ArraySlice<UInt8>
    ) throws(BadRequest) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
            throw BadRequest(text: "A header field has no name.")
        }
        guard line[..<colon].allSatisfy(\.isTokenByte) else {
            throw BadRequest(text: "A header field's name has a character that is not allowed.")
        }
        let value = line[(colon + 1)...].withoutOuterBlanks
        guard value.allSatisfy(\.isFieldValueByte) else {
            throw BadRequest(text: "A header field's value has a control character.")
        }
        return (
            String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)
        )
    }

    /// Fields that have one value, of those that are read here. `Host` and `Content-Length` have rules of their own.
    private static let singleFields: Set<String> = [
        "access-control-request-method", "authorization", "content-type", "last-event-id",
        "origin", "sec-websocket-key", "sec-websocket-version",
    ]

    /// RFC 9110 §5.3: only a list may come in several lines. A proxy may have looked at the other one.
    private static func checkSingleFields(_ headers: HTTPHeaders) throws(BadRequest) {
        var seen: Set<String> = []
        for field in headers.fields where singleFields.contains(field.name) {
            guard seen.insert(field.name).inserted else {
                throw BadRequest(text: "The field \(field.name) comes twice.")
            }
        }
    }

    /// RFC 9112 §3.2: one valid Host, which HTTP/1.0 may leave out. §3.2.2: a URL's own host counts more.
    private static func withOneHost(
        _ fields: HTTPHeaders, isHTTP11: Bool, target: RequestTarget
    ) throws(BadRequest) -> HTTPHeaders {
        let hosts = fields.values(of: "host")
        guard hosts.count == 1 || hosts.isEmpty && !isHTTP11 else {
            throw BadRequest(text: "There must be one Host field.")
        }
        guard hosts.allSatisfy({ RequestTarget.isAuthority(Array($0.utf8)[...]) }) else {
            throw BadRequest(text: "The Host field is not a host.")
        }
        guard let authority = target.authority else { return fields }
        var replaced: HTTPHeaders = ["host": authority]
        for field in fields.fields where field.name != "host" {
            replaced.append(field.name, field.value)
        }
        return replaced
    }
}

// MARK: - Where the body ends

extension HTTPRequestHead {
    /// RFC 9112 §6.3. What two servers could understand in two ways is refused, since the second of two in a
    /// chain would mistake a part of the body for the next request.
    private static func framing(
        _ headers: HTTPHeaders, method: String, isHTTP11: Bool
    ) throws(BadRequest) -> BodyFraming {
        let lengths = headers.values(of: "content-length")
        let codings = headers.values(of: "transfer-encoding")
        if !codings.isEmpty {
            // §6.1, §6.3 item 3.
            guard isHTTP11, lengths.isEmpty else {
                throw BadRequest(
                    text: "Transfer-Encoding goes neither with HTTP/1.0 nor with Content-Length.")
            }
            try checkCodings(codings)
            return .chunked
        }
        guard let length = lengths.first else {
            // RFC 9110 §15.5.12. It would be a body of no bytes, which no POST here can do anything with.
            if method == "POST" {
                throw BadRequest(
                    status: 411, text: "Send the body with a Content-Length, or in chunks.")
            }
            return .length(0)
        }
        // §6.3 item 5 lets a server take the same number twice for one, in two lines or in a list. This one refuses both.
        guard lengths.count == 1, !length.isEmpty, length.utf8.allSatisfy(\.isDigit) else {
            throw BadRequest(text: "Content-Length is not a number.")
        }
        // RFC 9110 §8.6: a number of any size is one.
        guard let number = Int(length) else {
            throw BadRequest(status: 413, text: "The body is too large.")
        }
        return .length(number)
    }

    /// Throws unless the body is chunked and nothing else. RFC 9112 §6.1, §7.
    private static func checkCodings(_ values: [String]) throws(BadRequest) {
        // RFC 9110 §5.6.1.2: an empty member of a list means nothing.
        let codings = values.flatMap { value in
            Array(value.utf8).split(separator: UInt8(ascii: ",")).map(\.withoutOuterBlanks)
        }.filter { !$0.isEmpty }
        let isChunked = codings.map { $0.isEqualWithoutCase(to: "chunked") }
        guard isChunked.last == true, isChunked.count(where: \.self) == 1 else {
            throw BadRequest(text: "Transfer-Encoding does not say where the body ends.")
        }
        guard codings.count == 1 else {
            throw BadRequest(status: 501, text: "The only transfer coding read here is chunked.")
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without the carriage return before its line feed, which is gone already.
    fileprivate var withoutLineEnd: ArraySlice<UInt8> {
        last == .carriageReturn ? dropLast() : self
    }
}
