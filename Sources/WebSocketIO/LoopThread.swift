import Synchronization
import Threads

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The thread of a loop: started once, recognized, and waited for.
final class LoopThread: Sendable {
    private struct End {
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let identity = Atomic<UInt>(0)
    private let end = Lock(End())

    var isCurrent: Bool { identity.load(ordering: .relaxed) == currentThread() }

    /// Starts the thread, which ends when `body` has returned, and after it `end`, which is not on the thread
    /// any more in the eyes of ``isCurrent``.
    func start(
        _ body: @escaping @Sendable () -> Void, then end: @escaping @Sendable () -> Void
    ) throws(IOError) {
        let failure = startThread {
            self.identity.store(currentThread(), ordering: .relaxed)
            body()
            self.identity.store(0, ordering: .relaxed)
            end()
            self.finish()
        }
        if failure != 0 {
            throw IOError(
                code: .loopUnavailable,
                message: "Could not start the network loop's thread: \(systemErrorText(failure)).")
        }
    }

    /// Returns when the thread has done its last work.
    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = end.withLock { end in
                if !end.hasEnded { end.waiting.append(continuation) }
                return end.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    private func finish() {
        let waiting = end.withLock { end in
            end.hasEnded = true
            defer { end.waiting = [] }
            return end.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Milliseconds of a clock that only goes forward.
func monotonicMilliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

extension Duration {
    /// Rounded up, never negative.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return seconds < 0 ? 0 : .max / 4 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return max(0, min(milliseconds, .max / 4) + fraction)
    }
}
