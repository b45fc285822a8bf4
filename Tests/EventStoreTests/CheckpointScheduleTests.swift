@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct CheckpointScheduleTests {
    /// A state after an event, with so many records.
    private func snapshot(at sequence: UInt64, records: Int = 0) throws -> Snapshot {
        var writer = WriteSetWriter()
        let none: [(key: String, value: FieldValue)] = []
        for number in 0..<records { writer.write(DataID("r\(number)"), type: "T", fields: none) }
        var snapshot = Snapshot()
        var changes = ChangeSet()
        try snapshot.fold(
            Event(
                sequence: sequence, timeMicroseconds: 0,
                body: .update(LocalUpdate(name: "", writes: writer.writeSet))), changes: &changes)
        return snapshot
    }

    private func schedule(newest: UInt64 = 0) -> CheckpointSchedule {
        var interval = CheckpointInterval()
        interval.events = 10
        interval.bytes = 1_000
        return CheckpointSchedule(interval, newest: newest)
    }

    @Test func oneIsDueAfterEnoughEventsOrEnoughBytes() throws {
        var schedule = schedule(newest: 100)
        let asked = [
            schedule.begin(try snapshot(at: 109), logBytes: 999),
            schedule.begin(try snapshot(at: 109), logBytes: 1_000),
        ]
        schedule.end()
        let askedAgain = [
            schedule.begin(try snapshot(at: 118), logBytes: 1_999),
            schedule.begin(try snapshot(at: 119), logBytes: 1_999),
        ]
        #expect(asked == [false, true])
        #expect(askedAgain == [false, true])
    }

    @Test func aLargeStateIsWrittenLessOften() throws {
        var schedule = schedule()
        schedule.noteWritten(100, size: 5_000)
        let asked = [
            schedule.begin(try snapshot(at: 149, records: 50), logBytes: 4_999),
            schedule.begin(try snapshot(at: 150, records: 50), logBytes: 4_999),
        ]
        #expect(asked == [false, true])
    }

    @Test func oneIsWrittenAtATimeAndNoneTwice() throws {
        var schedule = schedule()
        let asked = [
            schedule.begin(try snapshot(at: 20), logBytes: 0),
            schedule.begin(try snapshot(at: 40), logBytes: 0),
        ]
        schedule.noteWritten(20, size: 0)
        schedule.end()
        let askedAgain = [
            schedule.begin(try snapshot(at: 20), logBytes: 9_999),
            schedule.begin(try snapshot(at: 40), logBytes: 0),
        ]
        #expect(asked == [true, false])
        #expect(askedAgain == [false, true])
    }

    @Test func afterAFailureTheNextTryIsAnIntervalAway() throws {
        var schedule = schedule()
        let first = schedule.begin(try snapshot(at: 20), logBytes: 0)
        schedule.end()
        let asked = [
            schedule.begin(try snapshot(at: 29), logBytes: 0),
            schedule.begin(try snapshot(at: 30), logBytes: 0),
        ]
        #expect(first)
        #expect(asked == [false, true])
        #expect(schedule.written == 0)
    }

    @Test func nothingIsBegunOnceItIsClosed() throws {
        var schedule = schedule()
        schedule.close()
        let isBegun = schedule.begin(try snapshot(at: 99), logBytes: 9_999)
        #expect(!isBegun)
    }
}
