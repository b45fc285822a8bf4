import EventLog
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct HistoryTests {
    private let log: TodoHistory

    init() throws { log = try TodoHistory() }

    @Test func anEventThatIsNotThereIsAnError() throws {
        for sequence: UInt64 in [0, 11] {
            let error = #expect(throws: EventStoreError.self) {
                try log.open().event(sequence)
            }
            #expect(error?.code == .outOfRange)
            #expect(
                error?.message == "The log has no event \(sequence): it has events 1 to 10.")
        }
    }

    @Test func aHistoryIsThatOfTheMomentAndMayBeFollowed() throws {
        let history = try log.open()
        let following = try history.events(following: 10)
        #expect(try following.next()?.sequence == 10)
        #expect(try following.next() == nil)
        let store = try EventStore.open(log.directory.path, options: .quiet)
        defer { store.journal.close() }
        let body = EventBody.schema("type Query { b: Int }")
        try store.journal.appendAndWait(Event(sequence: 11, timeMicroseconds: 11, body: body))
        #expect(history.last == 10)
        #expect(try log.open().last == 11)
        #expect(try following.next()?.body == body)
        #expect(try following.next() == nil)
    }

    @Test(arguments: [
        ("4", 4), ("@", 10), ("@-3", 7), ("@-9", 1), ("1970-01-01T00:00:00Z", 1),
        ("1970-01-01T00:00:02.999999Z", 3), ("1970-01-01T00:00:03Z", 4),
        ("2026-01-01T00:00:00Z", 10), ("@now", 10), ("@now-15s", 6),
    ])
    func aPointIsTheEventAfterWhichItWasSo(_ text: String, _ sequence: UInt64) throws {
        let now: Int64 = 20_500_000
        #expect(try log.open().sequence(of: HistoryPoint(text), now: now) == sequence)
    }

    @Test(arguments: [
        ("0", "The log has no event 0: it has events 1 to 10."),
        ("11", "The log has no event 11: it has events 1 to 10."),
        ("@-10", "There is no event 10 before the last: the log has events 1 to 10."),
        (
            "1969-12-31T23:59:59Z",
            """
            There is no state at 1969-12-31T23:59:59.000000Z: the log begins with event 1 at \
            1970-01-01T00:00:00.000000Z.
            """
        ),
    ])
    func aPointOutsideTheLogIsAnError(_ text: String, _ message: String) throws {
        let error = #expect(throws: EventStoreError.self) {
            try log.open().sequence(of: HistoryPoint(text), now: 0)
        }
        #expect(error?.code == .outOfRange)
        #expect(error?.message == message)
    }

    @Test func aTimeBeforeTheFirstEventsIsFoundWhereTheClockWasSetBack() throws {
        let directory = TemporaryDirectory()
        let store = try EventStore.open(directory.path, options: .quiet)
        for (index, time) in ([100, 50, 60, 70] as [Int64]).enumerated() {
            let body = index == 0 ? EventBody.genesis(schema: "", seed: .empty) : .schema("")
            try store.journal.appendAndWait(
                Event(sequence: UInt64(index) + 1, timeMicroseconds: time, body: body))
        }
        store.journal.close()
        let history = try History(directory.path)
        for (time, sequence) in [(50, 2), (55, 2), (60, 3), (99, 4)] as [(Int64, UInt64)] {
            let found = try history.sequence(of: .time(microseconds: time), now: 0)
            #expect(found == sequence, "\(time)")
        }
        let error = #expect(throws: EventStoreError.self) {
            try history.sequence(of: .time(microseconds: 49), now: 0)
        }
        #expect(error?.code == .outOfRange)
    }

    @Test func anEmptyLogHasNoPoints() throws {
        let empty = TemporaryDirectory()
        try EventStore.open(empty.path, options: .quiet).journal.close()
        let history = try History(empty.path)
        #expect(history.extent == nil)
        #expect(throws: EventStoreError.self) { try history.sequence(of: .beforeLast(0), now: 0) }
        #expect(throws: EventStoreError.self) { try history.event(1) }
        #expect(try history.snapshot(at: 0).recordCount == 0)
        #expect(try history.blame("t1") == [])
    }

    @Test func noLogIsAnErrorThatSaysSo() {
        let error = #expect(throws: EventStoreError.self) { try History("/nonexistent/log") }
        #expect(error?.code == .log(.notFound))
    }

    /// Also with the checkpoint at 6 in between.
    @Test func everyStateIsThatOfTheEventsUpToIt() throws {
        let history = try log.open()
        var expected = Snapshot()
        var changes = ChangeSet()
        #expect(try history.snapshot(at: 0).stateHash == expected.stateHash)
        let replay = try history.replay(at: 0)
        for sequence in UInt64(1)...10 {
            try expected.fold(history.event(sequence), changes: &changes)
            #expect(try history.snapshot(at: sequence).stateHash == expected.stateHash)
            #expect(try replay.step()?.event.sequence == sequence)
            #expect(replay.snapshot.stateHash == expected.stateHash)
        }
        #expect(try replay.step() == nil)
        #expect(throws: EventStoreError.self) { try history.snapshot(at: 11) }
    }
}
