import DiskSimulation
import LogTools
import Testing
import Threads

@testable import EventLog

@Suite(.bounded) struct CheckpointFilesTests {
    private let disk = SimulatedDisk()

    private func openLog() throws -> EventLogWriter {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        if log.head.sequence == 0 { try log.appendAndWait(testBatch(1...9)) }
        return log
    }

    private func checkpoint(
        _ sequence: UInt64, foldVersion: UInt32 = 1, size: Int = 100
    ) -> Checkpoint {
        Checkpoint(
            header: Checkpoint.Header(
                sequence: sequence, epoch: 1, foldVersion: foldVersion, stateHash: [1, 2, 3]),
            payload: (0..<size).map { UInt8(truncatingIfNeeded: $0 + Int(sequence)) })
    }

    @Test func theNewestIsReadBackWholeAndOldOnesGo() throws {
        let log = try openLog()
        for sequence in 2...6 as ClosedRange<UInt64> {
            try log.checkpoints.write(checkpoint(sequence), keeping: 2)
        }
        #expect(try log.checkpoints.sequences() == [5, 6])
        let (newest, ignored) = try log.checkpoints.newest(foldVersions: 1...1, through: 9)
        #expect(newest == checkpoint(6))
        #expect(ignored.isEmpty)
        #expect(try log.checkpoints.checkpoint(at: 5) == checkpoint(5))
        log.close()
    }

    @Test func oneOfAnotherFoldVersionIsIgnoredAndSaid() throws {
        let log = try openLog()
        try log.checkpoints.write(checkpoint(3, foldVersion: 1), keeping: 3)
        try log.checkpoints.write(checkpoint(4, foldVersion: 2), keeping: 3)
        let (newest, ignored) = try log.checkpoints.newest(foldVersions: 1...1, through: 9)
        #expect(newest?.header.sequence == 3)
        #expect(ignored.map(\.reason) == ["fold version 2 made it, this is 1"])
        log.close()
    }

