/// What shall happen when: a binary heap over monotonic milliseconds.
///
/// A cancelled timer stays in the heap, emptied, until its time comes.
struct TimerQueue {
    private var heap: [LoopTimer] = []

    /// When the next timer is due, or nil.
    var earliest: Int64? { heap.first?.deadline }

    mutating func insert(_ timer: LoopTimer) {
        heap.append(timer)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if heap[parent].deadline <= heap[child].deadline { break }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    /// Takes out the earliest timer if it is due at `now`.
    mutating func popDue(at now: Int64) -> LoopTimer? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return first }
        heap[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            if left >= heap.count { break }
            let right = left + 1
            let earlier =
                right < heap.count && heap[right].deadline < heap[left].deadline ? right : left
            if heap[parent].deadline <= heap[earlier].deadline { break }
            heap.swapAt(parent, earlier)
            parent = earlier
        }
        return first
    }
}

/// Something to do at a time, on the loop's thread, unless it is cancelled first.
final class LoopTimer {
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
}
