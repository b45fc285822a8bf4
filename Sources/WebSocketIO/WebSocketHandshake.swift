/// What an upgrade request must have before its owner is asked at all. RFC 6455 §4.2.1.
///
/// The library checks little of this itself, and where it does it drops the connection without an
/// answer.
enum WebSocketHandshake {
    /// The library copies the offered subprotocols into a buffer of this size.
    private static let maxOfferBytes = 127

    /// Why `request` is no WebSocket handshake, or nil if it is one.
    static func refusal(of request: HTTPRequest, isHTTP11: Bool) -> HTTPResponse? {
        let headers = request.headers
        if request.method != "GET" || !isHTTP11 {
            return HTTPResponse(status: 400, text: "A WebSocket handshake is an HTTP/1.1 GET.")
        }
        if !headers.lists("upgrade", in: "connection") {
            return HTTPResponse(status: 400, text: "The Connection field does not name Upgrade.")
        }
        if headers["sec-websocket-version"] != "13" {
            return HTTPResponse(
                status: 426,
                headers: [
                    "content-type": "text/plain; charset=utf-8", "sec-websocket-version": "13",
                ],
                body: Array("This server speaks version 13 of the WebSocket protocol.\n".utf8))
        }
        if !isKey(headers["sec-websocket-key"]) {
            return HTTPResponse(
                status: 400, text: "Sec-WebSocket-Key is not 16 bytes in base64.")
        }
        if let offer = headers["sec-websocket-protocol"], offer.utf8.count > maxOfferBytes {
            return HTTPResponse(
                status: 400,
                text: "Sec-WebSocket-Protocol is longer than \(maxOfferBytes) bytes.")
        }
        return nil
    }

    /// 16 bytes in base64: 22 digits and two equals signs.
    private static func isKey(_ key: String?) -> Bool {
        guard let bytes = key.map({ Array($0.utf8) }), bytes.count == 24 else { return false }
        let isDigits = bytes[..<22].allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        return isDigits && bytes[22] == UInt8(ascii: "=") && bytes[23] == UInt8(ascii: "=")
    }
}
