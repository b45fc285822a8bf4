import BoundedTesting
import DiskSimulation
import Testing
import Threads

@testable import EventLog

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite(.bounded) struct FailureWhileRunningTests {
    private let disk = SimulatedDisk()

    private func openLog(_ change: (inout EventLogOptions) -> Void = { _ in }) throws
        -> EventLogWriter
    {
        var options = testOptions()
        change(&options)
        return try EventLogWriter.open("log", options: options, fileSystem: disk)
    }

    @Test func theFirstFailedSyncFreezesTheLogAndTellsItsOwner() throws {
        let frozen = Monitor<LogError?>(nil)
        let log = try openLog { $0.onFreeze = { error in frozen.update { $0 = error } } }
        try log.appendAndWait(testBatch(1...2))
        disk.setFault { $0.name == "fdatasync" ? .error(SimulatedDisk.inputOutput) : nil }
        let error = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(
            error?.message
                == "Could not append event 3 to log/segments/00000000000000000001.log: fdatasync on "
                + "log/segments/00000000000000000001.log: Input/output error. It was not "
                + "acknowledged, and the log takes no more events until it is reopened.")
        disk.setFault(nil)
        let later = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(later?.code == .frozen)
        let told: LogError = frozen.wait { $0 }
        #expect(told == error)
        #expect(log.head.sequence == 2)
        log.close()
    }

    /// A quota or a file server may say it when the event is whole in the file already.
    @Test func aSyncForWhichThereIsNoRoomLeavesOpenWhatIsInTheLog() throws {
        let log = try openLog()
        try log.appendAndWait(testBatch(1...2))
        disk.setFault { $0.name == "fdatasync" ? .error(SimulatedDisk.noSpace) : nil }
        let error = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("takes no more events until it is reopened") == true)
        disk.setFault(nil)
        let later = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3)) }
        #expect(later?.code == .frozen)
        log.close()
        let reopened = try openLog()
        #expect(reopened.head.sequence == 3)
        reopened.close()
    }

    /// Nobody would take a file that has a part of a header for a spare one.
    @Test func aSegmentThatCannotBeBegunLeavesNoFileBehind() throws {
        let log = try openLog {
            ($0.segmentsAhead, $0.firstSegmentSizeBytes, $0.segmentSizeBytes) = (
                1, 1 << 12, 1 << 12
            )
        }
        try log.appendAndWait(testBatch(1...1, size: 3_000))
        #expect(log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds))
        #expect(disk.paths(under: "log/spare").count == 1)
        disk.setFault {
            $0.name == "pwrite" && $0.path.hasPrefix("log/spare/")
                ? .error(SimulatedDisk.noSpace) : nil
        }
        let error = #expect(throws: LogError.self) {
            try log.appendAndWait(testBatch(2...2, size: 3_000))
        }
        #expect(error?.code == .storageFull)
        #expect(disk.paths(under: "log/spare") == [])
        disk.setFault(nil)
        try log.appendAndWait(testBatch(2...2, size: 3_000))
        log.close()
        let reader = try EventLogReader("log", fileSystem: disk)
        #expect(try reader.allEvents() == recorded(1...2, size: 3_000))
    }

    @Test func aFullDiskFailsTheBatchAndTheLogGoesOnWhenThereIsRoom() throws {
        let log = try openLog()
        try log.appendAndWait(testBatch(1...2))
        disk.setCapacity(disk.usedBytes + 60)
        let error = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...5)) }
        #expect(error?.code == .storageFull)
        #expect(log.head.sequence == 2)
        #expect(try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...2))
        disk.setCapacity(.max)
        #expect(try log.appendAndWait(testBatch(3...4)) == 3...4)
        log.close()
        let again = try openLog()
        #expect(again.recovery == RecoveryReport())
        #expect(try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...4))
        again.close()
    }

    /// What did fit of a frame may be on the disk. The next frame is written over it, and if the power goes before that is
    /// synced, parts of both are there, and nothing between them that was never written.
    @Test func whatDidFitIsNotMixedWithWhatTakesItsPlace() throws {
        for seed: UInt64 in 0..<100 {
            let disk = SimulatedDisk()
            let log = try EventLogWriter.open("log", options: testOptions(), fileSystem: disk)
            try log.appendAndWait(testBatch(1...2))
            disk.setCapacity(disk.usedBytes + 3_000)
            let refusal = #expect(throws: LogError.self) {
                try log.appendAndWait(testBatch(3...3, size: 4_000))
            }
            #expect(refusal?.code == .storageFull)
            disk.setCapacity(.max)
            disk.setFault { $0.name == "fdatasync" ? .powerOff : nil }
            #expect(throws: LogError.self) { try log.appendAndWait(testBatch(3...3, size: 2_000)) }
            log.close()
            let found = disk.crashed(.random(SeededGenerator(seed: seed)))
            let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: found)
            #expect([2, 3].contains(again.head.sequence), "seed \(seed)")
            again.close()
        }
    }

    @Test func aFullDiskWhereANewSegmentIsDueIsNoDifferent() throws {
        let log = try openLog { $0.firstSegmentSizeBytes = 400 }
        try log.appendAndWait(testBatch(1...5))
        disk.setCapacity(disk.usedBytes + 60)
        let error = #expect(throws: LogError.self) { try log.appendAndWait(testBatch(6...9)) }
        #expect(error?.code == .storageFull)
        disk.setCapacity(.max)
        #expect(try log.appendAndWait(testBatch(6...9)) == 6...9)
        log.close()
        let again = try openLog()
        #expect(again.recovery.sentences == [])
        #expect(try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...9))
        again.close()
    }

    /// A spare was being filled, and had taken the last room.
    @Test func aFileThatIsFilledAheadGivesItsRoomToAnAppend() throws {
        struct Filling {
            var thread: pthread_t?
            var mayGoOn = false
        }
        let filling = Monitor(Filling())
        disk.setFault { call in
            filling.update { filling in
                if call.name == "fdatasync", call.path == "log/spare/filling" {
                    filling.thread = pthread_self()
                }
                // The append is at the disk, which has no room for it.
                if call.name == "pwrite", call.path == firstSegment {
                    filling.mayGoOn = filling.thread != nil
                }
            }
            return nil
        }
        disk.setPause {
            _ = filling.wait { $0.thread != pthread_self() || $0.mayGoOn ? true : nil }
        }
        // The first segment takes one half, and the first step of filling the next nearly all of the other.
        disk.setCapacity((2 << 20) + 32_768)
        let log = try openLog {
            $0.segmentsAhead = 1
            $0.segmentSizeBytes = 4 << 20
            $0.firstSegmentSizeBytes = 1 << 20
        }
        _ = filling.wait { $0.thread == nil ? nil : true }
        #expect(try log.appendAndWait(testBatch(1...1, size: 1_200_000)) == 1...1)
        log.close()
    }

    @Test func withoutADescriptorForTheNextSegmentThisOneGrows() throws {
        let log = try openLog { $0.firstSegmentSizeBytes = 400 }
        try log.appendAndWait(testBatch(1...5))
        disk.setFault { $0.name == "open" ? .error(SimulatedDisk.tooManyOpenFiles) : nil }
        for number: UInt64 in 6...20 { try log.appendAndWait(testBatch(number...number)) }
        #expect(disk.segments == [1])
        disk.setFault(nil)
        try log.appendAndWait(testBatch(21...21))
        #expect(disk.segments == [1, 21])
        log.close()
        let again = try openLog()
        #expect(again.recovery == RecoveryReport())
        #expect(try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...21))
        again.close()
    }

    /// The segment has its name, and there is no way back: what the log needs from there on is open already.
    @Test func aSegmentThatIsInstalledNeedsNoDescriptor() throws {
        let log = try openLog { $0.firstSegmentSizeBytes = 400 }
        try log.appendAndWait(testBatch(1...5))
        let isOut = Monitor(false)
        disk.setFault { call in
            if call.name == "rename" { isOut.update { $0 = true } }
            return call.name == "open" && isOut.withLock { $0 }
                ? .error(SimulatedDisk.tooManyOpenFiles) : nil
        }
        let result = Monitor<Result<UInt64, LogError>?>(nil)
        try log.enqueue(testBatch(6...9)) { outcome in result.update { $0 = outcome } }
        let outcome = result.wait(milliseconds: 240_000) { $0 }
        // Also where it had to wait.
        disk.setFault(nil)
        #expect(try outcome?.get() == 9)
        #expect(isOut.withLock { $0 } && disk.segments == [1, 6])
        log.close()
        let again = try openLog()
        #expect(again.recovery == RecoveryReport())
        #expect(try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...9))
        again.close()
    }

    @Test func everythingBehindAFailedBatchFailsAndItsSequencesAreGivenAgain() throws {
        let log = try openLog()
        try log.appendAndWait(testBatch(1...2))
        // The first batch is stopped in its write until the other two stand behind it.
        let gate = Monitor(false)
        disk.setFault { call in
            guard call.name == "pwrite" else { return nil }
            gate.wait { $0 ? true : nil }
            return .error(SimulatedDisk.noSpace)
        }
        let results = Monitor<[LogError.Code?]>([])
        for number in 3...5 as ClosedRange<UInt64> {
            try log.enqueue(testBatch(number...number)) { result in
                let code: LogError.Code? =
                    if case .failure(let error) = result { error.code } else { nil }
                results.update { $0.append(code) }
            }
        }
        #expect(log.nextSequence == 6)
        gate.update { $0 = true }
        #expect(
            results.wait { $0.count == 3 ? $0 : nil } == [.storageFull, .storageFull, .storageFull])
        disk.setFault(nil)
        #expect(log.nextSequence == 3)
        #expect(throws: LogError.self) { try log.enqueue(testBatch(6...6), expecting: 6) { _ in } }
        #expect(try log.appendAndWait(testBatch(3...4)) == 3...4)
        log.close()
    }

    @Test func aFullQueueRefusesAndTheBlockingAppendWaits() throws {
        let log = try openLog { $0.maximumWaitingBytes = 1000 }
        let gate = Monitor(false)
        disk.setFault { call in
            if call.name == "fdatasync" { gate.wait { $0 ? true : nil } }
            return nil
        }
        try log.enqueue(testBatch(1...10, size: 80)) { _ in }
        try log.enqueue(testBatch(11...11, size: 10)) { _ in }
        let error = #expect(throws: LogError.self) {
            try log.enqueue(testBatch(12...12, size: 200)) { _ in }
        }
        #expect(error?.code == .queueFull)
        let done = Monitor(false)
        let waiting = BlockingThread {
            _ = try? log.appendAndWait(testBatch(12...12, size: 200))
            done.update { $0 = true }
        }
        gate.update { $0 = true }
        done.wait { $0 ? true : nil }
        waiting.join()
        #expect(log.head.sequence == 12)
        log.close()
    }

    @Test(arguments: [Durability.batch, .none])
    func aWeakerDurabilityAcknowledgesBeforeTheSync(_ durability: Durability) throws {
        let log = try openLog {
            $0.durability = durability
            $0.syncIntervalMilliseconds = 5
        }
        try log.appendAndWait(testBatch(1...3))
        try log.appendAndWait(testBatch(4...6))
        if durability == .none {
            #expect(log.statistics.syncs == 0)
            // Nothing was synced, nothing survives, and nobody mistakes what follows for it.
            let after = disk.crashed(.nothing)
            let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: after)
            #expect(again.head.sequence == 0)
            again.close()
            let kept = try EventLogWriter.open(
                "log", options: testOptions(), fileSystem: disk.crashed(.everything))
            #expect(kept.head.sequence == 6)
            #expect(kept.recovery.raisedEpoch == 2)
            #expect(kept.metadata.epoch == 2)
            kept.close()
        }
        log.close()
        let again = try openLog()
        #expect(again.recovery == RecoveryReport())
        #expect(again.metadata.epoch == 1)
        again.close()
    }

    /// Steady traffic does not put the sync off: at any moment the power may go, and only what was
    /// acknowledged within the interval is lost.
    @Test func durabilityBatchLosesNoMoreThanItsInterval() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let clock = VirtualClock()
        let log = try openLog {
            $0.durability = .batch
            $0.clock = clock
        }
        var acknowledged: [(sequence: UInt64, at: UInt64)] = []
        func survivors() throws -> UInt64 {
            let after = try EventLogWriter.open(
                "log", options: testOptions(), fileSystem: disk.crashed(.nothing))
            defer { after.close() }
            return after.head.sequence
        }
        for number: UInt64 in 1...150 {
            clock.advance(milliseconds: .random(in: 0...30, using: &random))
            try log.appendAndWait(testBatch(number...number))
            acknowledged.append((number, clock.now))
            let interval: UInt64 = 100_000_000
            let safe = acknowledged.last { $0.at + interval <= clock.now }?.sequence ?? 0
            #expect(try survivors() >= safe, "seed \(seed), event \(number)")
        }
        #expect(log.statistics.syncs < 75, "several share a sync")
        clock.advance(milliseconds: 100)
        let deadline = ContinuousClock.now + .testDeadline
        while try survivors() < 150, ContinuousClock.now < deadline { usleep(1_000) }
        #expect(try survivors() == 150, "without traffic, too")
        log.close()
    }

    @Test func durabilityBatchSyncsInTheBackground() throws {
        let log = try openLog {
            $0.durability = .batch
            $0.syncIntervalMilliseconds = 1
        }
        let synced = Monitor(false)
        disk.setFault { call in
            if call.name == "fdatasync" { synced.update { $0 = true } }
            return nil
        }
        try log.appendAndWait(testBatch(1...3))
        #expect(synced.wait(milliseconds: .testDeadlineMilliseconds) { $0 ? true : nil } == true)
        log.close()
    }

    /// All is on the disk, so no one has to be told of another epoch.
    @Test func aFullDiskKeepsNoLogFromBeingClosed() throws {
        let log = try openLog { $0.durability = .batch }
        try log.appendAndWait(testBatch(1...3))
        disk.setFault {
            $0.name == "pwrite" && $0.path == firstSegment ? .error(SimulatedDisk.noSpace) : nil
        }
        log.close()
        disk.setFault(nil)
        let again = try openLog()
        #expect(again.recovery == RecoveryReport() && again.metadata.epoch == 1)
        #expect(again.head.sequence == 3)
        again.close()
    }

    @Test func whatIsFilledAheadMakesRoomForTheMarkOfAClosedLog() throws {
        let log = try openLog {
            ($0.durability, $0.segmentsAhead) = (.batch, 1)
            ($0.firstSegmentSizeBytes, $0.segmentSizeBytes) = (1 << 12, 1 << 12)
        }
        try log.appendAndWait(testBatch(1...3))
        #expect(log.waitForHousekeeping(milliseconds: .testDeadlineMilliseconds))
        disk.setCapacity(disk.usedBytes)
        log.close()
        disk.setCapacity(.max)
        let again = try openLog()
        #expect(again.recovery == RecoveryReport() && again.metadata.epoch == 1)
        again.close()
    }

    @Test func whoClosesALogAgainDoesNotReplaceWhatIsDoneLast() throws {
        let log = try openLog()
        let isClosing = Monitor(false)
        let done = Lock<[Int]>([])
        // The first has to write its mark, and the second comes meanwhile.
        disk.setPause { let _: Bool = isClosing.wait { $0 ? true : nil } }
        let first = BlockingThread { log.close { done.withLock { $0.append(1) } } }
        log.waitUntilClosing()
        let second = BlockingThread { log.close { done.withLock { $0.append(2) } } }
        isClosing.update { $0 = true }
        first.join()
        second.join()
        log.close { done.withLock { $0.append(3) } }
        #expect(done.withLock { $0 } == [1])
    }

    /// What was acknowledged before it was synced may be lost then, and the owner must not take this for a graceful stop.
    @Test(arguments: [Durability.batch, .none])
    func aLastSyncThatFailsIsToldToTheOwner(_ durability: Durability) throws {
        let frozen = Monitor<LogError?>(nil)
        let log = try openLog {
            $0.durability = durability
            $0.syncIntervalMilliseconds = 600_000
            $0.onFreeze = { error in frozen.update { $0 = error } }
        }
        try log.appendAndWait(testBatch(1...2))
        disk.setFault { $0.name == "fdatasync" ? .error(SimulatedDisk.inputOutput) : nil }
        log.close()
        let told: LogError? = frozen.wait { .some($0) }
        #expect(told?.code == .inputOutput)
        disk.setFault(nil)
        let again = try openLog()
        #expect(again.recovery.raisedEpoch == 2, "it was not closed properly")
        again.close()
    }

    /// The mark that a log was closed in order is not there either.
    @Test(arguments: ["pwrite", "fdatasync"])
    func aDiskThatBreaksWhileTheLogIsClosedKeepsNoOneWaiting(_ call: String) throws {
        let log = try openLog()
        try log.appendAndWait(testBatch(1...2))
        let isClosing = Monitor(false)
        let failed = Monitor<LogError?>(nil)
        disk.setPause { let _: Bool = isClosing.wait { $0 ? true : nil } }
        disk.setFault { $0.name == call ? .error(SimulatedDisk.inputOutput) : nil }
        _ = try log.enqueue(testBatch(3...3)) { result in
            if case .failure(let error) = result { failed.update { $0 = error } }
        }
        let closer = BlockingThread { log.close() }
        log.waitUntilClosing()
        isClosing.update { $0 = true }
        closer.join()
        #expect(failed.wait { $0 }.code == .inputOutput)
        let again = try EventLogWriter.open(
            "log", options: testOptions(), fileSystem: disk.crashed(.everything))
        #expect(again.head.sequence >= 2)
        again.close()
    }
}

/// Time that passes only when it is told to.
final class VirtualClock: LogClock {
    private let state = Monitor((now: UInt64(0), wakers: [@Sendable () -> Void]()))

    var now: UInt64 { state.withLock { $0.now } }

    func sleep(until moment: UInt64) -> Duration? { nil }

    func whenPassing(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wakers.append(wake) }
    }

    func advance(milliseconds: UInt64) {
        let wakers = state.withLock { state in
            state.now += milliseconds * 1_000_000
            return state.wakers
        }
        for wake in wakers { wake() }
    }
}
