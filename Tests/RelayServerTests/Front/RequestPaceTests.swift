import Testing

@testable import RelayServer

/// When a connection's requests are read, and when not.
struct RequestPaceTests {
    private let start = ContinuousClock.now

    private func pace(inProgress: Int = 4, perSecond: Int = 0) -> RequestPace {
        var limits = SocketLimits()
        limits.requestsInProgress = inProgress
        limits.requestsPerSecond = perSecond
        return RequestPace(limits)
    }

    @Test func moreThanMayBeInProgressPauseUntilHalfOfThemHaveEnded() {
        var pace = pace()
        for _ in 0..<4 { #expect(pace.begin(now: start, isFull: false) == .nothing) }
        #expect(pace.begin(now: start, isFull: false) == .pause(nil))
        #expect(pace.begin(now: start, isFull: false) == .pause(nil))
        for _ in 0..<3 { #expect(pace.end() == .nothing) }
        #expect(pace.end() == .resume)
        #expect(pace.end() == .nothing)
    }

    /// The request itself ends at once; what waits for the peer is still there.
    @Test func aPauseForAFullQueueLastsUntilThePeerHasTakenIt() {
        var pace = pace()
        #expect(pace.begin(now: start, isFull: true) == .pause(nil))
        #expect(pace.end() == .nothing)
        #expect(pace.drained() == .resume)
        #expect(pace.drained() == .nothing)
    }

    @Test func aQueueThatFillsDuringAnotherPauseCountsToo() {
        var pace = pace()
        for _ in 0..<4 { _ = pace.begin(now: start, isFull: false) }
        #expect(pace.begin(now: start, isFull: false) == .pause(nil))
        // Said again, so that the connection tells when the peer has taken it.
        #expect(pace.begin(now: start, isFull: true) == .pause(nil))
        #expect(pace.begin(now: start, isFull: false) == .pause(nil))
        for _ in 0..<7 { #expect(pace.end() == .nothing) }
        #expect(pace.drained() == .resume)
    }

    @Test func aLongMessageIsWaitedForWhateverElseHasEnded() {
        var pace = pace()
        #expect(pace.begin(now: start, isFull: true) == .pause(nil))
        #expect(pace.beginReading() == .pause(nil))
        #expect(pace.end() == .nothing)
        #expect(pace.drained() == .nothing)
        #expect(pace.endReading() == .resume)
        #expect(pace.beginReading() == .pause(nil))
        #expect(pace.begin(now: start, isFull: true) == .pause(nil))
        #expect(pace.endReading() == .nothing)
        #expect(pace.end() == .nothing)
        #expect(pace.drained() == .resume)
    }

    @Test func whoIsTooFastWaitsForTheNextPartOfASecond() {
        var pace = pace(perSecond: 2)
        for _ in 0..<2 { #expect(pace.begin(now: start, isFull: false) == .nothing) }
        #expect(pace.begin(now: start, isFull: false) == .pause(.milliseconds(500)))
        for _ in 0..<3 { #expect(pace.end() == .nothing) }
        #expect(pace.drained() == .nothing)
        #expect(pace.waited(now: start + .milliseconds(250)) == .pause(.milliseconds(250)))
        #expect(pace.waited(now: start + .milliseconds(500)) == .resume)
    }
}