    @Test func oneOfEventsThatWereAcknowledgedAndAreGoneIsDamage() throws {
        let log = try openLog()
        try log.checkpoints.write(checkpoint(5), keeping: 3)
        try log.checkpoints.write(checkpoint(10), keeping: 3)
        #expect(
            try log.checkpoints.newest(foldVersions: 1...1, through: 9).checkpoint == checkpoint(5))
        log.close()
        let error = #expect(throws: LogError.self) { try openLog() }
        #expect(error?.damage?.sequence == 10)
        #expect(
            error?.damage?.reason
                == "the log ends with event 9, but there is a checkpoint of the state after event 10"
        )
        #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [error?.damage])
    }

    @Test func oneOfEventsThatAWeakerDurabilityLostIsGoneAfterOpening() throws {
        var options = testOptions()
        options.durability = .batch
        let log = try EventLogWriter.open("log", options: options, fileSystem: disk)
        try log.appendAndWait(testBatch(1...9))
        try log.checkpoints.write(checkpoint(5), keeping: 3)
        try log.checkpoints.write(checkpoint(10), keeping: 3)
        let crashed = disk.crashed(.everything)
        let again = try EventLogWriter.open("log", options: options, fileSystem: crashed)
        #expect(try again.checkpoints.sequences() == [5])
        again.close()
        log.close()
    }

    @Test func olderOnesThatStayAreSpreadOverTheHistory() {
        var kept: [UInt64] = []
        for sequence in stride(from: 100, through: 10_000, by: 100) as StrideThrough<UInt64> {
            kept.append(sequence)
            let gone = CheckpointFiles.unneeded(kept, keeping: 3, older: 5)
            kept.removeAll { gone.contains($0) }
            #expect(kept.count == min(Int(sequence / 100), 8))
        }
        #expect(kept.suffix(3) == [9_800, 9_900, 10_000])
        let gaps = zip([0] + kept, kept + [10_000]).map { $1 - $0 }
        #expect(gaps.max() ?? 0 <= 4_000, "\(kept)")
    }

    /// The states behind it are made of it, and events before it are gone.
    @Test func theStateThatACompactedLogBeginsWithStays() throws {
        try makeLog(events: 100, on: disk)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.checkpoints.write(checkpoint(3), keeping: 3, keepingOlder: 5)
        log.close()
        let report = try LogCompaction("log", fileSystem: disk).run(checkpoint: 3)
        #expect(report.firstSequence == 4)
        let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        for sequence in stride(from: 10, through: 100, by: 10) as StrideThrough<UInt64> {
            try again.checkpoints.write(checkpoint(sequence), keeping: 3, keepingOlder: 5)
            #expect(try again.checkpoints.sequences().first == 3)
        }
        let kept = try again.checkpoints.sequences()
        #expect(kept.count == 8 && kept.suffix(3) == [80, 90, 100])
        again.close()
    }

    /// Where the past is not kept it stays until META names a later one; the states behind it would be damage.
    @Test func theStateThatTheLogBeginsWithGoesWhenTheLogBeginsWithALaterOne() throws {
        try makeLog(events: 40, on: disk)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.checkpoints.write(checkpoint(3), keeping: 2)
        log.close()
        _ = try LogCompaction("log", fileSystem: disk).run(checkpoint: 3)
        let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        defer { again.close() }
        func write(_ sequence: UInt64, leaving sequences: [UInt64]) throws {
            try again.checkpoints.write(checkpoint(sequence), keeping: 2)
            #expect(try again.checkpoints.sequences() == sequences)
            #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [])
        }
        try write(10, leaving: [3, 10])
        try write(20, leaving: [3, 10, 20])
        try write(30, leaving: [3, 20, 30])
        let directory = LogDirectory(path: "log", fileSystem: disk)
        let metadata = try #require(try directory.metadata())
        _ = try directory.dropSegments(
            before: 20, of: testStoreID, recordingIn: MetadataFile(directory, metadata))
        try write(40, leaving: [20, 30, 40])
    }

    @Test func aHalfWrittenCheckpointIsIgnoredWhereverTheCrashWas() throws {
        let log = try openLog()
        try log.checkpoints.write(checkpoint(3), keeping: 2)
        let before = disk.callCount
        try log.checkpoints.write(checkpoint(7), keeping: 2)
        let calls = disk.callCount - before
        log.close()
        for number in 1...calls {
            let disk = SimulatedDisk()
            let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
            try log.appendAndWait(testBatch(1...9))
            try log.checkpoints.write(checkpoint(3), keeping: 2)
            let start = disk.callCount
            disk.setFault { $0.number == start + number ? .powerOff : nil }
            try? log.checkpoints.write(checkpoint(7), keeping: 2)
            let aside = "log/checkpoints/\(UInt64(7).twentyDigits).checkpoint.tmp"
            for survival in [
                SimulatedDisk.Survival.nothing, .everything, .prefix(50, of: aside),
            ] {
                let after = disk.crashed(survival)
                let again = try EventLogWriter.open(
                    "log", options: testOptions(), fileSystem: after)
                let newest = try again.checkpoints.newest(foldVersions: 1...1, through: 9)
                    .checkpoint
                #expect(newest == checkpoint(3) || newest == checkpoint(7))
                again.close()
            }
        }
    }

    @Test func aBitFlipAnywhereInOneMakesItIgnored() throws {
        let log = try openLog()
        try log.checkpoints.write(checkpoint(3), keeping: 3)
        try log.checkpoints.write(checkpoint(7, size: 40), keeping: 3)
        let path = "log/checkpoints/\(UInt64(7).twentyDigits).checkpoint"
        let bytes = try #require(disk.contents(at: path))
        for index in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[index] ^= 1 << bit
                disk.setContents(flipped, at: path)
                let (newest, ignored) = try log.checkpoints.newest(foldVersions: 1...1, through: 9)
                #expect(newest == checkpoint(3), "byte \(index) bit \(bit)")
                #expect(ignored.count == 1)
            }
        }
        log.close()
    }

    @Test func aFullDiskFailsTheCheckpointAndLeavesTheLogAlone() throws {
        let log = try openLog()
        try log.checkpoints.write(checkpoint(3), keeping: 3)
        disk.setCapacity(disk.usedBytes + 50)
        let error = #expect(throws: LogError.self) {
            try log.checkpoints.write(checkpoint(7), keeping: 3)
        }
        #expect(error?.code == .storageFull)
        #expect(disk.paths(under: "log/checkpoints").count == 1)
        disk.setCapacity(.max)
        try log.appendAndWait(testBatch(10...10))
        log.close()
    }

    /// A server that writes a new one removes an old one that a reader has just seen.
    @Test func oneThatIsRemovedMeanwhileIsPassedOver() throws {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        defer { log.close() }
        try log.appendAndWait(testBatch(1...9))
        for sequence: UInt64 in [3, 5] {
            try log.checkpoints.write(checkpoint(sequence), keeping: 3)
        }
        let missing = Monitor(1)
        func lose(_ sequences: [UInt64], times: Int) {
            missing.update { $0 = times }
            disk.setFault { call in
                guard call.name == "open",
                    sequences.contains(where: { call.path.hasSuffix("\($0).checkpoint") })
                else { return nil }
                return missing.update { count in
                    count -= 1
                    return count >= 0 ? .error(SimulatedDisk.noEntry) : nil
                }
            }
        }
        lose([5], times: 1)
        let (newest, ignored) = try log.checkpoints.newest(foldVersions: 1...1, through: 9)
        #expect(newest == checkpoint(3) && ignored.isEmpty)
        lose([3, 5], times: 2)
        #expect(
            try log.checkpoints.newest(foldVersions: 1...1, through: 9).checkpoint == checkpoint(5))
        lose([5], times: 1)
        let error = #expect(throws: LogError.self) { try log.checkpoints.checkpoint(at: 5) }
        #expect(error?.code == .outOfRange)
    }
}
