import DiskSimulation
import LogTools
import Testing
import Threads

@testable import EventLog

@Suite(.bounded) struct LogVerificationTests {
    private let disk = SimulatedDisk()

    @Test func anIntactLogIsCountedAndItsHistoryNamed() throws {
        try makeLog(events: 20, on: disk)
        let reader = try EventLogReader("log", fileSystem: disk)
        let progress = Monitor<[UInt64]>([])
        let found = try reader.verify { done, _ in progress.withLock { $0.append(done) } }
        #expect(found.isIntact)
        #expect(found.sequences == 1...20)
        #expect(found.events == 20)
        #expect(found.segments == disk.segments.count)
        #expect(try found.head == reader.head())
        #expect(!progress.withLock { $0.isEmpty })
    }

    @Test func theHeadHashDependsOnEveryEventAndNotOnClosing() throws {
        try makeLog(events: 3, on: disk)
        let hash = try EventLogReader("log", fileSystem: disk).head().hash
        try EventLogWriter.open("log", options: testOptions(), fileSystem: disk).close()
        #expect(try EventLogReader("log", fileSystem: disk).head().hash == hash)
        let other = SimulatedDisk()
        try makeLog(events: 3, size: 61, on: other)
        #expect(try EventLogReader("log", fileSystem: other).head().hash != hash)
    }

