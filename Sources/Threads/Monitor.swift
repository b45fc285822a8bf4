#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// State behind a lock that threads can also wait on.
///
/// ``Lock`` has no condition variable, and a thread that serves others has to sleep until there is
/// work. `@unchecked Sendable`: `state` is touched only with `mutex` held.
package final class Monitor<State>: @unchecked Sendable {
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
            pthread_cond_init(changed, nil)
        #else
            // So that setting the system clock neither shortens nor prolongs a wait.
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(changed, &attributes)
            pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Changes the state and wakes the threads that wait on it.
    package func update<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            // Unlocked first, or the awakened thread would run straight into the lock.
            pthread_mutex_unlock(mutex)
            pthread_cond_broadcast(changed)
        }
        return try body(&state)
    }

    /// Wakes the waiting threads, to check again.
    package func notify() {
        pthread_cond_broadcast(changed)
    }

    /// Waits until `body` returns an answer, checking again after every ``update(_:)``.
    @discardableResult
    package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }

    /// Like ``wait(_:)``, but also checks again after a time.
    /// - Parameter sleep: how long to sleep at most before checking again; nil for no limit.
    package func wait<Result>(for sleep: () -> Duration?, _ body: (inout State) -> Result?)
        -> Result
    {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if let time = sleep() {
                var deadline = Self.deadline(after: time)
                pthread_cond_timedwait(changed, mutex, &deadline)
            } else {
                pthread_cond_wait(changed, mutex)
            }
        }
    }

    /// Like ``wait(_:)``, but gives up after a time.
    package func wait<Result>(milliseconds: Int, _ body: (inout State) -> Result?) -> Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var deadline = Self.deadline(after: .milliseconds(milliseconds))
        while true {
            if let result = body(&state) { return result }
            if pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT {
                return body(&state)
            }
        }
    }

    /// On the condition variable's clock.
    private static func deadline(after time: Duration) -> timespec {
        #if canImport(Darwin)
            let clock = CLOCK_REALTIME
        #else
            let clock = CLOCK_MONOTONIC
        #endif
        var deadline = timespec()
        clock_gettime(clock, &deadline)
        let (seconds, attoseconds) = time.components
        let nanoseconds = Int64(deadline.tv_nsec) + attoseconds / 1_000_000_000
        deadline.tv_sec += Int(seconds + nanoseconds / 1_000_000_000)
        deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        return deadline
    }
}
