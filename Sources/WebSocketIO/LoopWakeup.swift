import CLibwebsockets

/// What wakes a loop for its own sake: its mailbox and its timer. Also how the library's callbacks
/// find the loop they belong to.
final class LoopWakeup {
    /// The library has no thread of its own, so callbacks always find the owner alive.
    unowned var owner: LoopCore?

    private let eventLoop: OpaquePointer
    private let timer = UnsafeMutablePointer<clws_timer>.allocate(capacity: 1)
    private let mail = UnsafeMutablePointer<clws_async>.allocate(capacity: 1)

    init(_ eventLoop: OpaquePointer) {
        self.eventLoop = eventLoop
        timer.initialize(to: clws_timer())
        mail.initialize(to: clws_async())
        clws_timer_init(timer, timerFired, contextUser)
        clws_async_start(eventLoop, mail, mailArrived, contextUser)
    }

    deinit {
        timer.deallocate()
        mail.deallocate()
    }

    /// For the library's context and the watchers, which all know only this.
    var contextUser: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// Wakes the loop to look into its mailbox.
    var alarm: Mailbox.Alarm { Mailbox.Alarm(eventLoop: eventLoop, watcher: mail) }

    /// Has the mail looked into at the loop's next turn.
    func ring() { alarm.ring() }

    static func owner(of contextUser: UnsafeMutableRawPointer?) -> LoopCore? {
        guard let contextUser else { return nil }
        return Unmanaged<LoopWakeup>.fromOpaque(contextUser).takeUnretainedValue().owner
    }

    func setTimer(milliseconds: Int64) {
        clws_timer_start(eventLoop, timer, Double(milliseconds) / 1_000)
    }

    /// Before the event loop is destroyed.
    func destroy() {
        ev_timer_stop(eventLoop, &timer.pointee.watcher)
        ev_async_stop(eventLoop, &mail.pointee.watcher)
    }
}

private func timerFired(
    _ loop: OpaquePointer?, _ watcher: UnsafeMutablePointer<ev_timer>?, _ events: Int32
) {
    guard let watcher else { return }
    // The record begins with the watcher.
    let record = UnsafeMutableRawPointer(watcher).assumingMemoryBound(to: clws_timer.self)
    guard let core = LoopWakeup.owner(of: record.pointee.owner) else { return }
    core.enter { core.fireDueTimers() }
}

private func mailArrived(
    _ loop: OpaquePointer?, _ watcher: UnsafeMutablePointer<ev_async>?, _ events: Int32
) {
    guard let watcher else { return }
    let record = UnsafeMutableRawPointer(watcher).assumingMemoryBound(to: clws_async.self)
    guard let core = LoopWakeup.owner(of: record.pointee.owner) else { return }
    core.enter { core.runNextSlices() }
}
