import BoundedTesting
import DiskSimulation
import Testing

@testable import EventLog

/// One property under every fault: what was acknowledged is there, in order, once; or the log
/// refuses to open and says where. Never silently anything else.
@Suite(.bounded) struct FaultInjectionTests {
    /// A life of a log: opened, appended to over several segments, closed, opened, appended to.
    ///
    /// Ends early when the disk fails.
    /// - Returns: how many events were acknowledged.
    private func live(on disk: SimulatedDisk) -> UInt64 {
        var acknowledged: UInt64 = 0
        for sizes in [[1, 3, 2], [1, 1, 4, 1]] {
            guard
                let log = try? EventLogWriter.open(
                    "log", options: testOptions(segmentSize: 700), fileSystem: disk)
            else { return acknowledged }
            for size in sizes {
                let next = log.nextSequence
                let batch = testBatch(next...next + UInt64(size) - 1, size: 60)
                guard let range = try? log.appendAndWait(batch) else { break }
                acknowledged = range.upperBound
            }
            log.close()
        }
        return acknowledged
    }

    private func wholeLife() -> (calls: Int, events: UInt64) {
        let disk = SimulatedDisk()
        let events = live(on: disk)
        return (disk.callCount, events)
    }

    private func expectAcknowledgedEvents(
        _ acknowledged: UInt64, on disk: SimulatedDisk, _ comment: Comment
    ) throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 700), fileSystem: disk)
        let head = log.head.sequence
        #expect(head >= acknowledged, comment)
        // It goes on from there.
        try log.appendAndWait(testBatch(head + 1...head + 2, size: 60))
        log.close()
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...head + 2, size: 60), comment)
    }

    @Test func shortWritesAreContinued() throws {
        for most in [1, 7, 64] {
            let disk = SimulatedDisk()
            disk.setFault { $0.name == "pwrite" ? .short(most) : nil }
            #expect(live(on: disk) == 13)
            disk.setFault(nil)
            try expectAcknowledgedEvents(13, on: disk, "at most \(most) bytes a write")
        }
    }

    @Test func anInputOutputErrorAtEveryCallLosesNothingAcknowledged() throws {
        for number in 1...wholeLife().calls {
            let disk = SimulatedDisk()
            disk.setFault { $0.number == number ? .error(SimulatedDisk.inputOutput) : nil }
            let acknowledged = live(on: disk)
            disk.setFault(nil)
            try expectAcknowledgedEvents(acknowledged, on: disk, "error at call \(number)")
        }
    }

    @Test func aCrashAtEveryCallLosesNothingAcknowledged() throws {
        for number in 1...wholeLife().calls {
            let disk = SimulatedDisk()
            disk.setFault { $0.number == number ? .powerOff : nil }
            let acknowledged = live(on: disk)
            var survivals: [(SimulatedDisk.Survival, Comment)] = [
                (.nothing, "crash at call \(number), nothing unsynced kept"),
                (.everything, "crash at call \(number), everything kept"),
            ]
            for seed in 0..<4 as Range<UInt64> {
                let generator = SeededGenerator(seed: seed << 32 + UInt64(number))
                survivals.append(
                    (.random(generator), "crash at call \(number), survival seed \(seed)"))
            }
            for (survival, comment) in survivals {
                try expectAcknowledgedEvents(
                    acknowledged, on: disk.crashed(survival), comment)
            }
        }
    }

    @Test func aCrashDuringRecoveryIsRecoveredFrom() throws {
        let disk = SimulatedDisk()
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.appendAndWait(testBatch(1...3, size: 60))
        disk.setFault { $0.name == "fdatasync" ? .powerOff : nil }
        #expect(throws: LogError.self) { try log.appendAndWait(testBatch(4...6, size: 60)) }
        let torn = disk.crashed(.prefix(200, of: firstSegment))
        let calls: Int = try {
            let disk = torn.copy()
            try EventLogWriter.open("log", options: testOptions(), fileSystem: disk).close()
            return disk.callCount
        }()
        for number in 1...calls {
            for survival in [
                SimulatedDisk.Survival.nothing, .everything, .prefix(100, of: firstSegment),
            ] {
                let disk = torn.copy()
                disk.setFault { $0.number == number ? .powerOff : nil }
                try? EventLogWriter.open("log", options: testOptions(), fileSystem: disk).close()
                try expectAcknowledgedEvents(
                    3, on: disk.crashed(survival), "second crash at call \(number)")
            }
        }
    }

    @Test func aWriteTornAtEveryByteIsCutAndTheRestSurvives() throws {
        let disk = SimulatedDisk()
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.appendAndWait(testBatch(1...3, size: 60))
        disk.setFault { $0.name == "fdatasync" ? .powerOff : nil }
        let batch = testBatch(4...9, size: 200)
        #expect(throws: LogError.self) { try log.appendAndWait(batch) }
        let size = FrameLayout.size(payload: batch.bytes.count)
        #expect(size > 1024)
        for kept in 0...size {
            let disk = disk.crashed(.prefix(kept, of: firstSegment))
            let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
            #expect(log.head.sequence == (kept == size ? 9 : 3), "\(kept) of \(size) bytes kept")
            #expect((log.recovery.tornTail != nil) == (0 < kept && kept < size))
            log.close()
        }
    }

    @Test func aBitFlipAtEveryByteOfAClosedLogIsRefusedOrHarmless() throws {
        let disk = SimulatedDisk()
        let acknowledged = live(on: disk)
        try flipEveryBit(of: disk, acknowledged: acknowledged)
    }

    @Test func aBitFlipAtEveryByteOfACrashedLogIsRefusedOrHarmless() throws {
        let disk = SimulatedDisk()
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 700), fileSystem: disk)
        for number in 1...7 as ClosedRange<UInt64> {
            try log.appendAndWait(testBatch(number...number, size: 60))
        }
        try flipEveryBit(of: disk.crashed(.nothing), acknowledged: 7)
        log.close()
    }

    private func flipEveryBit(of original: SimulatedDisk, acknowledged: UInt64) throws {
        let paths = original.paths(under: "log").filter { !$0.hasSuffix("LOCK") }
        #expect(paths.count > 2)
        for path in paths {
            let bytes = try #require(original.contents(at: path))
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1 << (index % 8)
                let disk = original.copy()
                disk.setContents(flipped, at: path)
                let comment = Comment(rawValue: "\(path), byte \(index)")
                do {
                    let log = try EventLogWriter.open(
                        "log", options: testOptions(), fileSystem: disk)
                    let head = log.head.sequence
                    log.close()
                    #expect(head >= acknowledged, comment)
                    let events = try EventLogReader("log", fileSystem: disk).allEvents()
                    #expect(events == recorded(1...head, size: 60), comment)
                } catch let error as LogError {
                    #expect([.damaged, .futureVersion].contains(error.code), comment)
                    #expect(error.message.contains("log/"), comment)
                }
            }
        }
    }
}
