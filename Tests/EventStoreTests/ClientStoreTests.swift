import Dispatch
@_spi(Rooms) import RelayRecords
@_spi(Rooms) import RelayStore
import Testing
import Threads

@testable import EventLog
@testable import EventStore

/// A client's store on a disk that has no room for a while.
@Suite(.bounded) struct ClientStoreTests {
    private let directory = TemporaryDirectory()
    private let disk = FullableDisk()

    /// What the store wants done later; the test does it.
    private final class Later: Sendable {
        private typealias Work = (milliseconds: Int, run: @Sendable () -> Void)
        private let works = Lock<[Work]>([])
        private let added = DispatchSemaphore(value: 0)

        func add(_ milliseconds: Int, _ run: @escaping @Sendable () -> Void) {
            works.withLock { $0.append((milliseconds, run)) }
            added.signal()
        }

        /// Does what comes next, once it is there.
        /// - Returns: after how many milliseconds it was to be done.
        @discardableResult
        func doNext() throws -> Int {
            let work = try takeNext()
            work.run()
            return work.milliseconds
        }

        private func takeNext() throws -> Work {
            try #require(added.wait(timeout: .testDeadline) == .success)
            return works.withLock { $0.removeFirst() }
        }

        /// Waits until the journal has refused what it was given, telling what is to be told on the way.
        /// - Returns: the retry, to be done when the test likes.
        func nextRetry() throws -> @Sendable () -> Void {
            while true {
                let work = try takeNext()
                if work.milliseconds > 0 { return work.run }
                work.run()
            }
        }
    }

    private struct Client {
        let journal: FileJournal
        let store: Store
        let later = Later()
        let told = Told()

        final class Told: Sendable {
            private let statuses = Lock<[String]>([])
            var all: [String] { statuses.withLock { $0 } }

            func add(_ status: JournalStatus) {
                let name =
                    switch status {
                    case .keeping: "keeping"
                    case .retrying(let error): "retrying: \((error as? JournalError)?.code as Any)"
                    case .stopped(let error): "stopped: \((error as? JournalError)?.code as Any)"
                    }
                statuses.withLock { $0.append(name) }
            }
        }

        init(
            _ directory: TemporaryDirectory, _ disk: FullableDisk, isFullAtFirst: Bool = false,
            _ configure: (inout StoreOptions) -> Void = { _ in }
        ) throws {
            var logOptions = EventStoreOptions.quiet
            logOptions.fileSystem = disk
            logOptions.log.segmentSizeBytes = 1 << 16
            journal = try FileJournal(directory: directory.path, storeOptions: logOptions)
            disk.setFull(isFullAtFirst)
            var options = StoreOptions()
            options.later = { [later] in later.add($0, $1) }
            options.journalChanged = { [told] in told.add($0) }
            configure(&options)
            store = try Store(journal: journal, options: options)
        }

        func write(_ number: Int, size: Int = 1) throws {
            try store.commitUpdate { source in
                let text = "\(number)" + String(repeating: "x", count: size)
                source.create(dataID: "t", typeName: "Todo")["text"] = text
            }
        }
    }

    /// The text that is on the disk.
    private func storedText() throws -> String? {
        let journal = try FileJournal(directory: directory.path)
        defer { journal.close() }
        let snapshot = try journal.restore().snapshot
        guard let record = snapshot.existing("t"),
            case .string(let text)? = snapshot.fieldValue("text", of: record)
        else { return nil }
        return String(text.prefix { $0 != "x" })
    }

    @Test func aFullDiskIsTriedAgainAndNothingIsMissing() async throws {
        let client = try Client(directory, disk)
        try client.write(1)
        try await client.store.synchronize()
        disk.setFull(true)
        try client.write(2, size: 1 << 20)
        try client.write(3)
        #expect(try client.later.doNext() == 0)
        #expect(
            client.told.all == ["retrying: Optional(RelayRecords.JournalError.Code.storageFull)"])
        await #expect(throws: JournalError.self) { try await client.store.synchronize() }
        // Still full.
        try client.write(4)
        try client.later.nextRetry()()
        let retry = try client.later.nextRetry()
        disk.setFull(false)
        try client.write(5)
        retry()
        #expect(try client.later.doNext() == 0)
        #expect(client.told.all.last == "keeping")
        try client.write(6)
        try await client.store.synchronize()
        client.journal.close()
        #expect(try storedText() == "6")
    }

    @Test func aJournalThatWasFullFromTheStartBeginsWhenThereIsRoom() throws {
        let client = try Client(directory, disk, isFullAtFirst: true)
        try client.write(1)
        let retry = try client.later.nextRetry()
        disk.setFull(false)
        retry()
        client.journal.close()
        #expect(try storedText() == "1")
    }

    @Test func whatWaitsIsBoundedAndTheLogEndsWithoutAGap() async throws {
        let client = try Client(directory, disk) { $0.journalBacklogBytes = 3 << 20 }
        try client.write(1)
        try await client.store.synchronize()
        disk.setFull(true)
        try client.write(2, size: 2 << 20)
        #expect(try client.later.doNext() == 0)
        try client.write(3, size: 2 << 20)
        guard case .stopped(let error) = client.store.journalStatus else {
            Issue.record("the status is \(client.store.journalStatus)")
            return
        }
        #expect((error as? JournalError)?.code == .backlogFull)
        disk.setFull(false)
        // The store itself goes on.
        try client.write(4)
        let record = try #require(client.store.snapshot.existing("t"))
        #expect(client.store.snapshot.fieldValue("text", of: record) == .string("4x"))
        client.journal.close()
        #expect(try storedText() == "1")
    }

    @Test func aClosedJournalEndsItForGood() throws {
        let client = try Client(directory, disk)
        try client.write(1)
        client.journal.close()
        try client.write(2)
        #expect(try client.later.doNext() == 0)
        #expect(client.told.all == ["stopped: Optional(RelayRecords.JournalError.Code.closed)"])
        #expect(try storedText() == "1")
    }
}
