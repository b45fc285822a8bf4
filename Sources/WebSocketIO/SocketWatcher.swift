import CLibwebsockets

/// Tells when one of our sockets can be read or written. It does not own the socket.
final class SocketWatcher {
    struct Events: OptionSet {
        let rawValue: Int32

        static let read = Events(rawValue: Int32(EV_READ))
        static let write = Events(rawValue: Int32(EV_WRITE))
    }

    private unowned let core: LoopCore
    private let io = UnsafeMutablePointer<clws_io>.allocate(capacity: 1)
    private let ready: (Events) -> Void
    private(set) var events: Events = []

    /// - Parameter ready: called on the loop with what can be done now. It may stop the watcher.
    init(core: LoopCore, descriptor: Int32, ready: @escaping (Events) -> Void) {
        self.core = core
        self.ready = ready
        io.initialize(to: clws_io())
        clws_io_init(io, descriptor, socketReady, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        stop()
        io.deallocate()
    }

    func watch(_ events: Events) {
        if events == self.events { return }
        self.events = events
        clws_io_watch(core.eventLoop, io, events.rawValue)
    }

    func stop() { watch([]) }

    fileprivate func fire(_ events: Events) {
        core.enter { ready(events) }
    }
}

private func socketReady(
    _ loop: OpaquePointer?, _ watcher: UnsafeMutablePointer<ev_io>?, _ events: Int32
) {
    guard let watcher else { return }
    // The record begins with the watcher.
    let record = UnsafeMutableRawPointer(watcher).assumingMemoryBound(to: clws_io.self)
    guard let owner = record.pointee.owner else { return }
    Unmanaged<SocketWatcher>.fromOpaque(owner).takeUnretainedValue()
        .fire(SocketWatcher.Events(rawValue: events))
}
