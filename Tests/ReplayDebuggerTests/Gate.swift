import BoundedTesting
import Testing

/// Holds answers of the debugger.
@MainActor final class Gate {
    private var isOpen = true
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var passed = 0

    func pass() async {
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        passed += 1
    }

    func close() { isOpen = false }

    func open() {
        isOpen = true
        letGo(waiting.count)
    }

    private func letGo(_ count: Int) {
        let first = waiting.prefix(count)
        waiting.removeFirst(count)
        for continuation in first { continuation.resume() }
    }

    /// Waits until so many answers are held.
    func holds(_ count: Int) async {
        await eventually { self.waiting.count >= count }
    }

    /// Lets the oldest ones through, until those who waited have looked at them.
    func letThrough(_ count: Int) async {
        let passed = passed
        letGo(count)
        await eventually { self.passed >= passed + count }
        await isQuiet()
    }

    /// Waits until what has passed is used: all of it is on the main actor, in turn.
    func isQuiet() async {
        for _ in 0..<10 { await Task.yield() }
    }
}

/// Waits until `condition` holds; fails after one generous deadline.
@MainActor func eventually(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let deadline = ContinuousClock.now + .testDeadline
    while !condition() {
        if ContinuousClock.now > deadline {
            Issue.record("it did not come true in time", sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}