    @Test func anEventRewrittenWithRightChecksumsIsFoundByTheChain() throws {
        try makeLog(events: 3, segmentSize: 4096, on: disk)
        var bytes = try #require(disk.contents(at: firstSegment))
        // Another payload in the first frame, with both checksums computed anew.
        bytes[96 + 72 + 16] ^= 1
        bytes.withUnsafeMutableBytes { buffer in
            let frame = UnsafeMutableRawBufferPointer(rebasing: buffer[96...])
            let length = Int(UnsafeRawBufferPointer(frame).littleEndian(UInt32.self, at: 4))
            let payload = UnsafeRawBufferPointer(frame).part(72..<72 + length)
            frame.storeLittleEndian(Checksum.crc32(payload), at: 64)
            FrameHeader.seal(frame)
        }
        disk.setContents(bytes, at: firstSegment)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents().count == 3)
        let damages = try reader.verify().damages
        #expect(
            damages.map(\.reason)
                == ["the frame's chain hash does not follow from what comes before it"])
        #expect(damages.map(\.sequence) == [1])
    }

    private func damages() throws -> [String] {
        try EventLogReader("log", fileSystem: disk).verify().damages.map(\.reason)
    }

    @Test func aMissingFirstSegmentIsMissed() throws {
        try makeLog(events: 20, on: disk)
        let second = disk.segments[1]
        try disk.remove(firstSegment)
        #expect(
            try damages() == [
                "events 1 to \(second - 1) are missing, with which META says that the log begins",
                "the log begins with event \(second), and there is no checkpoint that is good of "
                    + "the state before it",
            ])
        #expect(throws: LogError.self) {
            try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        }
    }

    @Test func missingLastEventsAreMissedAndAStartRefuses() throws {
        try makeLog(events: 20, segmentSize: 4096, on: disk)
        var bytes = try #require(disk.contents(at: firstSegment))
        // The last event, and the mark behind it.
        let cut =
            FrameLayout.size(payload: testBatch(20...20, size: 60).bytes.count)
            + FrameLayout.size(payload: 0)
        bytes.removeLast(cut)
        disk.setContents(bytes, at: firstSegment)
        #expect(
            try damages() == ["the log ends with event 19, but META says that event 20 was written"]
        )
        let error = #expect(throws: LogError.self) {
            try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        }
        #expect(error?.damage?.sequence == 20)
        #expect(disk.contents(at: firstSegment) == bytes)
    }

    @Test func ofALogThatWasNotClosedItIsSaidWhatCannotBeKnown() throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 4096), fileSystem: disk)
        try log.appendAndWait(testBatch(1...3, size: 60))
        let open = try EventLogReader("log", fileSystem: disk).verify()
        #expect(open.isIntact)
        #expect(open.certainThrough == 0)
        #expect(
            open.unknowns == [
                "Whether there were events after 3: the log is open, or was not closed properly. "
                    + "No event is recorded anywhere else."
            ])
        log.close()
        let closed = try EventLogReader("log", fileSystem: disk).verify()
        #expect(closed.unknowns == [] && closed.certainThrough == 3)
    }

    @Test func aDamagedCheckpointIsFound() throws {
        try makeLog(events: 5, on: disk)
        let header = Checkpoint.Header(sequence: 3, epoch: 1, foldVersion: 1, stateHash: [7])
        try CheckpointFiles(LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID)
            .write(Checkpoint(header: header, payload: [1, 2, 3]), keeping: 5)
        #expect(try damages() == [])
        let path = "log/checkpoints/\(UInt64(3).twentyDigits).checkpoint"
        let size = try #require(disk.contents(at: path)).count
        for byte in 0..<size {
            let disk = disk.copy()
            disk.flipBit(byte % 8, ofByte: byte, in: path)
            let found = try EventLogReader("log", fileSystem: disk).verify().damages
            #expect(found.count == 1, "byte \(byte)")
            #expect(found.first?.reason.hasPrefix("the checkpoint cannot be used: ") == true)
        }
        disk.flipBit(ofByte: 97, in: path)
        #expect(
            try damages()
                == ["the checkpoint cannot be used: its state does not match its checksum"])
    }

    @Test func aMissingLastSegmentIsMissedBehindDamageToo() throws {
        try makeLog(events: 20, on: disk)
        let segments = disk.segments
        try disk.remove("log/segments/\(segments[segments.count - 1].twentyDigits).log")
        let before = "log/segments/\(segments[segments.count - 2].twentyDigits).log"
        disk.flipBit(ofByte: 200, in: before)
        #expect(
            try damages() == [
                "the frame's events do not match their checksum",
                "the segment is missing, which META says was the last",
            ])
        // META says that nothing followed event 20.
        #expect(try EventLogReader("log", fileSystem: disk).verify().unknowns == [])
    }

    @Test func aMissingCheckpointWithWhichTheLogBeginsIsDamageAndARepairBeginsLater() throws {
        try makeLog(events: 30, on: disk)
        let files = CheckpointFiles(
            LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID)
        for sequence in [17, 25] as [UInt64] {
            let header = Checkpoint.Header(
                sequence: sequence, epoch: 1, foldVersion: 1, stateHash: [])
            try files.write(Checkpoint(header: header, payload: [1]), keeping: 5)
        }
        _ = try LogCompaction("log", fileSystem: disk).run(checkpoint: 17)
        #expect(try EventLogReader("log", fileSystem: disk).verify().unknowns == [])
        try disk.remove("log/checkpoints/\(UInt64(17).twentyDigits).checkpoint")
        let found = try EventLogReader("log", fileSystem: disk).verify()
        #expect(
            found.damages.map(\.reason) == [
                "the checkpoint is missing, with which META says that the log begins, so that no state "
                    + "before event 25 can be rebuilt"
            ])
        #expect(
            found.damages.map(\.file) == ["log/checkpoints/\(UInt64(17).twentyDigits).checkpoint"])
        #expect(found.unknowns == [])
        // A start takes the later one.
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        log.close()
        #expect(try LogRepair("log", fileSystem: disk).run().checkpoint == 25)
        #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [])
    }

    /// Of a checkpoint that is there and that this program cannot use it is not known what it holds.
    @Test func theFirstCheckpointOfAnotherFoldIsNoDamage() throws {
        try makeLog(events: 30, on: disk)
        let files = CheckpointFiles(
            LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID)
        for sequence in [17, 25] as [UInt64] {
            let header = Checkpoint.Header(
                sequence: sequence, epoch: 1, foldVersion: sequence == 17 ? 9 : 1, stateHash: [])
            try files.write(Checkpoint(header: header, payload: [1]), keeping: 5)
        }
        _ = try LogCompaction("log", fileSystem: disk).run(checkpoint: 17)
        let found = try EventLogReader("log", fileSystem: disk).verify(judge: { checkpoint in
            checkpoint.header.foldVersion == 1 ? .usable : .otherVersion(9)
        })
        #expect(found.damages.map(\.reason) == [])
        #expect(
            found.unknowns == [
                "What the states before event 25 were: the checkpoint at event 17, with which the log "
                    + "begins, cannot be used.",
                "What the checkpoint at event 17 holds: version 9 of the fold made it.",
            ])
    }

    @Test func everyFlippedBitOfTheEventsIsFoundWhereverItIs() throws {
        try makeLog(events: 12, on: disk)
        for segment in disk.segments.dropLast() {
            let path = "log/segments/\(segment.twentyDigits).log"
            let size = try #require(disk.contents(at: path)).count
            for offset in stride(from: 0, to: size, by: 13) {
                let disk = disk.copy()
                disk.flipBit(offset % 8, ofByte: offset, in: path)
                let reader = try EventLogReader("log", fileSystem: disk)
                let damages = try? reader.verify().damages
                #expect(damages?.isEmpty != true, "\(path) byte \(offset)")
            }
        }
    }
}

@Suite(.bounded) struct LogRepairTests {
    private let disk = SimulatedDisk()

    private func repair() throws -> RepairReport {
        try LogRepair("log", fileSystem: disk).run()
    }

