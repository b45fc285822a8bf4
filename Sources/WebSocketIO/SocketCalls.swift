import CLibwebsockets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The system's `send`, which must not end the process when the other end is gone.
func sendWithoutSignal(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #elseif canImport(Musl)
        Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
    #endif
}

/// Sends what `descriptor` takes now, and returns how much that was; nil when the connection is broken.
func sendSome(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int? {
    while true {
        let count = sendWithoutSignal(descriptor, bytes)
        if count >= 0 { return count }
        if errno == EAGAIN { return 0 }
        if errno != EINTR { return nil }
    }
}

/// What was sent on a socket and the other end's system has not acknowledged.
func unacknowledged(on descriptor: Int32) -> Int? {
    let count = clws_unacknowledged(descriptor)
    return count < 0 ? nil : Int(count)
}

/// How the other end of a connection has ended.
enum PeerEnd {
    case none
    /// It sends nothing more; what it has sent can still be read.
    case finished
    /// The connection is broken.
    case gone

    /// Of a socket, read from or not.
    init(of descriptor: Int32) {
        var asked = pollfd(fd: descriptor, events: peerFinished, revents: 0)
        guard poll(&asked, 1, 0) > 0 else {
            self = .none
            return
        }
        if asked.revents & (Int16(POLLHUP) | Int16(POLLERR)) != 0 {
            self = .gone
        } else {
            self = asked.revents & peerFinished != 0 ? .finished : .none
        }
    }
}

#if os(Linux)
    /// POLLRDHUP, which is declared only for programs that ask for GNU's extensions.
    private let peerFinished: Int16 = 0x2000
#else
    private let peerFinished = Int16(POLLHUP)
#endif

/// The system's `close`, under a name that methods called `close` do not hide.
func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Glibc)
        Glibc.close(descriptor)
    #elseif canImport(Musl)
        Musl.close(descriptor)
    #else
        Darwin.close(descriptor)
    #endif
}

/// Says to the peer that nothing more will be sent.
func shutdownSending(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_WR))
}

/// Ends a listening socket. Closing alone would leave it listening, without accepting, as long as a child
/// that is just being started has a copy of it.
func closeListening(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_RDWR))
    closeDescriptor(descriptor)
}

#if canImport(Glibc)
    // In one step with the making: if close-on-exec is set afterwards, a program that another thread starts
    // in between inherits the descriptor, and then a port stays in use, and a peer does not notice that we
    // are gone.
    private let atOnce = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    private let stream = Int32(SOCK_STREAM.rawValue) | atOnce
#elseif canImport(Musl)
    private let atOnce = SOCK_NONBLOCK | SOCK_CLOEXEC
    private let stream = SOCK_STREAM | atOnce
#else
    private let stream = SOCK_STREAM

    private func makeNonBlocking(_ descriptor: Int32) -> Int32 {
        if descriptor >= 0 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        }
        return descriptor
    }
#endif

/// A stream socket that never waits and that no program started from this one inherits; -1 with `errno`.
func makeStreamSocket(_ family: Int32) -> Int32 {
    #if os(Linux)
        socket(family, stream, 0)
    #else
        makeNonBlocking(socket(family, stream, 0))
    #endif
}

/// The system's `accept`, for a socket of that kind.
func acceptConnection(
    _ listening: Int32, _ address: UnsafeMutablePointer<sockaddr>?,
    _ length: UnsafeMutablePointer<socklen_t>?
) -> Int32 {
    #if os(Linux)
        clws_accept4(listening, address, length, atOnce)
    #else
        makeNonBlocking(accept(listening, address, length))
    #endif
}
