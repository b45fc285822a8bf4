#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The clock that the log uses: how long acknowledged events have waited for their sync.
///
/// A protocol so that tests can control time.
package protocol LogClock: Sendable {
    /// Nanoseconds since an arbitrary moment; never decreases.
    var now: UInt64 { get }
    /// How long a thread waiting for a moment may sleep; nil if it is woken when time has passed.
    func sleep(until moment: UInt64) -> Duration?
    /// Registers a callback for whenever time has passed, if it does not pass by itself.
    func whenPassing(_ wake: @escaping @Sendable () -> Void)
}

/// The system's monotonic clock.
package struct SystemLogClock: LogClock {
    package init() {}

    package var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    package func sleep(until moment: UInt64) -> Duration? {
        let now = now
        return .nanoseconds(moment > now ? Int64(clamping: moment - now) : 0)
    }

    package func whenPassing(_ wake: @escaping @Sendable () -> Void) {}
}

/// When acknowledged events have to be synced: a state machine without a clock or a disk.
///
/// Counted from the oldest acknowledged but unsynced event, so that steady traffic does not postpone the
/// sync: everything a machine crash can lose was acknowledged within one interval.
struct SyncSchedule {
    private let interval: UInt64
    private var oldest: UInt64?

    init(intervalMilliseconds: Int) {
        interval = UInt64(max(intervalMilliseconds, 0)) * 1_000_000
    }

    /// When the sync is due; nil if nothing waits for one.
    var due: UInt64? { oldest.map { $0 + interval } }

    func isDue(at now: UInt64) -> Bool { due.map { $0 <= now } ?? false }

    mutating func wrote(at now: UInt64) {
        if oldest == nil { oldest = now }
    }

    mutating func synchronized() { oldest = nil }
}