    private func expectLog(through last: UInt64, epoch: UInt32) throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 700), fileSystem: disk)
        #expect(log.head.sequence == last)
        #expect(log.metadata.epoch == epoch)
        try log.appendAndWait(testBatch(last + 1...last + 3, size: 60))
        log.close()
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...last + 3, size: 60))
        #expect(try reader.verify().damages == [])
    }

    @Test func anIntactLogIsLeftAlone() throws {
        try makeLog(events: 9, on: disk)
        let before = disk.paths(under: "log/segments").map { disk.contents(at: $0) }
        let report = try repair()
        #expect(report.epoch == nil)
        #expect(report.sentences == ["The log is not damaged; nothing was changed."])
        #expect(try LogRepair("log", fileSystem: disk).plan().epoch == nil)
        #expect(disk.paths(under: "log/segments").map { disk.contents(at: $0) } == before)
    }

    @Test func interiorDamageIsCutAndEverythingTakenOutIsKept() throws {
        try makeLog(events: 20, on: disk)
        let second = disk.segments[1]
        let path = "log/segments/\(second.twentyDigits).log"
        let frame = FrameLayout.size(payload: testBatch(1...1, size: 60).bytes.count)
        disk.flipBit(ofByte: 96 + frame + 80, in: path)
        let damaged = try #require(disk.contents(at: path))
        let laterSegments = disk.segments.dropFirst(2)
        let report = try repair()
        #expect(report.damage?.sequence == second + 1)
        #expect(report.lastSequence == second)
        #expect(report.lost == second + 1...20)
        #expect(report.epoch == 2)
        #expect(disk.contents(at: path + ".torn") == damaged)
        #expect(report.copies.count == laterSegments.count + 1)
        try expectLog(through: second, epoch: 2)
    }

    @Test func aDamagedHeaderIsWrittenAnewAndCostsNoEvent() throws {
        try makeLog(events: 20, on: disk)
        for segment in disk.segments.prefix(2) {
            disk.flipBit(ofByte: 60, in: "log/segments/\(segment.twentyDigits).log")
            let report = try repair()
            #expect(report.lost == nil && report.forgotten == nil)
            #expect(report.rebuilt.count == 1)
        }
        try expectLog(through: 20, epoch: 3)
    }

    @Test func aMissingOrDamagedMetaIsWrittenAnew() throws {
        try makeLog(events: 5, on: disk)
        try disk.remove("log/META")
        #expect(try repair().rebuilt == ["log/META"])
        disk.flipBit(ofByte: 20, in: "log/META")
        let damaged = disk.contents(at: "log/META")
        let report = try repair()
        #expect(report.rebuilt == ["log/META"] && report.copies == ["log/META.torn"])
        #expect(disk.contents(at: "log/META.torn") == damaged)
        try expectLog(through: 5, epoch: 3)
    }

    /// Cursors of an epoch that only META had are void after a repair. A number that no log comes to must not use
    /// up those that there are.
    @Test(
        arguments: [
            ("7", 8), ("1073741823", 1_073_741_824), ("1073741824", 2), ("2147483647", 2),
            ("4294967296", 2), ("-3", 2), ("", 2), ("7\nepoch 9", 10), ("7 ", 2),
        ] as [(String, UInt32)])
    func theEpochIsAboveTheOneThatADamagedMetaSays(_ epoch: String, _ new: UInt32) throws {
        try makeLog(events: 5, on: disk)
        let text = String(decoding: disk.contents(at: "log/META") ?? [], as: UTF8.self)
        disk.setContents(
            Array(text.replacing("epoch 1\n", with: "epoch \(epoch)\n").utf8), at: "log/META")
        #expect(try repair().epoch == new)
        try expectLog(through: 5, epoch: new)
    }

    /// Written with a higher one, nobody could read it any more.
    @Test func aLogWithTheLastEpochIsGivenNoOther() throws {
        try makeLog(events: 20, on: disk)
        let directory = LogDirectory(path: "log", fileSystem: disk)
        var metadata = try #require(try directory.metadata())
        metadata.epoch = LogMetadata.largestEpoch
        metadata.acknowledgesEarly = true
        try directory.write(metadata)
        #expect(try repair().epoch == nil)
        disk.flipBit(ofByte: 200, in: "log/segments/\(disk.segments[1].twentyDigits).log")
        let files = { disk.paths(under: "log").map { disk.contents(at: $0) } }
        let before = files()
        let attempts: [() throws -> Void] = [
            { _ = try repair() },
            { _ = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk) },
            { try EventLogReader("log", fileSystem: disk).fork(through: 2, into: "copy") },
        ]
        for attempt in attempts {
            let error = #expect(throws: LogError.self) { try attempt() }
            #expect(
                error?.message == "The log in log has the last epoch, 2147483647, and would need "
                    + "another. Nothing was changed; `relay log export` and `import` make a new log "
                    + "of it.")
        }
        #expect(files() == before && disk.paths(under: "copy") == [])
    }

    @Test func aMissingSegmentCutsTheLogThere() throws {
        try makeLog(events: 30, on: disk)
        let segments = disk.segments
        try disk.remove("log/segments/\(segments[2].twentyDigits).log")
        let report = try repair()
        #expect(report.lastSequence == segments[2] - 1)
        try expectLog(through: segments[2] - 1, epoch: 2)
    }

    private func writeCheckpoint(_ sequence: UInt64, epoch: UInt32 = 1) throws {
        let header = Checkpoint.Header(
            sequence: sequence, epoch: epoch, foldVersion: 1, stateHash: [7])
        try CheckpointFiles(LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID)
            .write(Checkpoint(header: header, payload: [1]), keeping: 5)
    }

    @Test func checkpointsBehindTheCutAreMovedAside() throws {
        try makeLog(events: 20, on: disk)
        for sequence in [2, 15] as [UInt64] { try writeCheckpoint(sequence) }
        let second = disk.segments[1]
        disk.flipBit(ofByte: 200, in: "log/segments/\(second.twentyDigits).log")
        let repair = LogRepair("log", fileSystem: disk) {
            $0.header.sequence == 15 ? .otherVersion(9) : .usable
        }
        let plan = try repair.plan()
        let report = try repair.run()
        #expect(report.lost == second...20)
        #expect(report.copies == plan.copies)
        let checkpoint = "log/checkpoints/\(UInt64(15).twentyDigits).checkpoint"
        #expect(disk.contents(at: checkpoint) == nil)
        #expect(disk.contents(at: checkpoint + ".torn") != nil)
    }

    /// What loses the fewest changes may make the most events unreadable.
    @Test(arguments: RepairGoal.allCases)
    func theOperatorChoosesBetweenTheNewestStateAndTheLongestHistory(_ goal: RepairGoal) throws {
        try makeLog(events: 20, on: disk)
        try writeCheckpoint(19)
        let damaged = try #require(disk.segments.dropLast().last)
        disk.flipBit(ofByte: 200, in: "log/segments/\(damaged.twentyDigits).log")
        let repair = LogRepair("log", keeping: goal, fileSystem: disk)
        let (plan, other) = (
            try repair.plan(),
            try LogRepair(
                "log", keeping: goal == .state ? .history : .state, fileSystem: disk
            ).plan()
        )
        let alternative = try #require(plan.alternative)
        #expect(alternative.goal != goal && alternative.firstSequence == other.firstSequence)
        #expect(alternative.lastSequence == other.lastSequence)
        #expect(alternative.checkpoint == other.checkpoint)
        switch goal {
        case .state:
            #expect(plan.lost == nil && plan.lastSequence == 20 && plan.checkpoint == 19)
            #expect(plan.forgotten == 1...plan.firstSequence - 1)
            #expect(
                plan.sentences.contains(
                    "With --keep history it would keep events 1 to \(damaged - 1)."))
        case .history:
            #expect(plan.firstSequence == 1 && plan.lastSequence == damaged - 1)
            #expect(plan.lost == damaged...20 && plan.forgotten == nil && plan.checkpoint == nil)
        }
        let report = try repair.run()
        #expect(report.copies == plan.copies && report.lastSequence == plan.lastSequence)
        let found = try EventLogReader("log", fileSystem: disk).verify()
        #expect(found.damages == [] && found.head.sequence == plan.lastSequence)
        try expectNextEvent(plan.lastSequence + 1, in: disk)
    }

    @Test func aLaterGoodCheckpointSavesEverythingBehindTheDamage() throws {
        try makeLog(events: 20, on: disk)
        try writeCheckpoint(15)
        let second = disk.segments[1]
        disk.flipBit(ofByte: 200, in: "log/segments/\(second.twentyDigits).log")
        let repair = LogRepair("log", fileSystem: disk)
        let before = disk.paths(under: "log").map { disk.contents(at: $0) }
        let plan = try repair.plan()
        #expect(disk.paths(under: "log").map { disk.contents(at: $0) } == before)
        #expect(plan.lost == nil)
        #expect(plan.forgotten == 1...second)
        #expect(plan.firstSequence == second + 1)
        #expect(plan.lastSequence == 20)
        #expect(plan.checkpoint == 15)
        let path = "log/segments/\(second.twentyDigits).log"
        #expect(
            plan.sentences.dropFirst() == [
                "Would keep events \(second + 1) to 20, and the state after event 15, which a "
                    + "checkpoint holds.",
                "Events 1 to \(second) could no longer be read; what they changed stays.",
                "Would rewrite log/segments/\((second + 1).twentyDigits).log.",
                "Would rewrite log/segments/\(disk.segments[2].twentyDigits).log.",
                "What is removed would be kept in \(path).torn, \(firstSegment).torn.",
                "The epoch would be 2.", "Nothing was changed.",
            ])
        let report = try repair.run()
        #expect(report.forgotten == plan.forgotten && report.copies == plan.copies)
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 700), fileSystem: disk)
        #expect(log.head.sequence == 20 && log.metadata.epoch == 2)
        try log.appendAndWait(testBatch(21...23, size: 60))
        log.close()
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(second + 1...23, size: 60))
        #expect(try reader.verify().damages == [])
    }

    @Test func aCheckpointAloneIsWhatALogCanGoOnFrom() throws {
        try makeLog(events: 5, segmentSize: 4096, on: disk)
        try writeCheckpoint(5)
        try disk.remove(firstSegment)
        disk.setContents([1, 2, 3], at: firstSegment)
        let report = try repair()
        #expect(report.lastSequence == 5 && report.lost == nil && report.forgotten == 1...5)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.head.sequence == 5)
        try log.appendAndWait(testBatch(6...6, size: 60))
        log.close()
        #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [])
    }

    /// The new segment gets the name of the one that is damaged, which may be all that is left of its events.
    @Test func whatANewSegmentTakesTheNameOfIsKept() throws {
        try makeLog(events: 5, segmentSize: 4096, on: disk)
        try writeCheckpoint(5)
        _ = try LogCompaction("log", fileSystem: disk).run(checkpoint: 5)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        for number in 6...8 as ClosedRange<UInt64> {
            try log.appendAndWait(testBatch(number...number, size: 60))
        }
        log.close()
        let path = "log/segments/\(UInt64(6).twentyDigits).log"
        disk.flipBit(ofByte: 200, in: path)
        let bytes = try #require(disk.contents(at: path))
        let damaged = disk.copy()
        let plan = try LogRepair("log", fileSystem: disk).plan()
        let report = try repair()
        #expect(report.lost == 6...8 && report.lost == plan.lost)
        #expect(report.copies == [path + ".torn"] && report.copies == plan.copies)
        #expect(disk.contents(at: path + ".torn") == bytes)
        try expectNextEvent(6, in: disk)
        let calls: Int = try {
            let disk = damaged.copy()
            _ = try LogRepair("log", fileSystem: disk).run()
            return disk.callCount
        }()
        for number in 1...calls {
            let disk = damaged.copy()
            disk.setFault { $0.number == number ? .powerOff : nil }
            _ = try? LogRepair("log", fileSystem: disk).run()
            for survival in [SimulatedDisk.Survival.nothing, .everything] {
                let after = disk.crashed(survival)
                _ = try LogRepair("log", fileSystem: after).run()
                let kept = after.paths(under: "log/segments").contains {
                    after.contents(at: $0) == bytes
                }
                #expect(kept, "crash at call \(number)")
                try expectNextEvent(6, in: after)
            }
        }
    }

    private func expectNextEvent(_ next: UInt64, in disk: SimulatedDisk) throws {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.nextSequence == next)
        try log.appendAndWait(testBatch(next...next, size: 60))
        log.close()
        #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [])
    }

    @Test func aCheckpointIsEnoughWhenAllSegmentsAreGone() throws {
        try makeLog(events: 5, segmentSize: 4096, on: disk)
        try writeCheckpoint(4)
        try disk.remove(firstSegment)
        let plan = try LogRepair("log", fileSystem: disk).plan()
        let report = try repair()
        #expect(plan.lost == report.lost && report.lost == 5...5)
        #expect(report.damages.map(\.reason) == ["all segments are missing"])
        #expect(report.checkpoint == 4 && report.forgotten == 1...4)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.head.sequence == 4)
        try log.appendAndWait(testBatch(5...5, size: 60))
        log.close()
        #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [])
    }

    @Test(arguments: [true, false])
    func aCheckpointIsEnoughWhenMetaIsGoneToo(_ isDamaged: Bool) throws {
        try makeLog(events: 5, segmentSize: 4096, on: disk)
        try writeCheckpoint(3, epoch: 4)
        try writeCheckpoint(4, epoch: 6)
        disk.flipBit(ofByte: 90, in: "log/checkpoints/\(UInt64(4).twentyDigits).checkpoint")
        try disk.remove(firstSegment)
        if isDamaged {
            disk.flipBit(ofByte: 20, in: "log/META")
        } else {
            try disk.remove("log/META")
        }
        let report = try repair()
        #expect(report.checkpoint == 3 && report.rebuilt.first == "log/META")
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.head.sequence == 3 && log.metadata.storeID == testStoreID)
        #expect(log.metadata.epoch == 5)
        log.close()
        #expect(try EventLogReader("log", fileSystem: disk).verify().damages == [])
    }

    @Test func withoutSegmentsAndCheckpointsNothingCanBeKept() throws {
        try makeLog(events: 5, segmentSize: 4096, on: disk)
        try disk.remove(firstSegment)
        let error = #expect(throws: LogError.self) { try repair() }
        #expect(error?.code == .damaged)
    }

    @Test func anEndThatIsMissingIsTakenAsItIsAndSaid() throws {
        try makeLog(events: 20, on: disk)
        let last = try #require(disk.segments.last)
        try disk.remove("log/segments/\(last.twentyDigits).log")
        let report = try repair()
        #expect(report.lost == last...20)
        #expect(
            report.damage?.reason
                == "the log ends with event \(last - 1), but META says that event 20 was written")
        try expectLog(through: last - 1, epoch: 2)
    }

    @Test func anUnfinishedFrameIsTakenOutWithTheEventsThatAreMissing() throws {
        try makeLog(events: 20, segmentSize: 4096, on: disk)
        let frame = FrameLayout.size(payload: testBatch(20...20, size: 60).bytes.count)
        var bytes = try #require(disk.contents(at: firstSegment))
        // The closing frame, and a piece of the last.
        bytes.removeLast(FrameLayout.size(payload: 0) + frame / 2)
        disk.setContents(bytes, at: firstSegment)
        let plan = try LogRepair("log", fileSystem: disk).plan()
        let report = try repair()
        #expect(report.lost == 20...20 && report.copies == plan.copies)
        #expect(report.copies == [firstSegment + ".torn"])
        #expect(disk.contents(at: firstSegment + ".torn") == bytes)
        #expect(try EventLogReader("log", fileSystem: disk).verify().tornBytes == 0)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.recovery.sentences == [])
        log.close()
        try expectLog(through: 19, epoch: 2)
    }

    @Test func aLogThatStillBeginsWithEventOneNamesNoCheckpoint() throws {
        try makeLog(events: 20, on: disk)
        try writeCheckpoint(2)
        let last = try #require(disk.segments.last)
        try disk.remove("log/segments/\(last.twentyDigits).log")
        #expect(try repair().checkpoint == nil)
        #expect(try EventLogReader("log", fileSystem: disk).metadata.beginning == .genesis)
    }

    @Test func damageBeforeTheFirstEventLeavesNothingToKeepAndChangesNothing() throws {
        try makeLog(events: 3, segmentSize: 4096, on: disk)
        disk.flipBit(ofByte: 200, in: firstSegment)
        let before = disk.contents(at: firstSegment)
        let error = #expect(throws: LogError.self) { try repair() }
        #expect(error?.code == .damaged)
        #expect(disk.contents(at: firstSegment) == before)
    }

    /// With a right checksum. The frames in it have the right one, so they stay.
    @Test func aSegmentWhoseHeaderHasAnEarlierEpochIsRepaired() throws {
        try makeLog(events: 20, on: disk)
        let directory = LogDirectory(path: "log", fileSystem: disk)
        let path = directory.segmentPath(disk.segments[1])
        var bytes = try #require(disk.contents(at: path))
        var header = try SegmentHeader.read(bytes)
        header.epoch = 0
        bytes.replaceSubrange(..<SegmentHeader.size, with: header.encoded())
        disk.setContents(bytes, at: path)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.verify().damages.map(\.file) == [path])
        #expect(try repair().lost == nil)
        #expect(try reader.verify().damages == [])
        #expect(try reader.allEvents() == recorded(1...20, size: 60))
    }

    @Test func aCrashDuringRepairCanBeRepaired() throws {
        try makeLog(events: 20, on: disk)
        let second = disk.segments[1]
        disk.flipBit(ofByte: 300, in: "log/segments/\(second.twentyDigits).log")
        let calls: Int = try {
            let disk = disk.copy()
            _ = try LogRepair("log", fileSystem: disk).run()
            return disk.callCount
        }()
        for number in 1...calls {
            let disk = disk.copy()
            disk.setFault { $0.number == number ? .powerOff : nil }
            _ = try? LogRepair("log", fileSystem: disk).run()
            for survival in [SimulatedDisk.Survival.nothing, .everything] {
                let after = disk.crashed(survival)
                _ = try LogRepair("log", fileSystem: after).run()
                let reader = try EventLogReader("log", fileSystem: after)
                let events = try reader.allEvents()
                #expect(events.count >= Int(second) - 1, "crash at call \(number)")
                #expect(events == recorded(1...UInt64(events.count), size: 60))
            }
        }
    }

    /// With one segment only, the damaged one is the last.
    @Test(arguments: [700, 1 << 16] as [UInt64])
    func aCrashDuringARepairThatBeginsLaterLosesNoMoreThanItsPlan(_ segmentSize: UInt64) throws {
        try makeLog(events: 30, segmentSize: segmentSize, on: disk)
        try writeCheckpoint(15)
        let damaged = segmentSize > 700 ? 1 : disk.segments[1]
        disk.flipBit(ofByte: 200, in: "log/segments/\(damaged.twentyDigits).log")
        let (calls, plan): (Int, RepairReport) = try {
            let disk = disk.copy()
            let report = try LogRepair("log", fileSystem: disk).run()
            return (disk.callCount, report)
        }()
        #expect(plan.lost == nil && plan.firstSequence == damaged + 1)
        for number in 1...calls {
            let disk = disk.copy()
            disk.setFault { $0.number == number ? .powerOff : nil }
            _ = try? LogRepair("log", fileSystem: disk).run()
            for survival in [SimulatedDisk.Survival.nothing, .everything] {
                let after = disk.crashed(survival)
                let again = try LogRepair("log", fileSystem: after).run()
                #expect(again.lost == nil, "crash at call \(number)")
                let reader = try EventLogReader("log", fileSystem: after)
                #expect(
                    try reader.allEvents() == recorded(damaged + 1...30, size: 60),
                    "crash at call \(number)")
                #expect(try reader.verify().damages == [], "crash at call \(number)")
            }
        }
    }

    @Test func repairIsRefusedWhileAWriterIsAtWork() throws {
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        let error = #expect(throws: LogError.self) { try repair() }
        #expect(error?.code == .locked)
        log.close()
    }
}

