#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection that says exactly what a test tells it to, and never waits for ever.
final class RawClient: Sendable {
    private let descriptor: Int32

    /// - Parameter receiveBufferBytes: what the system may take for it before it reads.
    init(port: Int, receiveBufferBytes: Int32? = nil) throws {
        #if canImport(Glibc)
            // A program that another test starts must not hold it open.
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            descriptor = socket(AF_INET, kind, 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
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
        if failure != 0 { throw TestFailure("connect: \(String(cString: strerror(errno)))") }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// With a small buffer the peer is blocked soon; with a large one what waits is read quickly.
    func setReceiveBuffer(_ bytes: Int32) {
        var size = bytes
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Goes away.
    func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Sends something that fits into the socket's buffer.
    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TestFailure("send: \(String(cString: strerror(errno)))")
        }
    }

    /// Reads as far as the first occurrence of `mark`, or to the end when there is none.
    func read(through mark: String?) async throws -> String {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        return try await eventually("\(mark ?? "the end")") {
            while true {
                // Only looked at: what is behind the mark stays where it is.
                let seen = recv(descriptor, &piece, piece.count, Int32(MSG_PEEK))
                if seen == 0 { return String(decoding: text, as: UTF8.self) }
                if seen < 0 { return nil }
                let known = text.count
                text += piece[..<seen]
                let end = mark.flatMap { text.end(of: $0, from: known) }
                text.removeSubrange((end ?? text.count)...)
                recv(descriptor, &piece, text.count - known, 0)
                if end != nil { return String(decoding: text, as: UTF8.self) }
            }
        }
    }
}

extension [UInt8] {
    /// Where the first occurrence of `mark` ends, in what was longer by nothing but `self[known...]`.
    fileprivate func end(of mark: String, from known: Int) -> Int? {
        let start = Swift.max(0, known - mark.utf8.count + 1)
        return self[start...].firstRange(of: Array(mark.utf8))?.upperBound
    }
}
