import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Accepts connections from one listening socket, on the loop, as long as it exists.
final class PortListener {
    /// What it asks of the system. Tests let the descriptors run out.
    struct Calls {
        var accept:
            (
                _ listening: Int32, UnsafeMutablePointer<sockaddr>?,
                UnsafeMutablePointer<socklen_t>?
            ) -> Int32 = acceptConnection
        /// A descriptor to have in reserve; -1 when there is none left.
        var openSpare: () -> Int32 = openNothing
    }

    /// So many at most in one turn of the loop, so that the others get their turn.
    private static let acceptsPerTurn = 64
    /// So long nothing is accepted when clients that wait can't even be refused.
    private static let restMilliseconds: Int64 = 100

    private unowned let core: LoopCore
    private let descriptor: Int32
    private let accepted: (Int32, String) -> Void
    private let calls: Calls
    private var watcher: SocketWatcher?
    /// Given up for a moment when there are no descriptors left; see `refuseOne`.
    private var spare: Int32

    /// Takes over a listening socket.
    ///
    /// - Parameter accepted: called with a connected socket, which is the callee's to close, and
    ///   the address of the other end.
    init(
        core: LoopCore, descriptor: Int32, calls: Calls = Calls(),
        accepted: @escaping (Int32, String) -> Void
    ) {
        self.core = core
        self.descriptor = descriptor
        self.accepted = accepted
        self.calls = calls
        spare = calls.openSpare()
        watcher = SocketWatcher(core: core, descriptor: descriptor) { [weak self] _ in
            self?.acceptWaiting()
        }
        watcher?.watch(.read)
    }

    deinit {
        watcher?.stop()
        closeListening(descriptor)
        if spare >= 0 { closeDescriptor(spare) }
    }

    private func acceptWaiting() {
        for _ in 0..<Self.acceptsPerTurn {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let connection = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    calls.accept(descriptor, $0, &length)
                }
            }
            if connection < 0 {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EAGAIN: break
                case EMFILE, ENFILE: refuseOne()
                default: rest()
                }
                return
            }
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
        guard spare >= 0 else { return rest() }
        closeDescriptor(spare)
        let connection = calls.accept(descriptor, nil, nil)
        if connection >= 0 { closeDescriptor(connection) }
        spare = calls.openSpare()
        // Another thread was quicker to take the descriptor that was free for a moment.
        if connection < 0 || spare < 0 { rest() }
    }

    /// Accepts nothing for a moment, so that the loop does not spin over a client for whom nothing can be done now.
    private func rest() {
        watcher?.stop()
        core.schedule(at: monotonicMilliseconds() + Self.restMilliseconds) { [weak self] in
            guard let self else { return }
            if spare < 0 { spare = calls.openSpare() }
            watcher?.watch(.read)
        }
    }
}

private func openNothing() -> Int32 {
    open("/dev/null", O_RDONLY | O_CLOEXEC)
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