@Suite(.bounded) struct LogForkTests {
    private let disk = SimulatedDisk()

    @Test func aForkHasTheBeginningAHigherEpochAndGoesItsOwnWay() throws {
        try makeLog(events: 20, on: disk)
        let reader = try EventLogReader("log", fileSystem: disk)
        for sequence in 0...20 as ClosedRange<UInt64> {
            let path = "fork \(sequence)"
            try reader.fork(through: sequence, into: path)
            let log = try EventLogWriter.open(path, options: testOptions(), fileSystem: disk)
            #expect(log.head.sequence == sequence)
            #expect(log.metadata.epoch == 2)
            #expect(log.metadata.storeID == testStoreID)
            try log.appendAndWait(testBatch(sequence + 1...sequence + 2, size: 60))
            log.close()
            let fork = try EventLogReader(path, fileSystem: disk)
            #expect(try fork.allEvents() == recorded(1...sequence + 2, size: 60))
            #expect(try fork.verify().damages == [])
        }
        #expect(try reader.allEvents() == recorded(1...20, size: 60))
    }

    @Test func aForkSurvivesAPowerLoss() throws {
        try makeLog(events: 9, on: disk)
        try EventLogReader("log", fileSystem: disk).fork(through: 7, into: "fork")
        let after = disk.crashed(.nothing)
        #expect(
            try EventLogReader("fork", fileSystem: after).allEvents() == recorded(1...7, size: 60))
    }

    @Test func aForkInTheMiddleOfAFrameAndOfADeflatedSegment() throws {
        let log = try EventLogWriter.open(
            "log", options: testOptions(segmentSize: 4000), fileSystem: disk)
        try log.appendAndWait(testBatch(1...30, size: 60))
        try log.appendAndWait(testBatch(31...60, size: 60))
        try log.appendAndWait(testBatch(61...90, size: 60))
        log.close()
        let deflater = SegmentDeflater(
            directory: LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID)
        for segment in disk.segments.dropLast() { #expect(try deflater.deflate(segment)) }
        let reader = try EventLogReader("log", fileSystem: disk)
        for sequence in [1, 29, 30, 31, 45, 60, 75] as [UInt64] {
            let path = "fork \(sequence)"
            try reader.fork(through: sequence, into: path)
            try EventLogWriter.open(path, options: testOptions(), fileSystem: disk).close()
            let fork = try EventLogReader(path, fileSystem: disk)
            #expect(try fork.allEvents() == recorded(1...sequence, size: 60))
            #expect(try fork.verify().damages == [])
        }
    }

    private func expectNoFork(through sequence: UInt64) throws {
        let error = #expect(throws: LogError.self) {
            try EventLogReader("log", fileSystem: disk).fork(through: sequence, into: "fork")
        }
        #expect(error?.code == .damaged)
        #expect(disk.paths(under: "fork") == [])
    }

    @Test func whatIsDamagedIsNotCopied() throws {
        try makeLog(events: 20, on: disk)
        let second = disk.segments[1]
        let frame = FrameLayout.size(payload: testBatch(1...1, size: 60).bytes.count)
        disk.flipBit(ofByte: 96 + frame + 80, in: "log/segments/\(second.twentyDigits).log")
        try expectNoFork(through: 20)
        try expectNoFork(through: second + 1)
        // What comes before the damage can be copied.
        try EventLogReader("log", fileSystem: disk).fork(through: second, into: "fork")
        let fork = try EventLogReader("fork", fileSystem: disk)
        #expect(try fork.allEvents() == recorded(1...second, size: 60))
        #expect(try fork.verify().damages == [])
    }

    @Test func aLogWithAMissingSegmentIsNotCopiedBeyondIt() throws {
        try makeLog(events: 20, on: disk)
        let segments = disk.segments
        try disk.remove("log/segments/\(segments[1].twentyDigits).log")
        try expectNoFork(through: 20)
        try expectNoFork(through: segments[1])
        try EventLogReader("log", fileSystem: disk).fork(through: segments[1] - 1, into: "fork")
    }

    @Test func aForkBehindTheEndOrOverSomethingIsRefused() throws {
        try makeLog(events: 3, on: disk)
        let reader = try EventLogReader("log", fileSystem: disk)
        let late = #expect(throws: LogError.self) { try reader.fork(through: 4, into: "fork") }
        #expect(late?.message == "There is no event 4: the log has events 1 to 3.")
        #expect(throws: LogError.self) { try reader.fork(through: .max, into: "fork") }
        let over = #expect(throws: LogError.self) { try reader.fork(through: 2, into: "log") }
        #expect(over?.code == .conflict)
        #expect(
            over?.message
                == "log is not empty: give a new directory. Nothing in it was changed.")
    }
}

