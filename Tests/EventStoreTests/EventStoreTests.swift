import Disk
import DiskSimulation
import EventLog
import LogTools
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import EventStore

@Suite(.bounded) struct EventStoreTests {
    private let directory = TemporaryDirectory()

    /// A log of a history's events, each a batch of its own.
    private func write(
        _ events: some Collection<Event>, checkpointingAfter checkpoints: Set<UInt64> = []
    ) throws {
        let store = try EventStore.open(directory.path, options: .quiet)
        defer { store.journal.close() }
        var snapshot = store.snapshot
        var changes = ChangeSet()
        for event in events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if checkpoints.contains(event.sequence) { try store.journal.checkpoint(snapshot) }
        }
    }

    private func open(indexes: [IndexDefinition] = []) throws -> EventStore {
        let store = try EventStore.open(directory.path, indexes: indexes, options: .quiet)
        store.journal.close()
        return store
    }

    @Test func anEmptyDirectoryGivesAStoreThatWaitsForItsGenesis() throws {
        let store = try open()
        #expect(store.snapshot.sequence == 0)
        #expect(store.report.summary == "The log is new.")
        #expect(store.report.sentences == [])
    }

    @Test func reopeningAfterEveryEventGoesOnWhereItWas() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 40)
        var expected = Snapshot()
        var changes = ChangeSet()
        for event in history.events {
            try write([event])
            try expected.fold(event, changes: &changes)
            #expect(try open().snapshot.stateHash == expected.stateHash, "seed \(seed)")
        }
    }

    /// A large state takes its time, and whoever stops a container does not wait for it.
    @Test(arguments: Durability.allCases)
    func whoIsKilledWhileItClosesHasClosedTheLogBefore(_ durability: Durability) throws {
        let disk = SimulatedDisk()
        var options = EventStoreOptions.quiet
        options.log.durability = durability
        let (store, snapshot) = try running(on: disk, options)
        disk.setFault { $0.path.contains(".checkpoint") ? .powerOff : nil }
        #expect(throws: EventStoreError.self) {
            try store.journal.close(checkpointing: snapshot)
        }
        for found in [disk.killed(), disk.crashed(.nothing)] {
            options.fileSystem = found
            let verification = try EventStore.verify("log", fileSystem: found)
            #expect(verification.damages == [] && verification.unknowns == [])
            let again = try EventStore.open("log", options: options)
            #expect(again.journal.epoch == 1 && again.report.sentences == [])
            #expect(again.snapshot.stateHash == snapshot.stateHash)
            try again.journal.close(checkpointing: again.snapshot)
            let closed = try EventStore.verify("log", fileSystem: found)
            #expect(closed.damages == [] && closed.unknowns == [])
            let last = try EventStore.open("log", options: options)
            #expect(last.report.checkpoint == 20 && last.journal.epoch == 1)
            last.journal.close()
        }
    }

    /// A store that has twenty events, and its newest state.
    private func running(
        on disk: SimulatedDisk, _ options: EventStoreOptions
    ) throws -> (EventStore, Snapshot) {
        var options = options
        options.fileSystem = disk
        let store = try EventStore.open("log", options: options)
        var (snapshot, changes) = (store.snapshot, ChangeSet())
        for event in try RandomHistory(seed: 1, count: 20).events {
            try store.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
        }
        return (store, snapshot)
    }

    /// Whatever is on the disk by then is whole, and events are only missing where the epoch says so.
    @Test(arguments: Durability.allCases)
    func aStopMayEndAtAnyCall(_ durability: Durability) throws {
        var options = EventStoreOptions.quiet
        options.log.durability = durability
        var (isDone, stops) = (false, 0)
        while !isDone {
            let disk = SimulatedDisk()
            let (store, snapshot) = try running(on: disk, options)
            let last = disk.callCount + stops
            disk.setFault { $0.number > last ? .powerOff : nil }
            isDone = (try? store.journal.close(checkpointing: snapshot)) != nil
            let ends = [
                disk.killed(), disk.crashed(.nothing),
                disk.crashed(.random(SeededGenerator(seed: UInt64(stops)))),
            ]
            for (number, found) in ends.enumerated() {
                options.fileSystem = found
                let name: Comment = "\(stops) calls, end \(number)"
                #expect(try EventStore.verify("log", fileSystem: found).damages == [], name)
                let again = try EventStore.open("log", options: options)
                let isWhole = again.snapshot.stateHash == snapshot.stateHash
                #expect(isWhole || again.journal.epoch == 2 && number > 0, name)
                #expect(again.journal.epoch == 1 || durability != .always && !isDone, name)
                again.journal.close()
            }
            stops += 1
        }
        #expect(stops > 15)
    }

    @Test func theNewestCommitsAreHandedOutEachWithItsState() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 150, hasFingerprints: true)
        try write(history.events, checkpointingAfter: [70])
        var options = EventStoreOptions.quiet
        options.tail = .init(events: 60, bytes: 1 << 20)
        let store = try EventStore.open(directory.path, options: options)
        store.journal.close()
        let count = UInt64(history.events.count)
        #expect(store.tail.commits.base.sequence == count - 60)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash, "seed \(seed)")
        var folded = Snapshot()
        var commits = store.tail.commits.kept
        for event in history.events {
            var changes = ChangeSet()
            try folded.fold(event, changes: &changes)
            if event.sequence == store.tail.commits.base.sequence {
                #expect(store.tail.commits.base.stateHash == folded.stateHash, "seed \(seed)")
            }
            guard event.sequence > count - 60, case .response(let response) = event.body else {
                continue
            }
            let first = commits.popFirst()
            let commit = try #require(first, "seed \(seed)")
            #expect(commit.response == response && commit.snapshot.sequence == event.sequence)
            #expect(commit.snapshot.stateHash == folded.stateHash, "seed \(seed)")
        }
        #expect(commits.isEmpty, "seed \(seed)")
    }

    /// A server that was stopped when it had 16 MB of commits must not begin with gigabytes of them.
    @Test func theNewestCommitsAreBoundedByBytesToo() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 150)
        try write(history.events)
        let all = try openWithTail()
        all.journal.close()
        let store = try openWithTail { $0.tail.bytes = 4_096 }
        store.journal.close()
        let kept = store.tail.commits.kept
        #expect(kept.count > 1 && kept.count <= 8, "seed \(seed)")
        let left = all.tail.commits.kept.dropLast(kept.count)
        #expect(store.tail.commits.base.sequence == left.last?.snapshot.sequence, "seed \(seed)")
        #expect(kept.last?.snapshot.stateHash == all.tail.commits.head.stateHash, "seed \(seed)")
        #expect(store.snapshot.stateHash == history.snapshot.stateHash, "seed \(seed)")
    }

    /// Opens the log with the newest 60 events at hand.
    private func openWithTail(
        _ change: (inout EventStoreOptions) -> Void = { _ in }
    ) throws -> EventStore {
        var options = EventStoreOptions.quiet
        options.tail = .init(events: 60, bytes: 1 << 20)
        change(&options)
        return try EventStore.open(directory.path, options: options)
    }

    @Test(arguments: [[], [120], [70, 120], [90, 149]] as [Set<UInt64>])
    func aLateCheckpointLeavesNoneOfTheNewestCommitsOut(_ checkpoints: Set<UInt64>) throws {
        let history = try RandomHistory(seed: 7, count: 150)
        try write(history.events, checkpointingAfter: checkpoints)
        let store = try openWithTail()
        store.journal.close()
        let count = UInt64(history.events.count)
        #expect(store.tail.commits.base.sequence == count - 60)
        #expect(store.report.checkpoint == checkpoints.filter { $0 <= count - 60 }.max() ?? 0)
        #expect(store.report.sentences == [])
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    /// It was written already, though the start did not read it.
    @Test func behindALateCheckpointTheNextIsDueAnIntervalLater() throws {
        let history = try RandomHistory(seed: 7, count: 150)
        try write(history.events.prefix(150), checkpointingAfter: [140])
        let reports = Lock<[UInt64]>([])
        let store = try openWithTail { options in
            options.checkpointInterval.events = 100
            options.onCheckpoint = { outcome in
                if case .success(let report) = outcome {
                    reports.withLock { $0.append(report.sequence) }
                }
            }
        }
        store.journal.checkpointIfDue(store.snapshot)
        store.journal.close()
        #expect(reports.withLock { $0 } == [])
        #expect(store.report.checkpoint == 0)
    }

    /// The next start begins there, and need not fold what is before.
    @Test func aCheckpointThatIsOlderThanTheNewestIsWritten() throws {
        let history = try RandomHistory(seed: 7, count: 150)
        try write(history.events, checkpointingAfter: [140])
        let store = try openWithTail()
        let base = store.tail.commits.base
        try store.journal.checkpoint(base)
        store.journal.close()
        let again = try openWithTail()
        again.journal.close()
        #expect(again.report.checkpoint == base.sequence)
        #expect(again.report.foldedEvents == 60)
        #expect(again.snapshot.stateHash == history.snapshot.stateHash)
    }

    @Test func theTailOfACompactedLogBeginsWithItsState() throws {
        let history = try RandomHistory(seed: 7, count: 150)
        let count = UInt64(history.events.count)
        try write(history.events.prefix(Int(count) - 20))
        _ = try EventStore.compact(directory.path, options: .quiet)
        try write(history.events.suffix(20), checkpointingAfter: [count - 5])
        let store = try openWithTail()
        store.journal.close()
        #expect(store.tail.commits.base.sequence == count - 20)
        #expect(store.report.sentences == [])
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    /// The server starts as it did without a tail, and says what it is without.
    @Test func behindDamageAStartGoesOnFromALaterCheckpointWithAShorterTail() throws {
        let history = try RandomHistory(seed: 7, count: 150)
        var options = EventStoreOptions.quiet
        options.log.segmentSizeBytes = 1 << 12
        options.log.firstSegmentSizeBytes = 1 << 12
        let running = try EventStore.open(directory.path, options: options)
        var snapshot = running.snapshot
        var changes = ChangeSet()
        for event in history.events {
            try running.journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            if event.sequence == 140 { try running.journal.checkpoint(snapshot) }
        }
        running.journal.close()
        let reader = try EventLogReader(directory.path)
        let frame = try #require(try reader.frame(containing: 100))
        try #require(try reader.segmentFiles().last?.path != frame.segment)
        let file = try POSIXFileSystem().open(frame.segment, .readWrite)
        try file.writeAll([0xFF, 0xFF, 0xFF], at: frame.offset + UInt64(frame.byteCount) - 8)
        file.close()
        let store = try openWithTail()
        store.journal.close()
        #expect(store.report.checkpoint == 140)
        #expect(store.tail.commits.base.sequence == 140)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
        #expect(store.report.sentences.count == 1, "\(store.report.sentences)")
        #expect(
            store.report.sentences.first?.hasPrefix("Not all of the newest commits are at hand: ")
                == true)
    }

    @Test func aStartFromACheckpointEqualsAFullRefold() throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 150)
        try write(history.events, checkpointingAfter: [70, 110])
        let store = try open(indexes: [.records(type: "T1")])
        #expect(store.report.checkpoint == 110)
        #expect(store.report.foldedEvents == UInt64(history.events.count) - 110)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash, "seed \(seed)")
        let type = try #require(store.snapshot.symbols.findName("T1"))
        let ofType = store.snapshot.recordsInCreationOrder().filter {
            store.snapshot.type(of: $0) == type
        }
        #expect(store.snapshot.indexes.records(of: type)?.count == ofType.count)
    }

    @Test func aDamagedCheckpointIsPassedOverAndSaid() throws {
        let history = try RandomHistory(seed: 1, count: 60)
        try write(history.events, checkpointingAfter: [20, 40])
        let name = "00000000000000000040.checkpoint"
        let file = try POSIXFileSystem().open("\(directory.path)/checkpoints/\(name)", .readWrite)
        try file.writeAll([0xFF, 0xFF, 0xFF], at: 200)
        file.close()
        let store = try open()
        #expect(store.report.checkpoint == 20)
        #expect(store.report.sentences.count == 1)
        #expect(store.report.sentences.first?.contains(name) == true)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    @Test func aCheckpointOfAnotherFoldVersionIsNotRead() throws {
        let history = try RandomHistory(seed: 2, count: 30)
        try write(history.events)
        let log = try EventLogWriter.open(directory.path)
        let header = Checkpoint.Header(
            sequence: 20, epoch: 1, foldVersion: StateFormat.version + 1, stateHash: [])
        try log.checkpoints.write(Checkpoint(header: header, payload: [1, 2, 3]), keeping: 3)
        log.close()
        let store = try open()
        #expect(store.report.checkpoint == 0)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    /// Its checksum is right and its bytes are no state: a bug of another build must not stop us.
    @Test func aCheckpointThatIsNoStateIsPassedOverForAnOlderOne() throws {
        let history = try RandomHistory(seed: 3, count: 30)
        try write(history.events, checkpointingAfter: [10])
        let log = try EventLogWriter.open(directory.path)
        let header = Checkpoint.Header(
            sequence: 20, epoch: 1, foldVersion: StateFormat.version, stateHash: [])
        try log.checkpoints.write(Checkpoint(header: header, payload: [1, 2, 3]), keeping: 3)
        log.close()
        let store = try open()
        #expect(store.report.checkpoint == 10)
        #expect(
            store.report.sentences == [
                "Ignored the checkpoint at event 20: expected a count at byte 3 of 3."
            ])
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }

    @Test func aTornTailIsSaidAndTheStateIsThatOfTheEventsBefore() throws {
        let history = try RandomHistory(seed: 4, count: 30)
        let running = try EventStore.open(directory.path, options: .quiet)
        for event in history.events { try running.journal.appendAndWait(event) }
        // What a crash leaves: nothing says that the last event was ever there.
        let crashed = try TemporaryDirectory(copyOf: directory.path)
        running.journal.close()
        let segment = "\(crashed.path)/segments/00000000000000000001.log"
        let frame = try #require(
            try EventLogReader(crashed.path).frame(containing: history.events[29].sequence))
        let file = try POSIXFileSystem().open(segment, .readWrite)
        try file.truncate(to: frame.offset + UInt64(frame.byteCount) - 20)
        file.close()
        let store = try EventStore.open(crashed.path, options: .quiet)
        defer { store.journal.close() }
        #expect(store.snapshot.sequence == 29)
        #expect(store.report.sentences.count == 1)
        #expect(store.report.sentences.first?.contains("Cut") == true)
        var expected = Snapshot()
        var changes = ChangeSet()
        for event in history.events.dropLast() { try expected.fold(event, changes: &changes) }
        #expect(store.snapshot.stateHash == expected.stateHash)
    }

    @Test func aSecondStoreOnTheDirectoryIsRefused() throws {
        let first = try EventStore.open(directory.path, options: .quiet)
        defer { first.journal.close() }
        let error = #expect(throws: EventStoreError.self) {
            try EventStore.open(directory.path, options: .quiet)
        }
        #expect(error?.code == .log(.locked))
    }

    /// Reading it would take long, and come upon the damage.
    @Test func aLogThatAServerWritesIsNotReadToBeCompacted() throws {
        let history = try RandomHistory(seed: 6, count: 30)
        try write(history.events)
        let running = try EventStore.open(directory.path, options: .quiet)
        defer { running.journal.close() }
        let frame = try #require(try EventLogReader(directory.path).frame(containing: 10))
        let segment = "\(directory.path)/segments/00000000000000000001.log"
        let file = try POSIXFileSystem().open(segment, .readWrite)
        try file.writeAll([0xFF, 0xFF, 0xFF], at: frame.offset + UInt64(frame.byteCount) - 8)
        file.close()
        let error = #expect(throws: EventStoreError.self) {
            try EventStore.compact(directory.path, options: .quiet)
        }
        #expect(error?.code == .log(.locked))
    }

    @Test func eventsThatAreNoHistoryAreRefusedAndTheLockIsGivenBack() throws {
        try write(RandomHistory(seed: 5, count: 3).events)
        let log = try EventLogWriter.open(directory.path)
        var batch = EventBatch()
        batch.append(
            NewEvent(
                timeMicroseconds: 0,
                body: .revocation(Revocation(mutation: 99, reason: "out of the blue"))))
        let sequence = try log.appendAndWait(batch).lowerBound
        log.close()
        for _ in 0..<2 {
            let error = #expect(throws: EventStoreError.self) { try open() }
            #expect(error?.code == .notAHistory)
            #expect(
                error?.message == """
                    Could not fold event \(sequence): it ends mutation 99, which is not waiting for \
                    an answer. Nothing was changed.
                    """)
        }
    }
}

extension FileJournal {
    /// Appends one event at its place and waits until it is durable.
    func appendAndWait(_ event: Event) throws {
        let outcome = Outcome()
        append(
            [NewEvent(timeMicroseconds: event.timeMicroseconds, body: event.body)],
            expecting: event.sequence - 1
        ) { outcome.set($0) }
        #expect(try outcome.wait().get() == event.sequence)
    }
}
