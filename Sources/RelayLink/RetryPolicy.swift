/// How long to wait before retrying: exponential backoff with jitter.
///
/// The delay before the n-th consecutive attempt is `initialDelay * multiplier^(n-1)`, at most
/// `maximumDelay`, minus a random part of up to `jitter` of it, so that clients that were cut off
/// together do not come back together.
public struct RetryPolicy: Hashable, Sendable {
    /// The delay before the first retry.
    public var initialDelay: Duration
    /// The factor by which each delay exceeds the one before; from 1 to 1,000.
    public var multiplier: Double
    /// The longest delay.
    public var maximumDelay: Duration
    /// From 0, none, to 1: any delay up to the full one.
    public var jitter: Double
    /// Consecutive attempts that may fail before waiting operations fail too; nil: no limit.
    public var maximumAttempts: Int?

    /// About 30 years.
    private static let longestDelay = Duration.seconds(1_000_000_000)

    /// How often, and after which delays, something is retried.
    /// - Parameters:
    ///   - initialDelay: the delay before the first retry.
    ///   - multiplier: the factor by which each delay exceeds the one before.
    ///   - maximumDelay: the longest delay.
    ///   - jitter: from 0, none, to 1.
    ///   - maximumAttempts: consecutive attempts that may fail before waiting operations fail too.
    public init(
        initialDelay: Duration = .milliseconds(250), multiplier: Double = 2,
        maximumDelay: Duration = .seconds(30), jitter: Double = 0.5, maximumAttempts: Int? = nil
    ) {
        self.initialDelay = initialDelay
        self.multiplier = multiplier
        self.maximumDelay = maximumDelay
        self.jitter = jitter
        self.maximumAttempts = maximumAttempts
    }

    /// The delay after a number of consecutive failures.
    ///
    /// - Parameter random: from 0 to 1; how much of the jitter is subtracted.
    package func delay(afterFailures failures: Int, random: Double) -> Duration {
        // Options may have any values; durations must not overflow.
        let factor = multiplier.isNaN ? 1 : min(max(multiplier, 1), 1_000)
        let longest = min(max(maximumDelay, .zero), Self.longestDelay)
        var delay = min(max(initialDelay, .zero), longest)
        for _ in 1..<max(failures, 1) where delay < longest { delay = min(delay * factor, longest) }
        let part = jitter.isNaN ? 0 : min(max(jitter, 0), 1)
        return delay * (1 - part * min(max(random, 0), 1))
    }

    package func allowsAnotherAttempt(afterFailures failures: Int) -> Bool {
        maximumAttempts.map { failures < $0 } ?? true
    }
}
