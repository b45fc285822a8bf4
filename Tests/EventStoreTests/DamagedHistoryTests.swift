import EventLog
import Foundation
import LogTools
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

/// What can still be asked of a history with damage in the middle: event 30 of 90, with checkpoints after
/// events 20 and 60.
@Suite(.bounded) struct DamagedHistoryTests {
    private let directory = TemporaryDirectory()
    private let events: [Event]

    init() throws {
        events = try RandomHistory(seed: 5, count: 90).events
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 1 << 12
        options.log.firstSegmentSizeBytes = 1 << 12
        let store = try EventStore.open(directory.path, options: options)
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for event in events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if [20, 60].contains(event.sequence) { try store.journal.checkpoint(snapshot) }
        }
        store.journal.close()
        let frame = try #require(try EventLogReader(directory.path).frame(containing: 30))
        let segments = try EventLogReader(directory.path).segmentFiles()
        try #require(segments.last?.path != frame.segment, "the damage is in a sealed segment")
        let place = Int(frame.offset) + frame.byteCount / 2
        try Damage.changed(
            String(frame.segment.dropFirst(directory.path.count + 1)), at: place, by: 1
        )
        .apply(in: directory.path)
    }

    private func history() throws -> History { try History(directory.path) }

    private func snapshot(at sequence: UInt64) throws -> Snapshot {
        var snapshot = Snapshot()
        var changes = ChangeSet()
        for event in events where event.sequence <= sequence {
            try snapshot.fold(event, changes: &changes)
        }
        return snapshot
    }

    @Test func statesOnBothSidesOfTheDamageAreCompared() throws {
        let differences = try history().differences(from: 25, to: 70)
        #expect(try differences == snapshot(at: 25).differences(to: snapshot(at: 70)))
        let reversed = try history().differences(from: 70, to: 25)
        #expect(try reversed == snapshot(at: 70).differences(to: snapshot(at: 25)))
        let error = #expect(throws: EventStoreError.self) {
            try history().differences(from: 25, to: 45)
        }
        #expect(error?.code == .log(.damaged))
    }

    /// A state in front of the damage is near, and leads nowhere.
    @Test func keptStatesDoNotHideTheWayAroundDamage() throws {
        let kept = PassedStates()
        func asked() throws -> History {
            try history().within(HistoryAllowance(events: 1_000), from: kept)
        }
        for _ in 0..<2 {
            _ = try asked().snapshot(at: 29)
            #expect(try asked().snapshot(at: 70).stateHash == snapshot(at: 70).stateHash)
            #expect(
                try asked().differences(from: 25, to: 70)
                    == snapshot(at: 25).differences(to: snapshot(at: 70)))
            #expect(
                try asked().difference(from: 29, to: 61).records
                    == StateDifference(from: snapshot(at: 29), to: snapshot(at: 61)).records)
        }
    }

    @Test func anEventThatCannotBeReadIsNotCalledMissing() throws {
        #expect(try history().summary(of: 45).sequence == 45)
        let error = #expect(throws: EventStoreError.self) { try history().summary(of: 30) }
        #expect(error?.code == .log(.damaged))
    }

    @Test func behindDamageItGoesOnWithTheNextCheckpoint() throws {
        let history = try history()
        #expect(try history.nextState(after: 29) == 60)
        #expect(history.damages.all.count == 1)
        #expect(try history.snapshot(at: 60).stateHash == snapshot(at: 60).stateHash)
        try FileManager.default.removeItem(
            atPath: directory.path + "/checkpoints/00000000000000000060.checkpoint")
        let error = #expect(throws: EventStoreError.self) { try history.nextState(after: 29) }
        #expect(error?.code == .log(.damaged))
    }

    @Test func theIndexGoesOnBehindDamage() throws {
        let history = try history()
        let index = try HistoryIndex(history, landmarkLimit: 2)
        try index.build()
        #expect(index.isComplete && index.reached == history.last)
        for sequence: UInt64 in [25, 60, 61, 90] {
            let found = try index.replay(at: sequence) { $0.snapshot.stateHash }
            #expect(try found == snapshot(at: sequence).stateHash)
        }
        let error = #expect(throws: EventStoreError.self) { try index.replay(at: 45) { _ in } }
        #expect(error?.isDamage == true)
        #expect(index.writes(of: nil, record: "r1") == nil)
        // Nothing leads there.
        try FileManager.default.removeItem(
            atPath: directory.path + "/checkpoints/00000000000000000060.checkpoint")
        let first = try HistoryIndex(self.history())
        try first.build()
        #expect(first.isComplete && first.writes(of: nil, record: "r1") == nil)
        #expect(throws: EventStoreError.self) { try first.replay(at: 90) { _ in } }
    }

    @Test func whatIsDamagedIsNeitherForkedNorCompacted() throws {
        let fork = TemporaryDirectory()
        let error = #expect(throws: EventStoreError.self) {
            try history().fork(at: 90, to: fork.path)
        }
        #expect(error?.code == .log(.damaged))
        try history().fork(at: 29, to: fork.path)
        #expect(try EventStore.verify(fork.path).isIntact)
        let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        let refusal = #expect(throws: EventStoreError.self) {
            try EventStore.compact(directory.path, options: .quiet)
        }
        #expect(refusal?.code == .log(.damaged))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.path) == files)
    }
}
