import Testing

@testable import RelayLink

@Suite(.bounded)
struct RetryPolicyTests {
    @Test func delaysDoubleUpToTheLargest() {
        let policy = RetryPolicy(
            initialDelay: .seconds(1), multiplier: 2, maximumDelay: .seconds(10), jitter: 0)
        let delays = (1...6).map { policy.delay(afterFailures: $0, random: 1) }
        #expect(delays == [1, 2, 4, 8, 10, 10].map { Duration.seconds($0) })
        #expect(policy.delay(afterFailures: 1_000_000, random: 0) == .seconds(10))
    }

    @Test func jitterTakesOffAtMostItsPart() {
        let policy = RetryPolicy(initialDelay: .seconds(8), jitter: 0.25)
        #expect(policy.delay(afterFailures: 1, random: 0) == .seconds(8))
        #expect(policy.delay(afterFailures: 1, random: 0.5) == .seconds(7))
        #expect(policy.delay(afterFailures: 1, random: 1) == .seconds(6))
    }

    @Test func attemptsMayHaveALimit() {
        #expect(RetryPolicy().allowsAnotherAttempt(afterFailures: 1_000_000))
        let policy = RetryPolicy(maximumAttempts: 2)
        #expect(policy.allowsAnotherAttempt(afterFailures: 1))
        #expect(!policy.allowsAnotherAttempt(afterFailures: 2))
    }

    /// Whatever a program sets, a delay comes of it.
    @Test func optionsMayBeAnything() {
        for number in [Double.nan, .infinity, -.infinity, -1, 0, .greatestFiniteMagnitude] {
            for duration in [Duration.seconds(Int64.max), .zero, .seconds(-5)] {
                let policy = RetryPolicy(
                    initialDelay: .seconds(1), multiplier: number, maximumDelay: duration,
                    jitter: number)
                for failures in [-1, 1, 50] {
                    #expect(policy.delay(afterFailures: failures, random: 0.5) >= .zero)
                }
            }
        }
        let steep = RetryPolicy(
            initialDelay: .seconds(1), multiplier: .infinity, maximumDelay: .seconds(9), jitter: 0)
        #expect(steep.delay(afterFailures: 2, random: 0) == .seconds(9))
    }
}
