#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A port of 127.0.0.1 on which nothing listens, unless a server of the test that has it does, and which nobody
/// else gets while this lives.
///
/// The port of a server that has ended is free for the next one of another test: whoever comes back to it would
/// find a stranger there. This one is bound and never listened on. On Linux a server may bind the same port
/// beside it, as both say SO_REUSEADDR, and the system gives it neither to a server that asks for any port nor to
/// the client's end of a connection. Elsewhere it is for nobody to listen on.
package final class ReservedPort: Sendable {
    /// Whether a server may listen on a port that is reserved.
    #if os(Linux)
        package static let letsServersIn = true
    #else
        package static let letsServersIn = false
    #endif

    package let number: Int
    private let descriptor: Int32

    package init() throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        var yes: Int32 = 1
        setsockopt(
            descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw NoPort(description: "Could not bind a port: \(reason)")
        }
        self.descriptor = descriptor
        number = Int(in_port_t(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}

private struct NoPort: Error, CustomStringConvertible {
    let description: String
}
