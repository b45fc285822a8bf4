import Testing
import Threads

@testable import RelayServer

@Suite struct TokenExpiryTests {
    /// A clock that is set by the test, and what waits for it.
    private final class Clock: Sendable {
        private struct State {
            var now: Int64 = 1_000_000
            /// By how much somebody has set the clock on the wall. What waits does not look at it.
            var shift: Int64 = 0
            var waiting: [(due: Int64, action: @Sendable () -> Void)] = []
        }

        private let state = Lock(State())
        let endCount = Lock(0)

        var waitingCount: Int { state.withLock { $0.waiting.count } }

        func expiry() -> TokenExpiry {
            TokenExpiry(now: { self.state.withLock { $0.now + $0.shift } }) { delay, action in
                let (seconds, attoseconds) = delay.components
                let wait = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
                self.state.withLock { $0.waiting.append(($0.now + wait, action)) }
            }
        }

        func run(until time: Int64) {
            while let next = state.withLock({ state -> (@Sendable () -> Void)? in
                let first = state.waiting.indices.min {
                    state.waiting[$0].due < state.waiting[$1].due
                }
                guard let first, state.waiting[first].due <= time else { return nil }
                state.now = max(state.now, state.waiting[first].due)
                return state.waiting.remove(at: first).action
            }) { next() }
            state.withLock { $0.now = time }
        }

        func shift(by shift: Int64) { state.withLock { $0.shift = shift } }

        func await(_ end: Int64?, _ expiry: TokenExpiry) {
            expiry.setEnd(end) { self.endCount.withLock { $0 += 1 } }
        }
    }

    @Test func aTokenEndsWhenItsTimeIsOver() {
        let clock = Clock()
        let expiry = clock.expiry()
        clock.await(500_000_000, expiry)
        clock.run(until: 499_999_999)
        #expect(!expiry.isOver && clock.endCount.withLock { $0 } == 0)
        clock.run(until: 500_000_000)
        #expect(expiry.isOver && clock.endCount.withLock { $0 } == 1)
        #expect(clock.waitingCount == 0)
    }

    @Test func aClockThatIsSetIsNoticedWithinAMinute() {
        let clock = Clock()
        let expiry = clock.expiry()
        clock.await(3_600_000_000, expiry)
        clock.run(until: 30_000_000)
        clock.shift(by: 3_600_000_000)
        clock.run(until: 90_000_000)
        #expect(clock.endCount.withLock { $0 } == 1)
    }

    /// A client that alternates between two good tokens must not fill the memory.
    @Test func manyRenewalsLeaveOneLook() {
        let clock = Clock()
        let expiry = clock.expiry()
        for number in 0..<1_000 {
            clock.await(number.isMultiple(of: 2) ? 500_000_000 : 700_000_000, expiry)
        }
        #expect(clock.waitingCount == 1)
        clock.run(until: 400_000_000)
        for number in 0..<1_000 {
            clock.await(number.isMultiple(of: 2) ? 401_000_000 : 402_000_000, expiry)
        }
        #expect(clock.waitingCount == 2)
        clock.run(until: 401_500_000)
        #expect(clock.endCount.withLock { $0 } == 0)
        clock.run(until: 402_000_000)
        #expect(clock.endCount.withLock { $0 } == 1)
        clock.run(until: 900_000_000)
        #expect(clock.endCount.withLock { $0 } == 1 && clock.waitingCount == 0)
    }

    @Test func aTokenWithoutAnEndTakesItsPlace() {
        let clock = Clock()
        let expiry = clock.expiry()
        clock.await(2_000_000, expiry)
        clock.await(nil, expiry)
        clock.run(until: 9_000_000)
        #expect(!expiry.isOver && clock.endCount.withLock { $0 } == 0)
        #expect(clock.waitingCount == 0)
    }

    @Test func whoIsGoneIsNotWaitedFor() {
        let clock = Clock()
        do {
            let expiry = clock.expiry()
            clock.await(2_000_000, expiry)
        }
        clock.run(until: 9_000_000)
        #expect(clock.endCount.withLock { $0 } == 0)
    }
}
