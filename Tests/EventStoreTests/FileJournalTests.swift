import Disk
import DiskSimulation
import Foundation
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import EventLog
@testable import EventStore

@Suite(.bounded, .timeLimit(.minutes(10)))
struct FileJournalTests {
    private let directory = TemporaryDirectory()

    private func genesis() -> NewEvent {
        NewEvent(timeMicroseconds: 1, body: .genesis(schema: "type Query { a: Int }", seed: .empty))
    }

    private func update(_ number: Int, size: Int = 0) -> NewEvent {
        let name = "\(number)" + String(repeating: "x", count: size)
        return NewEvent(
            timeMicroseconds: Int64(number), body: .update(LocalUpdate(name: name, writes: .empty)))
    }

    private func open(
        _ configure: (inout EventStoreOptions) -> Void = { _ in }
    ) throws -> FileJournal {
        var options = EventStoreOptions.quiet
        configure(&options)
        return try EventStore.open(directory.path, options: options).journal
    }

    @Test func anAppendThatWasOvertakenIsRefused() async throws {
        let journal = try open()
        defer { journal.close() }
        #expect(try await journal.append([genesis(), update(2)], expecting: 0) == 2)
        let error = await #expect(throws: JournalError.self) {
            try await journal.append([update(2)], expecting: 1)
        }
        #expect(error?.code == .overtaken(by: 2))
        #expect(try await journal.append([update(3)], expecting: 2) == 3)
    }

    /// Two batches that share a sync: each is told its own last sequence.
    @Test func everyCompletionComesInOrderWithItsOwnSequence() throws {
        let journal = try open()
        let results = Lock<[UInt64]>([])
        let outcome = Outcome()
        journal.append([genesis()], expecting: 0) { _ in }
        for number in 1...500 {
            let last = UInt64(number) + 1
            journal.append([update(number)], expecting: last - 1) { result in
                results.withLock { $0.append((try? result.get()) ?? 0) }
                if number == 500 { outcome.set(result) }
            }
        }
        #expect(try outcome.wait().get() == 501)
        #expect(results.withLock { $0 } == Array(2...501))
        journal.close()
    }

    @Test func whetherThereIsRoomIsFoundOutByATry() async throws {
        let disk = FullableDisk()
        let journal = try open { $0.fileSystem = disk }
        defer { journal.close() }
        #expect(await journal.hasRoom())
        disk.setFull(true)
        #expect(await journal.hasRoom() == false)
        disk.setFull(false)
        #expect(await journal.hasRoom())
        #expect(try disk.list(directory.path + "/spare").allSatisfy { $0.hasSuffix(".zero") })
    }

    /// `/readyz` asks while the disk is full, whatever else is read.
    @Test func whetherThereIsRoomIsFoundOutBesideReadingThePast() async throws {
        let disk = FullableDisk()
        let journal = try open { $0.fileSystem = disk }
        defer { journal.close() }
        _ = try await journal.append([genesis(), update(2)], expecting: 0)
        disk.holdReads()
        async let last = journal.lastEvent(at: .max, through: 2)
        let deadline = ContinuousClock.now + .testDeadline
        while disk.heldReadCount == 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(disk.heldReadCount > 0)
        #expect(await journal.hasRoom())
        disk.releaseReads()
        #expect(try await last == 2)
    }

    /// The directory may be another process's by then.
    @Test func aJournalThatIsClosedTriesNothing() async throws {
        let disk = FullableDisk()
        let journal = try open { $0.fileSystem = disk }
        disk.holdTries()
        async let hasRoom = journal.hasRoom()
        let deadline = ContinuousClock.now + .testDeadline
        while disk.tryCount == 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(disk.tryCount == 1)
        let isClosed = Monitor(false)
        let closing = BlockingThread {
            journal.close()
            isClosed.update { $0 = true }
        }
        // A try that has begun is waited for, with the lock.
        #expect(throws: (any Error).self) { try open() }
        #expect(isClosed.withLock { !$0 })
        disk.releaseTries()
        closing.join()
        #expect(await hasRoom)
        #expect(await journal.hasRoom() == false)
        #expect(disk.tryCount == 1)
    }

    @Test func whoeverAsksWhileItIsTriedSharesTheTry() async throws {
        let disk = FullableDisk()
        let journal = try open { $0.fileSystem = disk }
        defer { journal.close() }
        disk.holdTries()
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await journal.hasRoom() } }
            let deadline = ContinuousClock.now + .testDeadline
            while journal.roomAskerCount < 50, ContinuousClock.now < deadline { await Task.yield() }
            #expect(journal.roomAskerCount == 50)
            disk.releaseTries()
            for await hasRoom in group { #expect(hasRoom) }
        }
        #expect(disk.tryCount == 1)
    }

    @Test func noTaskReadsTheDisk() async throws {
        let disk = FullableDisk()
        let journal = try open { $0.fileSystem = disk }
        defer { journal.close() }
        let events = [genesis()] + (2...1_000).map { update($0, size: 1_000) }
        _ = try await journal.append(events, expecting: 0)
        let before = disk.pooledReadCount
        var read: [UInt64] = []
        for try await event in journal.events(from: 1) {
            read.append(event.sequence)
            if read.count == events.count { break }
        }
        #expect(read == Array(1...1_000))
        #expect(disk.pooledReadCount == before)
    }

    @Test func whatTimeAnEventHasIsReadFromTheJournalsOwnFiles() async throws {
        let journal = try open()
        defer { journal.close() }
        _ = try await journal.append([genesis(), update(20), update(30)], expecting: 0)
        #expect(try await journal.lastEvent(at: 0, through: 3) == nil)
        #expect(try await journal.lastEvent(at: 29, through: 3) == 2)
        #expect(try await journal.lastEvent(at: .max, through: 3) == 3)
        #expect(try await journal.lastEvent(at: .max, through: 2) == 2)
    }

    @Test func aFullQueueIsAnotherThingThanAFullDisk() {
        #expect(JournalError(.queueFull(waiting: 3, limit: 2), next: 1).code == .busy)
        let cause = FileSystemError(call: "pwrite", path: "log", errno: 28)
        #expect(
            JournalError(.append(1...1, to: "log", cause, isUndone: true), next: 1).code
                == .storageFull)
        // The event may be in the log: its client is not told that nothing was changed.
        #expect(
            JournalError(.append(1...1, to: "log", cause, isUndone: false), next: 1).code
                == .frozen)
    }

    @Test func aRefusalWaitsForWhatWasHandedOverBefore() throws {
        let journal = try open()
        let order = Lock<[Int]>([])
        let outcome = Outcome()
        for number in 1...50 {
            let event = number == 1 ? genesis() : update(number, size: 1 << 16)
            journal.append([event], expecting: UInt64(number) - 1) { _ in
                order.withLock { $0.append(number) }
            }
        }
        journal.append([update(51)], expecting: 7) { result in
            order.withLock { $0.append(51) }
            outcome.set(result)
        }
        let error = #expect(throws: JournalError.self) { try outcome.wait().get() }
        #expect(error?.code == .overtaken(by: 50))
        #expect(order.withLock { $0 } == Array(1...51))
        journal.close()
    }

    @Test func aFullDiskFailsTheAppendAndTheJournalGoesOnWhenThereIsRoom() async throws {
        let disk = FullableDisk()
        let journal = try open {
            $0.fileSystem = disk
            $0.log.segmentSizeBytes = 1 << 16
        }
        defer { journal.close() }
        #expect(try await journal.append([genesis()], expecting: 0) == 1)
        disk.setFull(true)
        let error = await #expect(throws: JournalError.self) {
            try await journal.append([update(2, size: 1 << 20)], expecting: 1)
        }
        #expect(error?.code == .storageFull)
        disk.setFull(false)
        #expect(try await journal.append([update(2, size: 1 << 20)], expecting: 1) == 2)
    }

    @Test func afterClosingNothingIsTaken() async throws {
        let journal = try open()
        journal.close()
        let error = await #expect(throws: JournalError.self) {
            try await journal.append([genesis()], expecting: 0)
        }
        #expect(error?.code == .closed)
    }

    @Test func eventsAreReadFromThePastAndThenLiveWithoutAGap() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let history = try RandomHistory(seed: seed, count: 200)
        let journal = try open()
        for event in history.events[..<100] { try journal.appendAndWait(event) }
        let reader = Task {
            var read: [Event] = []
            for try await event in journal.events(from: 50) {
                read.append(event)
                if event.sequence == history.events.count { break }
            }
            return read
        }
        for event in history.events[100...] { try journal.appendAndWait(event) }
        #expect(try await reader.value == Array(history.events[49...]), "seed \(seed)")
        journal.close()
    }

    /// Who reads may ask whether to try again.
    @Test func damageIsAnErrorThatLasts() async throws {
        let journal = try open()
        defer { journal.close() }
        _ = try await journal.append([genesis()] + (2...50).map { update($0) }, expecting: 0)
        let segments = directory.path + "/segments"
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: segments).sorted().first)
        let file = try #require(FileHandle(forUpdatingAtPath: segments + "/" + name))
        try file.seek(toOffset: 700)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: 700)
        try file.write(contentsOf: [byte ^ 1])
        try file.close()
        let error = await #expect(throws: (any Error).self) {
            for try await event in journal.events(from: 1) where event.sequence == 50 { break }
        }
        #expect((error as? any EventReadError)?.isLasting == true)
    }

    @Test func aReaderOfLiveEventsEndsWithItsTaskAndWithTheJournal() async throws {
        let journal = try open()
        _ = try await journal.append([genesis()], expecting: 0)
        func count() -> Task<Int, any Error> {
            Task {
                var count = 0
                for try await _ in journal.events(from: 1) { count += 1 }
                return count
            }
        }
        let cancelled = count()
        let ended = count()
        cancelled.cancel()
        _ = try await cancelled.value
        journal.close()
        #expect(try await ended.value <= 1)
    }

    @Test func checkpointsAreWrittenAlongTheWayAndTheNewestThreeAndSomeOlderOnesAreKept()
        async throws
    {
        let reports = Lock<[UInt64]>([])
        let history = try RandomHistory(seed: 6, count: 300)
        let journal = try open { options in
            options.checkpointInterval.events = 10
            options.onCheckpoint = { result in
                reports.withLock { $0.append((try? result.get())?.sequence ?? 0) }
            }
        }
        var snapshot = Snapshot()
        var changes = ChangeSet()
        for event in history.events {
            try journal.appendAndWait(event)
            try snapshot.fold(event, changes: &changes)
            journal.checkpointIfDue(snapshot)
        }
        journal.close()
        let written = reports.withLock { $0 }
        #expect(written.count > 1)
        #expect(written == written.sorted())
        // As far apart as there are records, which are more than ten soon.
        #expect(written.count < 30)
        let kept = try EventLogReader(directory.path).checkpoints.sequences()
        #expect(kept.suffix(3) == written.suffix(3))
        #expect(kept.count == min(written.count, 8))
        let store = try EventStore.open(directory.path, options: .quiet)
        store.journal.close()
        #expect(store.report.checkpoint == written.last)
        #expect(store.snapshot.stateHash == history.snapshot.stateHash)
    }
}
