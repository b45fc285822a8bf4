import BoundedTesting
import EventLog
import Foundation
import RelayArtifacts
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import RelayStore
import Testing

@testable import EventStore

/// A client's log does not grow without end.
@Suite(.bounded, .timeLimit(.minutes(10)))
struct ClientHistoryTests {
    private let directory = TemporaryDirectory()

    private func open(historyBytes: UInt64?) throws -> (journal: FileJournal, store: Store) {
        var options = FileJournal.Options()
        options.historyBytes = historyBytes
        let journal = try FileJournal(directory: directory.path, options: options)
        return (journal, try Store(journal: journal))
    }

    /// Writes so many notes of a kilobyte over each other.
    private func write(_ count: Int, to store: Store) throws {
        for number in 0..<count {
            let text = String(repeating: "\(number % 10)", count: 1_000)
            let id = DataID("note\(number % 7)")
            try store.commitUpdate { records in
                let note = records[id] ?? records.create(dataID: id, typeName: "Note")
                note["text"] = text
            }
        }
    }

    private var firstSequence: UInt64 {
        get throws { try EventLogReader(directory.path).firstSequence() }
    }

    private var segmentBytes: Int {
        let segments = directory.path + "/segments"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: segments)) ?? []
        return names.reduce(0) { sum, name in
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: segments + "/" + name)
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }

    @Test func whatHappenedLongAgoIsDroppedAndTheStateIsNot() async throws {
        let limit: UInt64 = 100_000
        let (journal, store) = try open(historyBytes: limit)
        let mutation = ConcreteRequest(
            fragment: ReaderFragment(name: "Note", type: "Mutation", selections: []),
            operation: NormalizationOperation(name: "Note", selections: []),
            params: RequestParameters(name: "Note", operationKind: .mutation))
        _ = try store.applyMutation(
            OperationDescriptor(mutation, variables: [:]), mutationID: MutationID("a:1"),
            optimistic: OptimisticMutation(response: nil) { source, _ in
                source.create(dataID: "shown", typeName: "Note")["text"] = "pending"
            })
        let deadline = ContinuousClock.now + .testDeadline
        // Ten times as much as is kept.
        for _ in 0..<10 { try write(100, to: store) }
        // The disk comes behind, and so do checkpoints. Each look is one: the next segment may be made meanwhile.
        var (first, bytes) = (try firstSequence, segmentBytes)
        while first <= 500 || bytes > Int(limit), ContinuousClock.now < deadline {
            try write(10, to: store)
            try await store.synchronize()
            (first, bytes) = (try firstSequence, segmentBytes)
        }
        #expect(first > 500)
        #expect(bytes <= Int(limit))
        let texts = try (0..<7).map { try text("note\($0)", store.confirmed) }
        let hash = try store.confirmed.stateHash
        journal.close()

        let (again, restarted) = try open(historyBytes: limit)
        #expect(try restarted.confirmed.stateHash == hash)
        #expect(try (0..<7).map { try text("note\($0)", restarted.confirmed) } == texts)
        // What was under way when it was dropped is under way still.
        #expect(text("shown", restarted.snapshot) == "pending")
        #expect(try restarted.pendingMutations.count == 1)
        again.close()
    }

    @Test func allOfItIsKeptWhereThatIsAskedFor() throws {
        let (journal, store) = try open(historyBytes: nil)
        try write(300, to: store)
        journal.close()
        #expect(try firstSequence == 1)
        #expect(try History(directory.path).extent == 1...301)
    }

    /// Programs that run for a moment only, again and again.
    @Test func shortRunsCountTogether() async throws {
        let limit: UInt64 = 100_000
        let deadline = ContinuousClock.now + .testDeadline
        while ContinuousClock.now < deadline {
            let (journal, store) = try open(historyBytes: limit)
            try write(15, to: store)
            journal.close()
            // A checkpoint that a busy machine writes late drops less, and the next drops more.
            if try firstSequence > 1, segmentBytes <= Int(limit) { break }
        }
        // Nothing is open any more.
        #expect(try firstSequence > 1)
        #expect(segmentBytes <= Int(limit))
    }

    private func text(_ id: String, _ snapshot: RelayStore.Snapshot) -> String? {
        guard let record = snapshot.existing(id),
            case .string(let text)? = snapshot.fieldValue("text", of: record)
        else { return nil }
        return text
    }
}
