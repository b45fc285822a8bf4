@testable import WebSocketIO

/// Something that takes a millisecond of the loop's time to send.
///
/// A handful of these in front of a fan-out fills the first slice, however fast the rest is sent.
final class SlowFlush: Flushable {
    func flush() {
        let end = monotonicMilliseconds() + 2
        while monotonicMilliseconds() < end {}
    }

    /// On the loop's thread.
    static func fillSlice(of core: LoopCore) {
        for _ in 0..<FlushQueue.handful { core.needsFlush(SlowFlush()) }
    }
}
