import BoundedTesting

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A client that says exactly what a test tells it to, bytes and all, and never waits for ever.
final class RawClient {
    private let descriptor: Int32
    /// What has come; what lies before `taken` has been read already.
    private var received: [UInt8] = []
    private var taken = 0
    private(set) var isAtEnd = false

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(port: Int, receiveBufferBytes: Int32? = nil) throws {
        descriptor = makeSocket()
        if let receiveBufferBytes { setReceiveBuffer(receiveBufferBytes) }
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

    /// With a small buffer the peer is blocked soon; with a large one what waits is read within its patience.
    func setReceiveBuffer(_ bytes: Int32) {
        var size = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Ends the sending direction.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Goes away without a word, so that what it never read makes a reset.
    func reset() {
        closeWithReset(descriptor)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Sends all of it; a peer that hangs up midway is no failure.
    func send(_ bytes: [UInt8]) async throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { bytes in
                #if canImport(Glibc)
                    Glibc.send(descriptor, bytes.baseAddress, bytes.count, doNotWait | noSignal)
                #elseif canImport(Musl)
                    Musl.send(descriptor, bytes.baseAddress, bytes.count, doNotWait | noSignal)
                #else
                    Darwin.send(descriptor, bytes.baseAddress, bytes.count, doNotWait)
                #endif
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                try await Task.sleep(for: .milliseconds(1))
            } else {
                return
            }
        }
    }

    /// Waits for more bytes. Returns false at the end of the connection.
    ///
    /// It polls instead of blocking: a blocked test would hold a thread that the server's own
    /// tasks need.
    private func receiveMore(before deadline: ContinuousClock.Instant) async throws -> Bool {
        if isAtEnd { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, doNotWait)
            if count > 0 {
                received.append(contentsOf: buffer[..<count])
                return true
            }
            if count == 0 || errno != EAGAIN {
                isAtEnd = true
                return false
            }
            if ContinuousClock.Instant.now > deadline {
                let text = String(decoding: received[taken...].prefix(500), as: UTF8.self)
                throw Failure(description: "nothing more came after: \(text)")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    func readToEnd(within limit: Duration = .testDeadline) async throws -> String {
        let deadline = ContinuousClock.Instant.now + limit
        while try await receiveMore(before: deadline) {}
        defer { take(received.count - taken) }
        return String(decoding: received[taken...], as: UTF8.self)
    }

    /// Reads as far as the first occurrence of `mark`, and that too.
    func read(through mark: String, within limit: Duration = .testDeadline) async throws -> String {
        let deadline = ContinuousClock.Instant.now + limit
        let mark = Array(mark.utf8)
        while true {
            if let end = received[taken...].firstRange(of: mark)?.upperBound {
                defer { take(end - taken) }
                return String(decoding: received[taken..<end], as: UTF8.self)
            }
            guard try await receiveMore(before: deadline) else {
                let text = String(decoding: received[taken...].prefix(500), as: UTF8.self)
                throw Failure(description: "the end came after: \(text)")
            }
        }
    }

    func read(count: Int, within limit: Duration = .testDeadline) async throws -> [UInt8] {
        let deadline = ContinuousClock.Instant.now + limit
        while received.count - taken < count {
            guard try await receiveMore(before: deadline) else {
                throw Failure(
                    description: "the end came after \(received.count - taken) of \(count) bytes")
            }
        }
        defer { take(count) }
        return Array(received[taken..<taken + count])
    }

    private func take(_ count: Int) {
        taken += count
        if taken == received.count {
            received.removeAll(keepingCapacity: true)
            taken = 0
        }
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
    func upgrade(path: String = "/", extra: [String] = []) async throws -> String {
        try await send(Self.handshake(path: path, extra: extra))
        let answer = try await read(through: "\r\n\r\n")
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

    func send(frame: Frame) async throws {
        var bytes: [UInt8] = [(frame.isFinal ? 0x80 : 0) | frame.opcode]
        let mask: UInt8 = 0x80
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
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        bytes += key
        bytes += frame.payload.enumerated().map { $0.element ^ key[$0.offset % 4] }
        try await send(bytes)
    }

    func send(text: String) async throws {
        try await send(frame: Frame(opcode: 1, payload: Array(text.utf8)))
    }

    func readFrame(within limit: Duration = .testDeadline) async throws -> Frame {
        let head = try await read(count: 2, within: limit)
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            length = try await read(count: length == 126 ? 2 : 8, within: limit)
                .reduce(0) { $0 << 8 | Int($1) }
        }
        let payload = length > 0 ? try await read(count: length, within: limit) : []
        return Frame(opcode: head[0] & 0xF, isFinal: head[0] & 0x80 != 0, payload: payload)
    }

    /// Reads a close frame, answers it, and returns its code.
    func readClose() async throws -> Int? {
        let close = try await readFrame()
        try await send(frame: Frame(opcode: 8, payload: close.payload))
        return close.closeCode
    }

    /// Reads frames up to the one that ends a message, and joins their payloads. On a busy machine a server's
    /// ping may come between them.
    func readMessage(within limit: Duration = .testDeadline) async throws -> Frame {
        var message = try await readFrame(within: limit)
        while message.opcode == 9 { message = try await readFrame(within: limit) }
        while !message.isFinal {
            let next = try await readFrame(within: limit)
            if next.opcode == 9 { continue }
            message.payload += next.payload
            message.isFinal = next.isFinal
        }
        return message
    }
}

/// A TCP socket that no program inherits which another test starts, or the peer would not hear of its end.
private func makeSocket() -> Int32 {
    #if canImport(Glibc)
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #else
        socket(AF_INET, SOCK_STREAM, 0)
    #endif
}

#if os(Linux)
    private let doNotWait = Int32(MSG_DONTWAIT)
    private let noSignal = Int32(MSG_NOSIGNAL)
#else
    private let doNotWait = MSG_DONTWAIT
#endif

/// A port on which connections are made by the system and heard by nobody.
final class DeafListener {
    let port: Int
    private let descriptor: Int32
    private var filling: [Int32] = []

    /// - Parameter backlog: how many connections the system makes, and a few more.
    init(backlog: Int32 = 16) throws {
        descriptor = makeSocket()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = self.descriptor
        let failure = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | listen(descriptor, backlog)
                    | getsockname(descriptor, $0, &length)
            }
        }
        if failure != 0 { throw RawClient.Failure(description: "no listening socket") }
        port = Int(in_port_t(bigEndian: address.sin_port))
    }

    /// Connects until the system takes no more; the next connection is not made as long as this lives.
    func fill() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(port).bigEndian
        for _ in 0..<8 {
            let client = makeSocket()
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            filling.append(client)
        }
    }

    deinit {
        for client in filling { close(client) }
        close(descriptor)
    }
}

/// With a small buffer a stream is blocked soon.
func setSendBuffer(of socket: Int32, _ bytes: Int32) {
    var size = bytes
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
}

/// Closing the socket resets the connection.
func closeWithReset(_ socket: Int32) {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
}
