@testable import WebSocketIO

/// Something that takes a slice of the loop's time to send: in front of a fan-out it ends the first one, however fast
/// the rest is sent.
final class SlowFlush: Flushable {
    func flush() {
        let end = monotonicMilliseconds() + FlushQueue.sliceMilliseconds
        while monotonicMilliseconds() < end {}
    }

    /// On the loop's thread.
    static func fillSlice(of core: LoopCore) { core.needsFlush(SlowFlush()) }
}
