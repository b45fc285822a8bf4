#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A connection that says exactly what a test tells it to, and never waits for ever.
final class RawClient: Sendable {
    private let descriptor: Int32

    init(port: Int) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
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
        return try await eventually("\(mark ?? "the end")") {
            var byte: UInt8 = 0
            while true {
                let count = recv(descriptor, &byte, 1, 0)
                if count == 0 { break }
                if count < 0 { return nil }
                text.append(byte)
                if let mark, text.hasSuffix(mark.utf8) { break }
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ other: String.UTF8View) -> Bool {
        count >= other.count && suffix(other.count).elementsEqual(other)
    }
}
