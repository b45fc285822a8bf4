import BoundedTesting
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A TCP connection to 127.0.0.1 that says what a test tells it to, byte by byte. Reads have
/// deadlines.
///
/// Its calls block; `onThread` keeps them off the threads that tests share.
final class RawConnection: Sendable {
    private let descriptor: Int32
    private let received = Lock<[UInt8]>([])

    init(port: Int, limit: Duration = .testDeadline) throws {
        #if canImport(Glibc)
            // A program that another test starts must not hold it open.
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            descriptor = socket(AF_INET, kind, 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var timeout = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // Swift runs `deinit` for an initializer that throws after it has set everything, so the descriptor
        // is closed there: closed twice, it would be somebody else's.
        guard result == 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure("Could not connect to port \(port): \(reason)")
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // SIGPIPE is ignored (see Sandbox): a peer that is gone is an error here.
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                throw Failure("Could not send: \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Takes the first `count` bytes that have not been taken.
    func receive(count: Int) throws -> [UInt8] {
        try received.withLock { received in
            while received.count < count { try readMore(&received) }
            defer { received.removeFirst(count) }
            return Array(received.prefix(count))
        }
    }

    /// Takes everything up to and including `mark`.
    func receive(through mark: String) throws -> String {
        let mark = Array(mark.utf8)
        return try received.withLock { received in
            while true {
                if let end = received.firstRange(of: mark)?.upperBound {
                    defer { received.removeFirst(end) }
                    return String(decoding: received[..<end], as: UTF8.self)
                }
                try readMore(&received)
            }
        }
    }

    private func readMore(_ received: inout [UInt8]) throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            let reason = count == 0 ? "the peer closed" : String(cString: strerror(errno))
            let text = String(decoding: received, as: UTF8.self)
            throw Failure("Nothing more came (\(reason)) after \"\(text)\".")
        }
        received += buffer[..<count]
    }
}
