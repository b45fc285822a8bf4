import CLibwebsockets
import HTTPMessages

/// The handshake that turns an HTTP connection into a WebSocket. RFC 6455 §4.
enum WebSocketHandshake {
    // MARK: - A server's side

    /// Why `request` is not a WebSocket handshake, or nil if it is one. §4.2.1.
    static func refusal(of request: HTTPRequest) -> HTTPResponse? {
        let headers = request.headers
        if request.method != "GET" {
            return HTTPResponse(status: 400, text: "A WebSocket handshake is a GET.")
        }
        if !headers.lists("upgrade", in: "connection") {
            return HTTPResponse(status: 400, text: "The Connection field does not name Upgrade.")
        }
        if headers["sec-websocket-version"] != "13" {
            return HTTPResponse(
                status: 426,
                // RFC 9110 §15.5.22, §7.8.
                headers: [
                    "content-type": "text/plain; charset=utf-8", "sec-websocket-version": "13",
                    "upgrade": "websocket", "connection": "upgrade",
                ],
                body: Array("This server speaks version 13 of the WebSocket protocol.\n".utf8))
        }
        if !isKey(headers["sec-websocket-key"]) {
            return HTTPResponse(
                status: 400, text: "Sec-WebSocket-Key is not 16 bytes in base64.")
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

    /// The answer that accepts `request`. §4.2.2.
    static func answer(to request: HTTPRequest, deflate: DeflateAgreement?) -> [UInt8] {
        var headers: HTTPHeaders = ["upgrade": "websocket", "connection": "Upgrade"]
        headers.append(
            "sec-websocket-accept", acceptance(of: request.headers["sec-websocket-key"] ?? ""))
        if let subprotocol = request.subprotocol {
            headers.append("sec-websocket-protocol", subprotocol)
        }
        if let deflate { headers.append("sec-websocket-extensions", deflate.answer) }
        var bytes = Array("HTTP/1.1 101 Switching Protocols\r\n".utf8)
        headers.encode(into: &bytes)
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes
    }

    // MARK: - A client's side

    /// 16 random bytes in base64. §4.1.
    static func makeKey() -> String {
        (0..<16).map { _ in UInt8.random(in: 0...255) }.base64
    }

    static func request(
        to address: ServerAddress, key: String, _ options: WebSocketClient.Options
    ) -> [UInt8] {
        var fields: HTTPHeaders = [
            "host": address.hostField, "upgrade": "websocket", "connection": "Upgrade",
            "sec-websocket-key": key, "sec-websocket-version": "13",
        ]
        if !options.subprotocols.isEmpty {
            fields.append("sec-websocket-protocol", options.subprotocols.joined(separator: ", "))
        }
        if options.offersCompression {
            fields.append("sec-websocket-extensions", DeflateAgreement.offer)
        }
        for field in options.headers.fields { fields.append(field.name, field.value) }
        return ClientRequestHead(method: "GET", path: address.path, headers: fields).encoded
    }

    /// Why a server's answer does not open a connection, or nil if it does. §4.1.
    static func fault(
        in headers: HTTPHeaders, key: String, _ options: WebSocketClient.Options
    ) -> String? {
        if !headers.lists("websocket", in: "upgrade") || !headers.lists("upgrade", in: "connection")
        {
            return "the answer does not name the upgrade"
        }
        if headers["sec-websocket-accept"] != acceptance(of: key) {
            return "the answer is not to this handshake"
        }
        let extensions = headers.values(of: "sec-websocket-extensions")
        if !extensions.isEmpty {
            guard options.offersCompression else {
                return "the server uses an extension that was not offered"
            }
            if DeflateAgreement(answer: extensions) == nil {
                return "the server's answer to the offered compression cannot be accepted"
            }
        }
        if let subprotocol = headers["sec-websocket-protocol"],
            !options.subprotocols.contains(subprotocol)
        {
            return "the server picked a subprotocol that was not offered"
        }
        return nil
    }

    /// §4.2.2, item 5.4.
    private static func acceptance(of key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        lws_SHA1(text, text.count, &digest)
        return digest.base64
    }
}
