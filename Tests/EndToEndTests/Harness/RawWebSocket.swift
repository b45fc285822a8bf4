import RelayJSON

/// A WebSocket client of a few lines (RFC 6455), so that the server is not judged by our own client
/// alone.
final class RawWebSocket: Sendable {
    enum Message: Hashable, Sendable {
        case text(String)
        case close(code: Int, reason: String)
    }

    private let connection: RawConnection

    /// Connects and shakes hands; fails unless the subprotocol is agreed on.
    init(port: Int, subprotocol: String = "graphql-transport-ws") throws {
        connection = try RawConnection(port: port)
        let head = """
            GET /graphql HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Protocol: \(subprotocol)\r
            \r

            """
        try connection.send(Array(head.utf8))
        let reply = try connection.receive(through: "\r\n\r\n").lowercased()
        // RFC 6455 §1.3: the accept value of that very key.
        guard reply.hasPrefix("http/1.1 101"), reply.contains("s3pplmbitxaq9kygzzhzrbk+xoo="),
            reply.contains("sec-websocket-protocol: \(subprotocol)")
        else { throw Failure("This is no handshake: \(reply)") }
    }

    func send(_ json: JSONValue) throws {
        let payload = json.bytes
        var frame: [UInt8] = [0x81]
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        default:
            frame += [0x80 | 126, UInt8(payload.count >> 8 & 0xff), UInt8(payload.count & 0xff)]
        }
        let mask: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
        frame += mask
        frame += payload.enumerated().map { $1 ^ mask[$0 % 4] }
        try connection.send(frame)
    }

    /// The next message that is JSON.
    func receive() throws -> JSONValue {
        guard case .text(let text) = try receiveMessage() else {
            throw Failure("The server closed the connection.")
        }
        return try JSONValue(parsing: text)
    }

    /// The next text or close; a server sends each in one frame, without a mask.
    func receiveMessage() throws -> Message {
        while true {
            let head = try connection.receive(count: 2)
            var length = Int(head[1])
            if length == 126 {
                length = try connection.receive(count: 2).reduce(0) { $0 << 8 | Int($1) }
            } else if length == 127 {
                length = try connection.receive(count: 8).reduce(0) { $0 << 8 | Int($1) }
            }
            let payload = try connection.receive(count: length)
            switch head[0] {
            case 0x81:
                return .text(String(decoding: payload, as: UTF8.self))
            case 0x88:
                let code = payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
                return .close(
                    code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
            case 0x89, 0x8A:
                continue
            default:
                throw Failure("A frame that no server of ours sends: \(head)")
            }
        }
    }
}
