/// When keys are fetched. A pure value; its times are those of a clock that only advances.
///
/// 1. One fetch is in flight at a time.
/// 2. Tokens that name unknown keys, which anybody can make, cause one fetch in each ``missInterval`` at most.
/// 3. Keys that are there are fetched again when the answer's lifetime is over, within ``lifetimes``; after a failure, in
///    the shortest of these.
/// 4. As long as there are none, it is tried again after a second, then after two, and so on up to ``longestRetry``.
struct KeyFetchSchedule: Sendable {
    static let lifetimes: ClosedRange<Duration> = .seconds(300) ... .seconds(86_400)
    /// Of keys whose answer says nothing about it.
    static let usualLifetime: Duration = .seconds(900)
    static let missInterval: Duration = .seconds(30)
    static let firstRetry: Duration = .seconds(1)
    static let longestRetry: Duration = .seconds(30)
    /// The due time may come closer while somebody waits for it, so it is looked at now and then.
    static let longestWait: Duration = .seconds(60)

    private(set) var isFetching = false
    private var due: Duration
    /// When a fetch began last because of an unknown key.
    private var missedAt: Duration?
    private var retry = Self.firstRetry

    /// A fetch is due at once.
    init(at now: Duration) { due = now }

    /// - Returns: whether to fetch now.
    mutating func beginIfDue(at now: Duration) -> Bool {
        guard !isFetching, due <= now else { return false }
        isFetching = true
        return true
    }

    /// A token has named a key that is unknown.
    /// - Returns: whether to fetch now.
    mutating func beginForMissedKey(at now: Duration) -> Bool {
        guard !isFetching, missedAt.map({ now - $0 >= Self.missInterval }) ?? true else {
            return false
        }
        isFetching = true
        missedAt = now
        return true
    }

    /// There are keys.
    /// - Parameter lifetime: what the answer says; nil if it says nothing.
    mutating func succeeded(_ lifetime: Duration?, at now: Duration) {
        let bounds = Self.lifetimes
        let lifetime = lifetime ?? Self.usualLifetime
        isFetching = false
        due = now + min(max(lifetime, bounds.lowerBound), bounds.upperBound)
        retry = Self.firstRetry
    }

    mutating func failed(hasKeys: Bool, at now: Duration) {
        isFetching = false
        due = now + (hasKeys ? Self.lifetimes.lowerBound : retry)
        if !hasKeys { retry = min(retry * 2, Self.longestRetry) }
    }

    /// How long to wait before asking again whether a fetch is due.
    func wait(at now: Duration) -> Duration { min(max(due - now, .zero), Self.longestWait) }
}
