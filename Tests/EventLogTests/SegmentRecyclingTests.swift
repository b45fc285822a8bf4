import BoundedTesting
import Disk
import DiskSimulation
import LogTools
import Testing
import Threads

@testable import EventLog

/// The plain file of a deflated segment is filled with zeros and becomes a later segment.
@Suite(.bounded) struct SegmentRecyclingTests {
    private let disk = SimulatedDisk()
    private var directory: LogDirectory { LogDirectory(path: "log", fileSystem: disk) }

    /// A writer with its background thread, small segments of one size.
    private func options() -> EventLogOptions {
        var options = testOptions(segmentSize: 700)
        options.segmentsAhead = 1
        options.deflatesSealedSegments = true
        return options
    }

    /// Appends events one by one and lets the background thread finish after each, so that every call
    /// to the disk has its place in the order. Ends early when the disk fails.
    /// - Returns: how many events were acknowledged.
    private func live(on disk: SimulatedDisk, events: UInt64 = 24) -> UInt64 {
        guard let log = try? EventLogWriter.open("log", options: options(), fileSystem: disk)
        else { return 0 }
        defer { log.close() }
        var acknowledged: UInt64 = 0
        while acknowledged < events,
            log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds)
        {
            let next = log.nextSequence
            guard (try? log.appendAndWait(testBatch(next...next, size: 60))) != nil else { break }
            acknowledged = next
        }
        _ = log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds)
        return acknowledged
    }

    @Test func inTheLongRunNoNewFileIsMadeForASegment() throws {
        let made = Monitor(0)
        disk.setFault { call in
            if call.name == "open", call.path == "log/spare/filling" { made.update { $0 += 1 } }
            return nil
        }
        #expect(live(on: disk, events: 60) == 60)
        #expect(disk.segments.count > 10)
        #expect(made.withLock { $0 } == 2)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...60, size: 60))
        #expect(try reader.verify().damages == [])
        // One file of zeros for the next segment; the one behind it went with the writer.
        #expect(disk.paths(under: "log/spare").map { $0.hasSuffix(".zero") } == [true])
    }

    /// A spare was renamed to be a segment, and only the one directory was synced. Found by the simulator.
    @Test func aSegmentThatAlsoHasTheNameOfASpareAfterALossOfPowerIsNotWrittenOver() throws {
        #expect(live(on: disk) == 24)
        let last = try #require(disk.segments.last)
        for spare in disk.paths(under: "log/spare") { try disk.remove(spare) }
        try disk.link("log/segments/\(last.twentyDigits).log", as: "log/spare/1.zero")
        #expect(live(on: disk, events: 60) == 60)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...60, size: 60))
        #expect(try reader.verify().damages == [])
    }

    @Test func aCrashAtEveryCallWhileSegmentsAreUsedAgainLosesNothing() throws {
        let calls: Int = {
            let disk = SimulatedDisk()
            #expect(live(on: disk) == 24)
            return disk.callCount
        }()
        for number in 1...calls {
            let disk = SimulatedDisk()
            disk.setFault { $0.number == number ? .powerOff : nil }
            let acknowledged = live(on: disk)
            for survival in [
                SimulatedDisk.Survival.nothing, .everything,
                .random(SeededGenerator(seed: UInt64(number))),
            ] {
                try expectSound(
                    disk.crashed(survival), acknowledged: acknowledged,
                    "crash at call \(number) of \(calls), \(survival)")
            }
        }
    }

    /// Everything acknowledged is there, spares are zero, and the log goes on in them.
    private func expectSound(
        _ disk: SimulatedDisk, acknowledged: UInt64, _ comment: Comment
    ) throws {
        let log = try EventLogWriter.open("log", options: options(), fileSystem: disk)
        let head = log.head.sequence
        #expect(head >= acknowledged, comment)
        #expect(log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds))
        for path in disk.paths(under: "log/spare") where path.hasSuffix(".zero") {
            // A crash between header and name leaves the header, which the next one overwrites.
            let bytes = try #require(disk.contents(at: path)).dropFirst(SegmentHeader.size)
            #expect(bytes.allSatisfy { $0 == 0 }, comment)
        }
        for next in head + 1...head + 8 { try log.appendAndWait(testBatch(next...next, size: 60)) }
        log.close()
        let events = try EventLogReader("log", fileSystem: disk).allEvents()
        #expect(events == recorded(1...head + 8, size: 60), comment)
    }

    // MARK: Readers

    /// Two segments, the first sealed.
    private func makeSealedLog() throws {
        try makeLog(events: 320, size: 2000, segmentSize: 600_000, on: disk)
        #expect(disk.segments.count == 2)
    }

    private func deflateFirst() throws -> Bool {
        try SegmentDeflater(directory: directory, storeID: testStoreID, keepsPlainFile: true)
            .deflate(1)
    }

    @Test func aFileThatSomebodyReadsIsNotUsedAgain() throws {
        try makeSealedLog()
        let cursor = try EventLogReader("log", fileSystem: disk).events(from: nil)
        #expect(try cursor.next()?.sequence == 1)
        #expect(try deflateFirst())
        var supply = SegmentSupply(directory: directory)
        supply.keep(1)
        #expect(disk.paths(under: "log/spare") == [])
        _ = try supply.fill(size: 600_000, isCancelled: { false })
        var read: UInt64 = 1
        while try cursor.next() != nil { read += 1 }
        #expect(read == 320)
    }

    @Test func aFileThatNobodyReadsIsFilledWithZeros() throws {
        try makeSealedLog()
        let size = try #require(disk.contents(at: firstSegment)).count
        #expect(try deflateFirst())
        var supply = SegmentSupply(directory: directory)
        supply.keep(1)
        #expect(disk.paths(under: "log/spare") == [directory.usedPath(1)])
        let spare = try supply.fill(size: UInt64(size), isCancelled: { false })
        #expect(spare?.sizeBytes == UInt64(size))
        #expect(disk.paths(under: "log/spare") == ["log/spare/1.zero"])
        #expect(disk.contents(at: "log/spare/1.zero") == [UInt8](repeating: 0, count: size))
    }

    @Test func aReaderBetweenOpeningAndLockingLooksOnceMore() throws {
        try makeSealedLog()
        let size = try #require(disk.contents(at: firstSegment)).count
        let isUsed = Monitor(false)
        let hooked = OpenHookedDisk(disk: disk) { [self] path in
            guard path == firstSegment, !isUsed.withLock({ $0 }) else { return }
            isUsed.update { $0 = true }
            var supply = SegmentSupply(directory: directory)
            guard (try? deflateFirst()) == true else { return }
            supply.keep(1)
            _ = try? supply.fill(size: UInt64(size), isCancelled: { false })
        }
        let reader = try EventLogReader("log", fileSystem: hooked)
        #expect(try reader.allEvents() == recorded(1...320, size: 2000))
        #expect(isUsed.withLock { $0 })
        #expect(disk.paths(under: "log/spare") == ["log/spare/1.zero"])
    }
}

/// A disk on which something happens right after a file has been opened for reading.
private struct OpenHookedDisk: WrappedDisk {
    let disk: SimulatedDisk
    let opened: @Sendable (String) -> Void

    func didOpen(_ path: String, _ mode: FileOpenMode) {
        if mode == .read { opened(path) }
    }
}
