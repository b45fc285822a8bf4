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
        for _ in 0..<4 { #expect(pace.begin(0, now: start, isFull: false) == .nothing) }
        #expect(pace.begin(0, now: start, isFull: false) == .pause(nil))
        #expect(pace.begin(0, now: start, isFull: false) == .pause(nil))
        for _ in 0..<3 { #expect(pace.end(0) == .nothing) }
        #expect(pace.end(0) == .resume)
        #expect(pace.end(0) == .nothing)
    }

    /// The request itself ends at once; what waits for the peer is still there.
    @Test func aPauseForAFullQueueLastsUntilThePeerHasTakenIt() {
        var pace = pace()
        #expect(pace.begin(0, now: start, isFull: true) == .pause(nil))
        #expect(pace.end(0) == .nothing)
        #expect(pace.drained() == .resume)
        #expect(pace.drained() == .nothing)
    }

    @Test func aQueueThatFillsDuringAnotherPauseCountsToo() {
        var pace = pace()
        for _ in 0..<4 { _ = pace.begin(0, now: start, isFull: false) }
        #expect(pace.begin(0, now: start, isFull: false) == .pause(nil))
        // Said again, so that the connection tells when the peer has taken it.
        #expect(pace.begin(0, now: start, isFull: true) == .pause(nil))
        #expect(pace.begin(0, now: start, isFull: false) == .pause(nil))
        for _ in 0..<7 { #expect(pace.end(0) == .nothing) }
        #expect(pace.drained() == .resume)
    }

    @Test func aLongMessageIsWaitedForWhateverElseHasEnded() {
        var pace = pace()
        #expect(pace.begin(0, now: start, isFull: true) == .pause(nil))
        #expect(pace.beginReading() == .pause(nil))
        #expect(pace.end(0) == .nothing)
        #expect(pace.drained() == .nothing)
        #expect(pace.endReading() == .resume)
        #expect(pace.beginReading() == .pause(nil))
        #expect(pace.begin(0, now: start, isFull: true) == .pause(nil))
        #expect(pace.endReading() == .nothing)
        #expect(pace.end(0) == .nothing)
        #expect(pace.drained() == .resume)
    }

    @Test func whoIsTooFastWaitsForTheNextPartOfASecond() {
        var pace = pace(perSecond: 2)
        for _ in 0..<2 { #expect(pace.begin(0, now: start, isFull: false) == .nothing) }
        #expect(pace.begin(0, now: start, isFull: false) == .pause(.milliseconds(500)))
        for _ in 0..<3 { #expect(pace.end(0) == .nothing) }
        #expect(pace.drained() == .nothing)
        #expect(pace.waited(now: start + .milliseconds(250)) == .pause(.milliseconds(250)))
        #expect(pace.waited(now: start + .milliseconds(500)) == .resume)
    }

    /// A pause for another reason ends with that reason, also where more than half of what may be is in progress.
    @Test func whoIsBelowTheLimitGoesOnAfterALongMessage() {
        var pace = pace()
        for _ in 0..<4 { #expect(pace.begin(0, now: start, isFull: false) == .nothing) }
        #expect(pace.beginReading() == .pause(nil))
        #expect(pace.endReading() == .resume)
        #expect(pace.beginReading() == .pause(nil))
        #expect(pace.begin(0, now: start, isFull: false) == .pause(nil))
        #expect(pace.endReading() == .nothing)
        for _ in 0..<2 { #expect(pace.end(0) == .nothing) }
        #expect(pace.end(0) == .resume)
    }

    /// Of what a client has ended, too, as long as it is held.
    @Test func nothingIsReadWhileTooMuchIsInProgress() {
        var limits = SocketLimits()
        limits.operationBytes = 1_000
        var pace = RequestPace(limits)
        #expect(pace.begin(1_000, now: start, isFull: false) == .nothing)
        #expect(pace.begin(1, now: start, isFull: false) == .pause(nil))
        #expect(pace.end(1) == .nothing)
        #expect(pace.end(1_000) == .resume)
        // One may have more than the limit.
        #expect(pace.begin(5_000, now: start, isFull: false) == .pause(nil))
        #expect(pace.end(5_000) == .resume)
    }
}
