import EventLog
import RelayStore
import Testing

@testable import EventStore

/// A log whose first half is gone.
@Suite(.bounded) struct CompactionTests {
    private let directory = TemporaryDirectory()
    private let history: RandomHistory

    init() throws {
        history = try RandomHistory(seed: 9, count: 60)
        try append(history.events[..<40])
        _ = try EventStore.compact(directory.path, options: .quiet)
        try append(history.events[40...])
    }

    private func append(_ events: some Collection<Event>) throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        for event in events { try store.journal.appendAndWait(event) }
    }

    @Test func theStoreStartsAsBefore() throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        #expect(store.report.checkpoint == 40)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    @Test func thePastBeginsWithTheCheckpoint() throws {
        let past = try History(directory.path)
        #expect(past.extent == 41...UInt64(history.events.count))
        #expect(try past.snapshot(at: 40).sequence == 40)
        #expect(try past.snapshot(at: 50).sequence == 50)
        let error = #expect(throws: EventStoreError.self) { try past.snapshot(at: 39) }
        #expect(
            error?.message == """
                The state after event 39 cannot be rebuilt: the log keeps events from 41 on, and no \
                checkpoint that this build can use is between the two.
                """)
        #expect(throws: EventStoreError.self) { try past.event(40) }
    }

    @Test func blameKnowsTheValuesBeforeTheFirstKeptEvent() throws {
        let past = try History(directory.path)
        let base = try past.snapshot(at: 40)
        var isChecked = false
        for record in base.recordsInCreationOrder().map(base.symbols.idString) {
            for entry in try past.blame(record) where entry.field != "__typename" {
                #expect(entry.sequence > 40)
                guard !entry.isOptimistic, let before = entry.before else { continue }
                let earlier = try past.snapshot(at: entry.sequence - 1)
                let row = try #require(earlier.existing(record))
                #expect(earlier.fieldValue(entry.field, of: row) == before)
                isChecked = true
            }
        }
        #expect(isChecked)
    }

    @Test func theCheckpointItBeginsWithIsNotProven() throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        try store.journal.checkpoint(store.snapshot)
        store.journal.close()
        var outcomes: [CheckpointCheck.Outcome] = []
        try History(directory.path).checkCheckpoints { check in
            outcomes.append(check.outcome)
            return true
        }
        #expect(outcomes == [.beginning, .right])
    }
}
