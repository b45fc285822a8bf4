import EventLog
@_spi(Rooms) import RelayRecords
import Testing

@testable import EventStore

@Suite(.bounded) struct HistoryIndexTests {
    /// Every state and every write of a random history, with more states than are kept.
    @Test(arguments: [2, 5, 2_048])
    func everyMomentIsWhatFoldingGives(_ landmarkLimit: Int) throws {
        let seed = UInt64.random(in: 0 ... .max)
        let log = try RandomLog(seed: seed, count: 700)
        let history = try log.open()
        let index = try HistoryIndex(history, landmarkLimit: landmarkLimit)
        #expect(try index.replay(at: 1) { _ in true } == nil)
        #expect(index.writes(of: nil, record: "r1") == nil)
        try index.build()
        #expect(index.isComplete && index.reached == history.last)

        let replay = try history.replay(at: 0)
        var changes: [String: [UInt64]] = [:]
        var sequences = Array(0...history.last).shuffled()
        var before = replay.snapshot
        while try replay.step() != nil {
            for difference in before.differences(to: replay.snapshot) {
                let name = difference.record + " " + difference.field
                changes[name, default: []].append(replay.snapshot.sequence)
            }
            before = replay.snapshot
        }
        for (name, events) in changes {
            let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
            for field in [parts[1], nil] {
                let found = try #require(index.writes(of: field, record: parts[0]))
                #expect(Set(found).isSuperset(of: events), "seed \(seed), \(name)")
                #expect(found == found.sorted())
            }
        }
        sequences.removeLast(sequences.count / 2)
        for sequence in sequences {
            let found = try index.replay(at: sequence) { $0.snapshot }
            let expected = try history.snapshot(at: sequence)
            #expect(found?.stateHash == expected.stateHash, "seed \(seed), event \(sequence)")
        }
        #expect(index.writes(of: nil, record: "nobody") == [])
    }

    @Test func tooManyWritesAreNotRemembered() throws {
        let log = try RandomLog(seed: 1, count: 100)
        let index = try HistoryIndex(log.open(), writeLimit: 10)
        try index.build()
        #expect(index.isComplete)
        #expect(index.writes(of: nil, record: "r1") == nil)
        #expect(try index.replay(at: 50) { $0.snapshot.sequence } == 50)
    }

    /// People look around while it is made.
    @Test func aMomentCanBeReachedWhileTheRestIsRead() async throws {
        let log = try RandomLog(seed: .random(in: 0 ... .max), count: 5_000)
        let history = try log.open()
        let index = try HistoryIndex(history)
        let building = Task.detached { try index.build() }
        for sequence in stride(from: 100, through: history.last, by: 700) {
            // The pass comes there, sooner or later.
            while index.reached < sequence { await Task.yield() }
            let found = try index.replay(at: sequence) { $0.snapshot.stateHash }
            #expect(try found == history.snapshot(at: sequence).stateHash)
        }
        try await building.value
    }

    @Test func itEndsEarlyWhenItIsCancelled() async throws {
        let log = try RandomLog(seed: 2, count: 600)
        let index = try HistoryIndex(log.open())
        let building = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            try index.build()
        }
        try await building.value
        #expect(!index.isComplete)
    }

    /// Long ways to a state end when nobody waits for them any more.
    @Test func whatTakesLongEndsWhenItIsCancelled() async throws {
        let log = try RandomLog(seed: 3, count: 2_000)
        let history = try log.open()
        let questions: [@Sendable () throws -> Void] = [
            { _ = try history.snapshot(at: history.last) },
            { _ = try history.whatIf(skipping: [2]) },
            { _ = try history.changes(by: history.last) },
            { _ = try history.known([BlameTarget(record: "nobody")]) },
        ]
        for question in questions {
            let asking = Task.detached {
                withUnsafeCurrentTask { $0?.cancel() }
                try question()
            }
            let error = await #expect(throws: EventStoreError.self) { try await asking.value }
            #expect(error?.code == .cancelled)
        }
    }
}

/// A random history on disk.
private struct RandomLog {
    private let directory = TemporaryDirectory()

    init(seed: UInt64, count: Int) throws {
        var options = EventStoreOptions.quiet
        options.log.durability = .none
        let store = try EventStore.open(directory.path, options: options)
        defer { store.journal.close() }
        for event in try RandomHistory(seed: seed, count: count).events {
            try store.journal.appendAndWait(event)
        }
    }

    func open() throws -> History { try History(directory.path) }
}
