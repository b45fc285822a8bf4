/// How the body of an answer is delimited. RFC 9112 §6.
package enum BodyFraming: Equatable {
    /// There is none, and none is announced: 204 and 304.
    case none
    case length(Int)
    case chunked
    /// The body ends with the connection: for HTTP/1.0.
    case untilClose
}

/// The lines before the body of an answer.
package struct HTTPResponseHead {
    var status: Int
    var headers: HTTPHeaders
    var framing: BodyFraming
    var closesConnection: Bool
    /// When the answer was made. RFC 9110 §6.6.1.
    var date = HTTPDate.now

    package init(
        status: Int, headers: HTTPHeaders, framing: BodyFraming, closesConnection: Bool
    ) {
        self.status = status
        self.headers = headers
        self.framing = framing
        self.closesConnection = closesConnection
    }

    package func encode(into bytes: inout [UInt8]) {
        bytes.append(contentsOf: "HTTP/1.1 \(status) \(Self.reason(for: status))\r\n".utf8)
        bytes.append(contentsOf: "date: \(date)\r\n".utf8)
        headers.encode(into: &bytes)
        switch framing {
        case .length(let length): bytes.append(contentsOf: "content-length: \(length)\r\n".utf8)
        case .chunked: bytes.append(contentsOf: "transfer-encoding: chunked\r\n".utf8)
        case .none, .untilClose: break
        }
        if closesConnection { bytes.append(contentsOf: "connection: close\r\n".utf8) }
        bytes.append(contentsOf: "\r\n".utf8)
    }

    /// RFC 9110 §15.
    private static func reason(for status: Int) -> String {
        switch status {
        case 200: "OK"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 421: "Misdirected Request"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }
}
