#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Our own socket, watched on the loop: an accepted connection that is not encrypted.
///
/// The library's raw role could carry it too, at more memory and time, but closes it when the peer ends its
/// direction: a client that has sent its request and said so would get no answer (docs/decisions/0006).
final class SocketStream: ByteStream {
    private let socket: Int32
    private var watcher: SocketWatcher?

    /// Takes over a connected socket.
    init(core: LoopCore, descriptor: Int32) {
        socket = descriptor
        super.init(core: core, isReading: false)
        watcher = SocketWatcher(core: core, descriptor: descriptor) { [unowned self] events in
            // Held from here on: what is done may be the end of the connection.
            let stream = self
            if events.contains(.write) { stream.continueWriting() }
            if events.contains(.read) { stream.read() }
        }
    }

    private func read() {
        if isClosed { return }
        let count = core.withReadBuffer { buffer in
            let count = recv(socket, buffer.baseAddress, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return 1 }
            if count > 0 {
                owner?.streamReceived(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
            return count
        }
        if isClosed { return }
        if count < 0 { return lose("the connection was reset") }
        if count == 0 {
            isInputOver = true
            watch()
            owner?.streamInputEnded()
        }
    }

    override func writeSome(_ bytes: UnsafeRawBufferPointer) -> Int? {
        sendSome(socket, bytes)
    }

    override func awaitWritable() { watch() }
    override func readingChanged() { watch() }

    private func watch() {
        if isClosed { return }
        var events: SocketWatcher.Events = isBlocked ? .write : []
        if isReading, !isInputOver { events.insert(.read) }
        watcher?.watch(events)
    }

    override func finish() {
        shutdownSending(socket)
    }

    override func closeConnection() {
        watcher?.stop()
        closeDescriptor(socket)
    }

    override var descriptor: Int32? { isClosed ? nil : socket }
}
