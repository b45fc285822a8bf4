import EventLog
@_spi(Rooms) import RelayRecords
import Synchronization
import Testing

@testable import EventStore

/// A copy taken from under a running store is what a killed process leaves behind.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct RunningStoreTests {
    private final class Progress: Sendable {
        let acknowledged = Atomic<Int>(0)
        let copies = Atomic<Int>(0)
        let isStopped = Atomic<Bool>(false)
    }

    /// Appends events, four at a time, with a checkpoint now and then.
    private func run(
        _ store: EventStore, _ events: [Event], _ progress: Progress
    ) async throws {
        defer { progress.isStopped.store(true, ordering: .releasing) }
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for start in stride(from: 0, to: events.count, by: 4) {
            // Not so fast that there is nothing left to copy.
            while start > (progress.copies.load(ordering: .acquiring) + 1) * 100 {
                try Task.checkCancellation()
                await Task.yield()
            }
            let batch = events[start..<min(start + 4, events.count)]
            let last = try await store.journal.append(
                batch.map { NewEvent(timeMicroseconds: $0.timeMicroseconds, body: $0.body) },
                expecting: UInt64(start))
            progress.acknowledged.store(Int(last), ordering: .releasing)
            for event in batch { try snapshot.fold(event, changes: &changes) }
            store.journal.checkpointIfDue(snapshot)
        }
    }

    @Test func everyCopyOpensToAPrefixThatHasWhatWasAcknowledged() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 500)
        let directory = TemporaryDirectory()
        var options = EventStoreOptions.quiet
        options.checkpointInterval.events = 60
        options.log.segmentSizeBytes = 1 << 14
        let store = try EventStore.open(directory.path, options: options)
        let progress = Progress()
        let running = Task { try await run(store, history.events, progress) }
        defer { running.cancel() }
        // A copy for every 50 events, more or less.
        var copies: [(acknowledged: Int, copy: TemporaryDirectory)] = []
        while !progress.isStopped.load(ordering: .acquiring) {
            try Task.checkCancellation()
            let acknowledged = progress.acknowledged.load(ordering: .acquiring)
            if acknowledged >= copies.count * 50,
                // A file that is renamed or removed meanwhile makes this no copy at all.
                let copy = try? TemporaryDirectory(copyOf: directory.path)
            {
                copies.append((acknowledged, copy))
                progress.copies.store(copies.count, ordering: .releasing)
            }
            await Task.yield()
        }
        try await running.value
        store.journal.close()
        var expected = Snapshot()
        var changes = ChangeSet()
        for (acknowledged, copy) in copies {
            let reopened = try EventStore.open(copy.path, options: .quiet)
            reopened.journal.close()
            let sequence = Int(reopened.snapshot.sequence)
            #expect(sequence >= acknowledged, "seed \(seed)")
            for event in history.events[Int(expected.sequence)..<sequence] {
                try expected.fold(event, changes: &changes)
            }
            #expect(reopened.snapshot.stateHash == expected.stateHash, "seed \(seed)")
        }
        #expect(copies.count > 3)
    }
}
