import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Accepts connections from one listening socket, on the loop.
final class Listener: Endpoint {
    /// So many at most in one turn of the loop, so that the others get their turn.
    private static let acceptsPerTurn = 64

    private let accepted: (Int32, String) -> Void
    private var descriptor: Int32 = -1
    /// Given up for a moment when there are no descriptors left; see `refuseOne`.
    private var spare: Int32 = -1

    init(core: LoopCore, accepted: @escaping (Int32, String) -> Void) {
        self.accepted = accepted
        super.init(core: core)
    }

    /// Takes over a listening socket, also in the case of failure.
    func listen(on descriptor: Int32, vhost: OpaquePointer) -> Bool {
        self.descriptor = descriptor
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
        core.insert(self)
        var info = lws_adopt_desc_t()
        info.vh = vhost
        info.type = LWS_ADOPT_RAW_FILE_DESC
        info.fd.filefd = descriptor
        info.opaque = opaque
        wsi = lws_adopt_descriptor_vhost_via_info(&info)
        if wsi == nil {
            core.remove(self)
            return false
        }
        return true
    }

    /// From now on, who connects is refused by the system.
    func stop() {
        // A listening socket that is shut down refuses; the library closes it soon after.
        shutdown(descriptor, Int32(SHUT_RDWR))
        abort()
    }

    override func handle(
        _ reason: lws_callback_reasons, wsi: OpaquePointer, data: UnsafeMutableRawPointer?,
        count: Int
    ) -> Int32 {
        if reason == LWS_CALLBACK_RAW_RX_FILE { acceptWaiting() }
        return 0
    }

    override func libraryDestroyed() {
        if spare >= 0 { close(spare) }
        spare = -1
    }

    private func acceptWaiting() {
        for _ in 0..<Self.acceptsPerTurn {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let connection = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    accept(descriptor, $0, &length)
                }
            }
            if connection < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                if errno == EMFILE || errno == ENFILE { refuseOne() }
                return
            }
            _ = fcntl(connection, F_SETFL, O_NONBLOCK)
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            var one: Int32 = 1
            setsockopt(
                connection, Int32(IPPROTO_TCP), TCP_NODELAY, &one,
                socklen_t(MemoryLayout<Int32>.size))
            accepted(connection, numericHost(&address, length))
        }
    }

    /// Without a free descriptor nothing can be accepted, and the loop would be told of the waiting
    /// client for ever: the spare one is used to accept and hang up.
    private func refuseOne() {
        guard spare >= 0 else { return }
        close(spare)
        let connection = accept(descriptor, nil, nil)
        if connection >= 0 { close(connection) }
        spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }
}

private func numericHost(_ address: inout sockaddr_storage, _ length: socklen_t) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { host in
        let failure = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getnameinfo(
                    $0, length, host.baseAddress, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
            }
        }
        guard failure == 0, let start = host.baseAddress else { return "" }
        return String(cString: start)
    }
}
