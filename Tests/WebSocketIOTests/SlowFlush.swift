@testable import WebSocketIO

/// Something that takes a slice of the loop's time to send: in front of a fan-out it ends the first one, however fast
/// the rest is sent.
final class SlowFlush: Flushable {
    func flush() { takeASlice() }

    /// On the loop's thread.
    static func fillSlice(of core: LoopCore) { core.needsFlush(SlowFlush()) }
}

/// Takes as much of the loop's time as a slice has.
func takeASlice() {
    let end = monotonicMilliseconds() + LoopCore.sliceMilliseconds
    while monotonicMilliseconds() < end {}
}
