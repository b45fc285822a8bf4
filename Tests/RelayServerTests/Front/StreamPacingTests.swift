import RelayJSON
import Testing

@testable import RelayServer
@testable import StoreEngine

@Suite(.bounded)
struct StreamPacingTests {
    private static func cursor(_ sequence: UInt64) -> StreamCursor {
        StreamCursor(storeID: "test", epoch: 7, sequence: sequence)
    }

    private static func response(_ sequence: UInt64) -> Response {
        Response(bytes: [], hasErrors: false, cursor: cursor(sequence).text)
    }

    @Test(arguments: [0, 1])
    func anEventStreamThatIsTooSlowEndsWithTheCursorOfWhatItGot(_ taken: Int) throws {
        var pacing = StreamPacing(resumeCursor: nil)
        _ = pacing.take(.began(at: Self.cursor(4).text), isFull: true)
        for _ in 0..<taken { _ = pacing.take(.next(Self.response(5)), isFull: false) }
        guard case .end(let error) = pacing.take(.next(Self.response(6)), isFull: true) else {
            Issue.record("it goes on")
            return
        }
        #expect(error["extensions"]?["code"] == "SLOW_CONSUMER")
        let cursor = error["extensions"]?["relay"]?["cursor"]?.string
        #expect(cursor == Self.cursor(4 + UInt64(taken)).text)
    }

    /// What was sent before it may fill the connection of a client that comes back.
    @Test func aStreamThatFindsNoRoomToGoOnEndsWithTheCursorThatItCameWith() throws {
        let resumed = Self.cursor(4).text
        var pacing = StreamPacing(resumeCursor: resumed)
        guard case .end(let error) = pacing.take(.next(Self.response(4)), isFull: true) else {
            Issue.record("it goes on")
            return
        }
        #expect(error["extensions"]?["code"] == "SLOW_CONSUMER")
        #expect(error["extensions"]?["relay"]?["cursor"]?.string == resumed)
    }

    /// So that it is done at some time, however many results there are.
    @Test func liveResultsWaitWhileAPeerHasToTakeEverything() throws {
        var pacing = StreamPacing(resumeCursor: nil)
        let held = pacing.take(.latest(Self.response(5)), isFull: false, awaitsPeer: true)
        guard case .hold = held else {
            Issue.record("it was not held back: \(held)")
            return
        }
        #expect(pacing.drained()?.cursor == Self.cursor(5).text)
        let event = pacing.take(.next(Self.response(6)), isFull: false, awaitsPeer: true)
        guard case .send = event else {
            Issue.record("an event cannot be held back: \(event)")
            return
        }
    }

    /// Or the notice of progress would say of a result that waits that it has been delivered.
    @Test func aStreamWhoseResultWaitsIsNotUpToDate() {
        var pacing = StreamPacing(resumeCursor: Self.cursor(4).text)
        #expect(!pacing.isUpToDate)
        _ = pacing.take(.caughtUp, isFull: false)
        #expect(pacing.isUpToDate)
        _ = pacing.take(.latest(Self.response(5)), isFull: true)
        #expect(!pacing.isUpToDate)
        _ = pacing.drained()
        #expect(pacing.isUpToDate)
    }

    @Test func ofLiveResultsTheNewestWaitsUntilThereIsRoom() throws {
        var pacing = StreamPacing(resumeCursor: nil)
        for sequence in 5...6 as ClosedRange<UInt64> {
            guard case .hold = pacing.take(.latest(Self.response(sequence)), isFull: true) else {
                Issue.record("\(sequence) was not held back")
                return
            }
        }
        #expect(pacing.drained()?.cursor == Self.cursor(6).text)
        #expect(pacing.drained()?.cursor == nil)
    }
}
