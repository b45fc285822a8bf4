import CLibwebsockets
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sockets on every address of a host name, on one port. They are bound, and then they listen: so a server
/// knows that it has its port before it does anything else, and clients are refused until it is ready.
package final class ListeningSockets: Sendable {
    /// The port, even if the system chose it.
    package let port: Int
    private let host: String
    private let descriptors: Lock<[Int32]>

    /// Binds. Throws `IOError.Code.cannotListen`, and then nothing stays open.
    ///
    /// - Parameter port: 0 for one that the system chooses.
    package init(host: String, port: Int) throws(IOError) {
        let addresses = try Self.addresses(of: host, port: port)
        self.host = host
        var attempts = 1
        while true {
            do {
                let bound = try Self.bind(addresses, port: port)
                self.port = bound.port
                descriptors = Lock(bound.descriptors)
                return
            } catch {
                // What the system chose for one address may be taken on another.
                attempts += 1
                if port == 0, error.number == EADDRINUSE, attempts <= 8 { continue }
                throw Self.cannotListen(host: host, port: port, error.number)
            }
        }
    }

    /// One socket for each address that this machine has, all on one port.
    private static func bind(
        _ addresses: [SocketAddress], port: Int
    ) throws(SystemFailure) -> (descriptors: [Int32], port: Int) {
        // With both families on one port, the one for IPv6 must not take IPv4 as well.
        let hasIPv4 = addresses.contains { $0.family == AF_INET }
        var opened: [Int32] = []
        var chosen = port
        var failure: Int32 = 0
        binding: for address in addresses {
            let result = address.bind(port: chosen, onlyIPv6: hasIPv4)
            switch result {
            case .success(let (descriptor, port)):
                opened.append(descriptor)
                chosen = port
            case .failure(let error):
                failure = error.number
                // A machine may know an address family by name only.
                if error.number != EADDRNOTAVAIL && error.number != EAFNOSUPPORT { break binding }
            }
        }
        if opened.isEmpty || failure != 0 && failure != EADDRNOTAVAIL && failure != EAFNOSUPPORT {
            for descriptor in opened { closeListening(descriptor) }
            throw SystemFailure(number: failure)
        }
        return (opened, chosen)
    }

    /// Lets the system make connections. Throws `IOError.Code.cannotListen` when another program, which has bound the
    /// same port, was quicker.
    func listen() throws(IOError) {
        let failure = descriptors.withLock { descriptors -> Int32 in
            for descriptor in descriptors where listenQueued(descriptor) != 0 { return errno }
            return 0
        }
        if failure != 0 { throw Self.cannotListen(host: host, port: port, failure) }
    }

    /// Hands the sockets over; from then on they are the caller's to close.
    func takeDescriptors() -> [Int32] {
        descriptors.withLock { descriptors in
            defer { descriptors = [] }
            return descriptors
        }
    }

    /// Closes what has not been taken.
    package func close() {
        for descriptor in takeDescriptors() { closeListening(descriptor) }
    }

    private static func cannotListen(host: String, port: Int, _ number: Int32) -> IOError {
        IOError(
            code: .cannotListen(errno: number),
            message: "Could not listen on \(host), port \(port): \(systemErrorText(number)) "
                + "(errno \(number)). Nothing is listening.")
    }

    private static func addresses(of host: String, port: Int) throws(IOError) -> [SocketAddress] {
        guard (0...0xFFFF).contains(port) else {
            throw IOError(
                code: .cannotListen(errno: EINVAL),
                message: "Could not listen on \(host), port \(port): "
                    + "a port is between 0 and 65535. Nothing is listening.")
        }
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = streamSocket
        var first: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, String(port), &hints, &first)
        guard failure == 0, let first else {
            throw IOError(
                code: .cannotListen(errno: 0),
                message: "Could not listen on \(host), port \(port): the host is unknown "
                    + "(\(String(cString: gai_strerror(failure)))). Nothing is listening.")
        }
        defer { freeaddrinfo(first) }
        return sequence(first: first) { $0.pointee.ai_next }.compactMap {
            SocketAddress($0.pointee)
        }
    }
}

private struct SystemFailure: Error {
    let number: Int32
}

#if canImport(Glibc)
    let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
    let streamSocket = SOCK_STREAM
#endif

/// An address to bind to.
private struct SocketAddress {
    let family: Int32
    private var storage = sockaddr_storage()
    private let length: socklen_t

    init?(_ info: addrinfo) {
        guard
            let address = info.ai_addr,
            Int(info.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size
        else { return nil }
        family = info.ai_family
        length = info.ai_addrlen
        withUnsafeMutableBytes(of: &storage) { storage in
            storage.copyMemory(
                from: UnsafeRawBufferPointer(start: address, count: Int(info.ai_addrlen)))
        }
    }

    /// A socket that is bound to this address, and its port.
    func bind(port: Int, onlyIPv6: Bool) -> Result<(Int32, Int), SystemFailure> {
        let descriptor = makeStreamSocket(family)
        guard descriptor >= 0 else { return .failure(SystemFailure(number: errno)) }
        set(SOL_SOCKET, SO_REUSEADDR, 1, on: descriptor)
        if family == AF_INET6 {
            set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, onlyIPv6 ? 1 : 0, on: descriptor)
        }
        var address = storage
        setPort(port, in: &address)
        var length = length
        let failure = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                if bindSocket(descriptor, address, length) != 0 { return errno }
                return getsockname(descriptor, address, &length) == 0 ? 0 : errno
            }
        }
        if failure != 0 {
            close(descriptor)
            return .failure(SystemFailure(number: failure))
        }
        return .success((descriptor, self.port(in: &address)))
    }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32, on descriptor: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private func setPort(_ port: Int, in address: inout sockaddr_storage) {
        let port = in_port_t(truncatingIfNeeded: port).bigEndian
        withUnsafeMutableBytes(of: &address) { bytes in
            // Both families have their port at the same place.
            bytes.storeBytes(of: port, toByteOffset: portOffset, as: in_port_t.self)
        }
    }

    private func port(in address: inout sockaddr_storage) -> Int {
        withUnsafeBytes(of: &address) { bytes in
            Int(in_port_t(bigEndian: bytes.load(fromByteOffset: portOffset, as: in_port_t.self)))
        }
    }
}

private let portOffset = MemoryLayout<sockaddr_in>.offset(of: \.sin_port) ?? 2

// Under names that methods do not hide.
private func bindSocket(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
) -> Int32 {
    bind(descriptor, address, length)
}

private func listenQueued(_ descriptor: Int32) -> Int32 {
    listen(descriptor, SOMAXCONN)
}
