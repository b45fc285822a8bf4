import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A client that says exactly what a test tells it to, bytes and all, and never waits for ever.
final class RawClient {
    private let descriptor: Int32
    private var received: [UInt8] = []
    private(set) var isAtEnd = false

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(port: Int, receiveBufferBytes: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiveBufferBytes {
            setsockopt(
                descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let failure = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if failure != 0 {
            throw Failure(description: "connect: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Ends the sending direction.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Goes away without a word, so that what it never read makes a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends all of it, or fails; a peer that hangs up midway is no failure.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    Glibc.send(
                        descriptor, bytes.baseAddress! + sent, bytes.count - sent,
                        Int32(MSG_NOSIGNAL))
                #else
                    Darwin.send(descriptor, bytes.baseAddress! + sent, bytes.count - sent, 0)
                #endif
            }
            if count <= 0 { return }
            sent += count
        }
    }

    /// Waits for more bytes. Returns false at the end of the connection.
    @discardableResult
    private func receiveMore(before deadline: ContinuousClock.Instant) throws -> Bool {
        if isAtEnd { return false }
        let left = deadline - .now
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(
            max(
                0,
                left.components.seconds * 1_000
                    + left.components.attoseconds / 1_000_000_000_000_000))
        guard poll(&poller, 1, milliseconds) > 0 else {
            throw Failure(
                description: "nothing more came after: \(String(decoding: received, as: UTF8.self))"
            )
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count <= 0 {
            isAtEnd = true
            return false
        }
        received.append(contentsOf: buffer[..<count])
        return true
    }

    func readToEnd(within limit: Duration = .seconds(10)) throws -> String {
        let deadline = ContinuousClock.Instant.now + limit
        while try receiveMore(before: deadline) {}
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    /// Reads as far as the first occurrence of `mark`, and that too.
    func read(through mark: String, within limit: Duration = .seconds(10)) throws -> String {
        let deadline = ContinuousClock.Instant.now + limit
        let mark = Array(mark.utf8)
        while true {
            if let end = received.firstRange(of: mark)?.upperBound {
                defer { received.removeFirst(end) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            guard try receiveMore(before: deadline) else {
                throw Failure(
                    description: "the end came after: \(String(decoding: received, as: UTF8.self))")
            }
        }
    }

    func read(count: Int, within limit: Duration = .seconds(10)) throws -> [UInt8] {
        let deadline = ContinuousClock.Instant.now + limit
        while received.count < count {
            guard try receiveMore(before: deadline) else {
                throw Failure(description: "the end came after \(received.count) bytes of \(count)")
            }
        }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    // MARK: - WebSocket

    static let handshakeKey = "dGhlIHNhbXBsZSBub25jZQ=="

    static func handshake(
        path: String = "/", extra: [String] = [], omitting omitted: String? = nil,
        version: String = "13"
    ) -> String {
        let fields = [
            "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: \(handshakeKey)", "Sec-WebSocket-Version: \(version)",
        ].filter { field in omitted.map { !field.hasPrefix($0 + ":") } ?? true }
        return (["GET \(path) HTTP/1.1"] + fields + extra + ["", ""]).joined(separator: "\r\n")
    }

    /// Shakes hands and returns the server's answer.
    @discardableResult
    func upgrade(path: String = "/", extra: [String] = []) throws -> String {
        try send(Self.handshake(path: path, extra: extra))
        let answer = try read(through: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 101") else { throw Failure(description: answer) }
        return answer
    }

    struct Frame: Equatable {
        var opcode: UInt8
        var isFinal = true
        var payload: [UInt8]

        var text: String { String(decoding: payload, as: UTF8.self) }
        /// Of a close frame.
        var closeCode: Int? {
            opcode == 8 && payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil
        }
        var closeReason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
    }

    func send(frame: Frame, isMasked: Bool = true) throws {
        var bytes: [UInt8] = [(frame.isFinal ? 0x80 : 0) | frame.opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch frame.payload.count {
        case 0..<126: bytes.append(mask | UInt8(frame.payload.count))
        case 126...0xFFFF:
            bytes.append(mask | 126)
            bytes.append(UInt8(frame.payload.count >> 8))
            bytes.append(UInt8(frame.payload.count & 0xFF))
        default:
            bytes.append(mask | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: frame.payload.count >> shift))
            }
        }
        if isMasked {
            let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
            bytes += key
            bytes += frame.payload.enumerated().map { $0.element ^ key[$0.offset % 4] }
        } else {
            bytes += frame.payload
        }
        try send(bytes)
    }

    func send(text: String) throws {
        try send(frame: Frame(opcode: 1, payload: Array(text.utf8)))
    }

    func readFrame(within limit: Duration = .seconds(10)) throws -> Frame {
        let head = try read(count: 2, within: limit)
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            length = try read(count: length == 126 ? 2 : 8, within: limit)
                .reduce(0) { $0 << 8 | Int($1) }
        }
        let payload = length > 0 ? try read(count: length, within: limit) : []
        return Frame(opcode: head[0] & 0xF, isFinal: head[0] & 0x80 != 0, payload: payload)
    }

    /// Reads frames up to the one that ends a message, and joins their payloads.
    func readMessage(within limit: Duration = .seconds(10)) throws -> Frame {
        var message = try readFrame(within: limit)
        while !message.isFinal {
            let next = try readFrame(within: limit)
            message.payload += next.payload
            message.isFinal = next.isFinal
        }
        return message
    }
}
