import EventLog
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct HistoryForksTests {
    /// A log of these events, so many to a write.
    private func log(_ events: [Event], batch: Int = 1) throws -> TemporaryDirectory {
        let directory = TemporaryDirectory()
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        for start in stride(from: 0, to: events.count, by: batch) {
            let some = events[start..<min(start + batch, events.count)]
            let outcome = Outcome()
            store.journal.append(
                some.map { NewEvent(timeMicroseconds: $0.timeMicroseconds, body: $0.body) },
                expecting: UInt64(start)
            ) { outcome.set($0) }
            _ = try outcome.wait().get()
        }
        return directory
    }

    private func parting(
        _ one: TemporaryDirectory, _ other: TemporaryDirectory
    ) throws -> [UInt64?] {
        let (one, other) = (try History(one.path), try History(other.path))
        return [try one.parting(from: other), try other.parting(from: one)]
    }

    @Test func twoLogsPartAtTheFirstEventThatDiffers() throws {
        let events = try RandomHistory(seed: 7, count: 30).events
        var changed = events
        changed[19].body = .schema("another")
        var later = events
        later[29].timeMicroseconds += 1
        let original = try log(events)
        #expect(try parting(original, log(changed)) == [20, 20])
        #expect(try parting(original, log(later)) == [30, 30])
        #expect(try parting(original, log(Array(events[..<25]))) == [26, 26])
        #expect(try parting(original, log([])) == [1, 1])
    }

    @Test func howEventsWereGroupedDoesNotCount() throws {
        let events = try RandomHistory(seed: 8, count: 30).events
        #expect(try parting(log(events), log(events, batch: 7)) == [nil, nil])
    }

    @Test func aForkGoesItsOwnWayFromTheEventAfterIt() throws {
        let history = try TodoHistory()
        let fork = TemporaryDirectory()
        try history.open().fork(at: 7, to: fork.path)
        let store = try EventStore.open(fork.path, options: .quiet)
        #expect(store.report.checkpoint == 6)
        #expect(try store.snapshot.stateHash == history.open().snapshot(at: 7).stateHash)
        #expect(store.journal.epoch > UInt64(try history.open().metadata?.epoch ?? 0))
        let body = EventBody.schema("another")
        try store.journal.appendAndWait(Event(sequence: 8, timeMicroseconds: 0, body: body))
        store.journal.close()
        #expect(try parting(history.directory, fork) == [8, 8])
        let error = #expect(throws: EventStoreError.self) {
            try history.open().fork(at: 7, to: fork.path)
        }
        #expect(error?.code == .log(.conflict))
        #expect(throws: EventStoreError.self) { try history.open().fork(at: 11, to: fork.path) }
    }
}
