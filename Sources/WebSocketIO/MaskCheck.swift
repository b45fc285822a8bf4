#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whether a client masks its first frame, which the library does not look at. RFC 6455 §5.1: a server
/// closes the connection of one that does not.
///
/// The bytes are looked at before the library reads them, and stay where they are. Later frames are not
/// looked at: where they begin in the stream only the library knows.
final class MaskCheck {
    /// Bytes of the first frame that the library has, or will have before the next one comes.
    private var seenBytes: Int
    private var watcher: SocketWatcher?

    /// - Parameters:
    ///   - received: what has come behind the handshake, and will be handed to the library.
    ///   - done: called on the loop, once, with whether the first frame is masked; before this returns
    ///     when that can be seen already.
    init(
        core: LoopCore, descriptor: Int32, received: ArraySlice<UInt8>,
        done: @escaping (_ isMasked: Bool) -> Void
    ) {
        seenBytes = received.count
        if let isMasked = Self.isMasked(received.dropFirst().first) {
            done(isMasked)
            return
        }
        watcher = SocketWatcher(core: core, descriptor: descriptor, isFirst: true) {
            [unowned self] _ in
            guard let isMasked = look(at: descriptor) else { return }
            stop()
            done(isMasked)
        }
        watcher?.watch(.read)
    }

    /// The first frame has not come.
    var isWatching: Bool { watcher?.events == .read }

    func stop() { watcher?.stop() }

    /// RFC 6455 §5.2: the first bit of a frame's second byte says so.
    private static func isMasked(_ secondByte: UInt8?) -> Bool? {
        secondByte.map { $0 & 0x80 != 0 }
    }

    /// Nil as long as there is nothing to see.
    private func look(at descriptor: Int32) -> Bool? {
        let wanted = 2 - seenBytes
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2) { bytes in
            let count = recv(descriptor, bytes.baseAddress, wanted, Int32(MSG_PEEK))
            // The end, or an error: the library finds out by itself.
            if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return true }
            seenBytes += max(0, count)
            return count == wanted ? Self.isMasked(bytes[wanted - 1]) : nil
        }
    }
}
