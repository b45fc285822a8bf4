import BoundedTesting
import DiskSimulation
import Testing
import Threads

@testable import EventLog

@Suite(.bounded) struct EventLogWriterTests {
    @Test func appendedEventsAreReadBackInOrderAfterReopening() async throws {
        let disk = SimulatedDisk()
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.recovery.isNew)
        #expect(try await log.append(testBatch(1...2)) == 1...2)
        #expect(try log.appendAndWait(testBatch(3...3)) == 3...3)
        #expect(log.head.sequence == 3)
        log.close()

        let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(again.recovery == RecoveryReport())
        #expect(again.metadata.storeID == testStoreID)
        #expect(again.head == log.head)
        #expect(try await again.append(testBatch(4...6)) == 4...6)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...6))
        #expect(try reader.head() == again.head)
        again.close()
    }

    @Test func sequencesAreGivenAtOnceAndCompletionsComeInOrder() async throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(), fileSystem: SimulatedDisk())
        let completed = Monitor<[UInt64]>([])
        var next: UInt64 = 1
        for size in 1...20 as ClosedRange<UInt64> {
            let range = try log.enqueue(testBatch(next...next + size - 1)) { result in
                completed.update { $0.append((try? result.get()) ?? 0) }
            }
            #expect(range == next...next + size - 1)
            next += size
        }
        log.close()
        let heads = completed.withLock { $0 }
        #expect(heads.count == 20)
        #expect(heads == heads.sorted())
        #expect(heads.last == next - 1)
    }

    @Test func aBatchExpectingAnotherSequenceIsRefused() throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(), fileSystem: SimulatedDisk())
        try log.appendAndWait(testBatch(1...3))
        #expect(throws: LogError.self) {
            try log.enqueue(testBatch(3...3), expecting: 3) { _ in }
        }
        #expect(try log.enqueue(testBatch(4...4), expecting: 4) { _ in } == 4...4)
        log.close()
    }

    @Test func segmentsRollAndAreReadAsOneLog() throws {
        let disk = SimulatedDisk()
        let options = testOptions(segmentSize: 1024)
        let log = try EventLogWriter.open("log", options: options, fileSystem: disk)
        for number in 1...40 as ClosedRange<UInt64> {
            try log.appendAndWait(testBatch(number...number, size: 100))
        }
        log.close()
        #expect(disk.paths(under: "log/segments").count > 5)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...40, size: 100))
        #expect(try reader.allEvents(from: 17) == recorded(17...40, size: 100))
        #expect(try reader.frame(containing: 23)?.sequences == 23...23)
    }

    @Test func aLogThatNobodyHoldsClosesItselfEvenFromACompletion() throws {
        let disk = SimulatedDisk()
        let held = Monitor<EventLogWriter?>(
            try EventLogWriter.open("log", options: testOptions(), fileSystem: disk))
        let done = Monitor(false)
        try held.withLock { log in
            _ = try log?.enqueue(testBatch(1...1)) { _ in
                held.update { $0 = nil }
                done.update { $0 = true }
            }
        }
        done.wait { $0 ? true : nil }
        // The lock comes back when the log's thread has ended.
        var again: EventLogWriter?
        let deadline = ContinuousClock.now + .testDeadline
        while again == nil, ContinuousClock.now < deadline {
            again = try? EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        }
        #expect(again?.head.sequence == 1)
        again?.close()
    }

    @Test func onTheRealDiskToo() throws {
        let directory = try TemporaryDirectory()
        let log = try EventLogWriter.open(directory.path, options: testOptions(segmentSize: 4096))
        for number in 1...50 as ClosedRange<UInt64> {
            try log.appendAndWait(testBatch(number...number, size: 200))
        }
        log.close()
        let again = try EventLogWriter.open(directory.path, options: testOptions())
        #expect(again.head == log.head)
        again.close()
        #expect(
            try EventLogReader(directory.path).allEvents() == recorded(1...50, size: 200))
    }
}

@Suite(.bounded) struct LastSequenceTests {
    /// What readers refuse is not written.
    @Test func behindTheLastSequenceNothingIsAppended() throws {
        let (disk, last) = (SimulatedDisk(), UInt64(Int64.max) - 1)
        let directory = LogDirectory(path: "log", fileSystem: disk)
        try directory.create()
        let header = SegmentHeader(
            storeID: testStoreID, epoch: 1, firstSequence: last - 1, previousFirstSequence: 0,
            previousChain: .zero)
        disk.setContents(header.encoded(), at: directory.segmentPath(last - 1))
        try directory.write(LogMetadata(version: .current, storeID: testStoreID, epoch: 1))

        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        let tooMany = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(1...3)) }
        #expect(try log.appendAndWait(testBatch(1...2)) == last - 1...last)
        let error = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(tooMany?.code == .unacceptableBatch && error?.code == .unacceptableBatch)
        log.close()
        let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(again.head.sequence == last)
        again.close()
        #expect(try EventLogReader("log", fileSystem: disk).allEvents().count == 2)
    }

    /// No file can say so much; the queue does not count on that.
    @Test(arguments: [UInt64(Int64.max) - 1, UInt64(Int64.max), 1 << 63, .max - 1] as [UInt64])
    func behindALaterSequenceNothingIsAppendedEither(_ sequence: UInt64) {
        var queue = AppendQueue(
            head: LogHead(sequence: sequence, epoch: 1, hash: .zero), maximumWaitingBytes: 1 << 20)
        #expect(throws: LogError.lastSequence) {
            _ = try queue.enqueue(testBatch(1...1), expecting: nil) { _, _ in }
        }
    }
}

@Suite(.bounded) struct LogDirectoryTests {
    @Test(arguments: [
        ("log", "."), ("log/", "."), ("a/log", "a"), ("a/b/log//", "a/b"), ("/log", "/"),
        ("/a/log", "/a"),
    ])
    func theParentIsTheDirectoryAbove(_ path: String, _ parent: String) {
        #expect(LogDirectory(path: path, fileSystem: SimulatedDisk()).parentPath == parent)
    }

    @Test func onlyTwentyDigitsOfAPossibleSequenceNameASegment() {
        #expect(LogDirectory.firstSequence(ofName: "00000000000000000017.log") == 17)
        for name in [
            "00000000000000000000.log", "99999999999999999999.log", "18446744073709551615.log",
            "0000000000000000017.log", "0000000000000000001x.log", "00000000000000000017.log.torn",
        ] {
            #expect(LogDirectory.firstSequence(ofName: name) == nil, "\(name)")
        }
    }
}
