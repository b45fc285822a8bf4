import HeapModule

/// What shall happen when, by monotonic milliseconds.
///
/// A cancelled timer stays in the queue, emptied, until its time comes.
struct TimerQueue {
    private var timers = Heap<LoopTimer>()

    /// When the next timer is due, or nil.
    var earliest: Int64? { timers.min?.deadline }

    mutating func insert(_ timer: LoopTimer) { timers.insert(timer) }

    /// Takes out the earliest timer if it is due at `now`.
    mutating func popDue(at now: Int64) -> LoopTimer? {
        guard let earliest, earliest <= now else { return nil }
        return timers.popMin()
    }
}

/// Something to do at a time, on the loop's thread, unless it is cancelled first.
final class LoopTimer: Comparable {
    /// Monotonic milliseconds.
    let deadline: Int64
    private var action: (() -> Void)?

    init(deadline: Int64, action: @escaping () -> Void) {
        self.deadline = deadline
        self.action = action
    }

    func cancel() { action = nil }

    func fire() {
        let action = self.action
        self.action = nil
        action?()
    }

    static func < (one: LoopTimer, other: LoopTimer) -> Bool { one.deadline < other.deadline }
    static func == (one: LoopTimer, other: LoopTimer) -> Bool { one.deadline == other.deadline }
}