@Suite(.bounded) struct LogCompactionTests {
    private let disk = SimulatedDisk()

    private func writeCheckpoint(_ sequence: UInt64) throws {
        let header = Checkpoint.Header(sequence: sequence, epoch: 1, foldVersion: 1, stateHash: [])
        try CheckpointFiles(LogDirectory(path: "log", fileSystem: disk), storeID: testStoreID)
            .write(Checkpoint(header: header, payload: [1]), keeping: 5)
    }

    @Test func segmentsBeforeACheckpointGoAndTheLogBeginsLater() throws {
        try makeLog(events: 30, on: disk)
        try writeCheckpoint(17)
        let report = try LogCompaction("log", fileSystem: disk).run(checkpoint: 17)
        #expect(report.removedSegments > 0)
        #expect(report.firstSequence > 1 && report.firstSequence <= 18)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.firstSequence() == report.firstSequence)
        #expect(try reader.allEvents() == recorded(report.firstSequence...30, size: 60))
        #expect(try reader.verify().damages == [])
        let error = #expect(throws: LogError.self) { try reader.allEvents(from: 1) }
        #expect(
            error?.message
                == "There is no event 1: the log begins with event \(report.firstSequence).")
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        try log.appendAndWait(testBatch(31...31, size: 60))
        log.close()
    }

    /// Its writer had renamed it, and could not sync the directory. Found by the simulator.
    @Test func theCheckpointThatALogDependsOnOutlivesALossOfPower() throws {
        try makeLog(events: 24, on: disk)
        disk.setFault {
            $0.name == "fsync" && $0.path == "log/checkpoints"
                ? .error(SimulatedDisk.inputOutput) : nil
        }
        #expect(throws: LogError.self) { try writeCheckpoint(17) }
        disk.setFault(nil)
        let report = try LogCompaction("log", fileSystem: disk).run(checkpoint: 17)
        #expect(report.removedSegments > 0)
        let after = disk.crashed(.nothing)
        #expect(try EventLogReader("log", fileSystem: after).verify().damages == [])
        try EventLogWriter.open("log", options: testOptions(), fileSystem: after).close()
    }

    @Test func aCheckpointOfTheLastEventLetsAllEventsGo() throws {
        try makeLog(events: 5, segmentSize: 4096, on: disk)
        try writeCheckpoint(5)
        let report = try LogCompaction("log", fileSystem: disk).run(checkpoint: 5)
        #expect(report.firstSequence == 6)
        let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
        #expect(log.head.sequence == 5)
        try log.appendAndWait(testBatch(6...7, size: 60))
        log.close()
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(6...7, size: 60))
        #expect(try reader.verify().damages == [])
    }

    @Test func withoutItsCheckpointACompactedLogIsDamaged() throws {
        try makeLog(events: 30, on: disk)
        try writeCheckpoint(17)
        let plan = try LogCompaction("log", fileSystem: disk).plan(checkpoint: 17)
        let report = try LogCompaction("log", fileSystem: disk).run(checkpoint: 17)
        #expect(plan == report)
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(
            reader.metadata.beginning == nil
                || reader.metadata.beginning?.sequence == report.firstSequence)
        #expect(
            try EventLogReader("log", fileSystem: disk).metadata.beginning?.checkpoint?.sequence
                == 17)
        try disk.remove("log/checkpoints/\(UInt64(17).twentyDigits).checkpoint")
        #expect(
            try reader.verify().damages.map(\.reason) == [
                "the log begins with event \(report.firstSequence), and there is no checkpoint that "
                    + "is good of the state before it"
            ])
    }

    @Test func aDamagedSegmentIsNotDroppedUnseen() throws {
        try makeLog(events: 30, on: disk)
        try writeCheckpoint(17)
        disk.flipBit(ofByte: 200, in: "log/segments/\(disk.segments[1].twentyDigits).log")
        let paths = disk.paths(under: "log")
        let compaction = LogCompaction("log", fileSystem: disk)
        let errors = [
            #expect(throws: LogError.self) { try compaction.run(checkpoint: 17) },
            #expect(throws: LogError.self) { try compaction.plan(checkpoint: 17) },
        ]
        #expect(errors.allSatisfy { $0?.code == .damaged })
        #expect(
            disk.paths(under: "log").filter { $0 != "log/LOCK" }
                == paths.filter { $0 != "log/LOCK" })
    }

    @Test func withoutAValidCheckpointNothingGoes() throws {
        try makeLog(events: 30, on: disk)
        let segments = disk.segments
        let error = #expect(throws: LogError.self) {
            try LogCompaction("log", fileSystem: disk).run(checkpoint: 17)
        }
        #expect(
            error?.message
                == "Could not compact the log in log: There is no checkpoint at event 17.")
        #expect(disk.segments == segments)
    }
}
