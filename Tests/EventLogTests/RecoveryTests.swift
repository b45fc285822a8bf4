import DiskSimulation
import Testing

@testable import EventLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Named after disasters: what is found in the directory, and what becomes of it.
@Suite(.bounded) struct RecoveryTests {
    private let disk = SimulatedDisk()

    private func open() throws -> EventLogWriter {
        try EventLogWriter.open("log", options: testOptions(segmentSize: 700), fileSystem: disk)
    }

    private func expectRefusal(_ message: String, _ code: LogError.Code = .damaged) throws {
        let before = disk.paths(under: "log").map { disk.contents(at: $0) }
        let error = #expect(throws: LogError.self) { try open() }
        #expect(error?.message == message)
        #expect(error?.code == code)
        #expect(disk.paths(under: "log").map { disk.contents(at: $0) } == before)
    }

    @Test func tornTailIsKeptAsideCutAndSaidInOneSentence() throws {
        try makeLog(events: 3, segmentSize: 4096, on: disk)
        let whole = try #require(disk.contents(at: firstSegment))
        disk.setContents(whole + Array(repeating: 7, count: 30), at: firstSegment)
        let log = try open()
        let copy = firstSegment + ".torn"
        #expect(
            log.recovery.sentences == [
                "Cut 30 bytes of an unfinished write off \(firstSegment) at byte \(whole.count); "
                    + "they are kept in \(copy). No acknowledged event was in them."
            ])
        #expect(disk.contents(at: copy) == Array(repeating: 7, count: 30))
        try log.appendAndWait(testBatch(4...4, size: 60))
        log.close()
        #expect(
            try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...4, size: 60))
    }

    @Test func aSecondTornTailDoesNotOverwriteTheFirstCopy() throws {
        try makeLog(events: 1, segmentSize: 4096, on: disk)
        for byte in [7, 8] as [UInt8] {
            let whole = try #require(disk.contents(at: firstSegment))
            disk.setContents(whole + [byte, byte], at: firstSegment)
            try open().close()
        }
        #expect(disk.contents(at: firstSegment + ".torn") == [7, 7])
        #expect(disk.contents(at: firstSegment + ".2.torn") == [8, 8])
    }

    @Test func interiorDamageIsRefusedWithFileAndByte() throws {
        try makeLog(events: 3, segmentSize: 4096, on: disk)
        disk.flipBit(ofByte: 96 + 72 + 20, in: firstSegment)
        try expectRefusal(
            "The log is damaged in \(firstSegment) at byte 96 (event 1): the frame's events do not "
                + "match their checksum. Nothing was changed; `relay log repair --plan` says what a "
                + "repair keeps.")
    }

    @Test func damageInAnOlderSegmentIsFoundByWhoeverReadsIt() throws {
        try makeLog(events: 12, on: disk)
        disk.flipBit(ofByte: 200, in: firstSegment)
        try open().close()
        let error = #expect(throws: LogError.self) {
            try EventLogReader("log", fileSystem: disk).allEvents()
        }
        #expect(error?.damage?.file == firstSegment)
    }

    @Test func aSegmentWhoseCreationDidNotFinishIsSetAside() throws {
        try makeLog(events: 3, segmentSize: 4096, on: disk)
        for size in [0, 50, 4096] {
            disk.setContents(
                [UInt8](repeating: 0, count: size),
                at: "log/segments/\(UInt64(4).twentyDigits).log")
            let log = try open()
            #expect(log.recovery.unfinishedSegments.count == 1)
            #expect(log.head.sequence == 3)
            log.close()
            #expect(disk.segments == [1])
        }
    }

    @Test func aMissingSegmentIsRefused() throws {
        try makeLog(events: 30, on: disk)
        let missing = disk.segments[1]
        try disk.remove("log/segments/\(missing.twentyDigits).log")
        let error = #expect(throws: LogError.self) { try open() }
        #expect(error?.damage?.file == "log/segments/\(disk.segments[1].twentyDigits).log")
        #expect(error?.damage?.reason.contains("begins with event \(missing)") == true)
    }

    @Test func allSegmentsMissingIsNoNewLog() throws {
        try makeLog(events: 3, on: disk)
        for path in disk.paths(under: "log/segments") { try disk.remove(path) }
        try expectRefusal(
            "The log is damaged in log/segments at byte 0: all segments are missing. Nothing was "
                + "changed; `relay log repair --plan` says what a repair keeps.")
    }

    @Test func aMissingMetaBesideEventsIsRefused() throws {
        try makeLog(events: 3, on: disk)
        try disk.remove("log/META")
        try expectRefusal(
            "The log is damaged in log/META at byte 0: the file is missing, though there are events "
                + "or checkpoints. Nothing was changed; `relay log repair --plan` says what a repair "
                + "keeps.")
    }

    @Test func strayFilesAreNamedAndLeftAlone() throws {
        try makeLog(events: 3, on: disk)
        disk.setContents([1], at: "log/segments/notes.txt")
        disk.setContents([1], at: "log/segments/123.log")
        let log = try open()
        #expect(log.recovery.strayFiles == ["123.log", "notes.txt"])
        #expect(log.recovery.sentences == [])
        log.close()
        #expect(disk.contents(at: "log/segments/notes.txt") == [1])
    }

    @Test func aFutureFormatVersionIsRefusedInMetaAndInSegments() throws {
        try makeLog(events: 3, on: disk)
        let metadata = try #require(disk.contents(at: "log/META"))
        let future = String(decoding: metadata, as: UTF8.self)
            .replacing("relay-log 1.1", with: "relay-log 2.0")
        disk.setContents(Array(future.utf8), at: "log/META")
        try expectRefusal(
            "log/META has format version 2.0; this program reads version 1. Nothing was changed; "
                + "use the newer program.", .futureVersion)
        disk.setContents(metadata, at: "log/META")
        disk.flipBit(1, ofByte: 8, in: firstSegment)
        let error = #expect(throws: LogError.self) { try open() }
        #expect(error?.code == .futureVersion)
    }

    @Test func aNewerMinorVersionWithUnknownKindsIsKept() throws {
        let log = try open()
        let unknown = LogEvent(
            kind: LogEventKind(rawValue: 200), timeMicroseconds: 9, payload: [1, 2])
        try log.appendAndWait(EventBatch([unknown]))
        log.close()
        let metadata = LogMetadata(
            version: FormatVersion(major: 1, minor: 7), storeID: testStoreID, epoch: 1)
        disk.setContents(metadata.encoded, at: "log/META")
        let again = try open()
        #expect(again.metadata.version.minor == 7)
        again.close()
        #expect(
            try EventLogReader("log", fileSystem: disk).allEvents()
                == [RecordedEvent(sequence: 1, event: unknown)])
    }

    @Test func anEmptyDirectoryBecomesANewLog() throws {
        try disk.createDirectory("log")
        let log = try open()
        #expect(log.recovery.isNew)
        #expect(log.head.sequence == 0)
        log.close()
    }

    @Test func anInterruptedCreationBeginsAgain() throws {
        disk.setFault { $0.path == "log/META.tmp" ? .error(SimulatedDisk.inputOutput) : nil }
        #expect(throws: LogError.self) { try open() }
        #expect(disk.segments == [1])
        disk.setFault(nil)
        let log = try open()
        #expect(log.recovery.isNew)
        try log.appendAndWait(testBatch(1...1))
        log.close()
    }

    @Test func aReadOnlyDirectoryIsRefusedForWritingAndReadAllTheSame() throws {
        try makeLog(events: 3, on: disk)
        disk.setReadOnly(true)
        try expectRefusal(
            "Could not open the log in log for writing: open on log/LOCK: Read-only file system. "
                + "Nothing was changed.", .readOnly)
        #expect(
            try EventLogReader("log", fileSystem: disk).allEvents() == recorded(1...3, size: 60))
    }

    /// A process is killed between its write and its sync; the next one tells of the event; the power goes.
    @Test func whatAStartHasToldOfOutlivesALossOfPower() throws {
        let log = try open()
        try log.appendAndWait(testBatch(1...3, size: 60))
        disk.setFault { $0.name == "fdatasync" ? .powerOff : nil }
        #expect(throws: LogError.self) { try log.appendAndWait(testBatch(4...4, size: 60)) }
        let found = disk.killed()
        let told = try EventLogWriter.open("log", options: testOptions(), fileSystem: found)
        #expect(told.head.sequence == 4)
        let survived = found.crashed(.nothing)
        let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: survived)
        #expect(again.head.sequence == 4)
        again.close()
        told.close()
    }

    /// As above, when the process had just begun a segment.
    @Test func aSegmentThatAStartHasFoundOutlivesALossOfPower() throws {
        try makeLog(events: 3, segmentSize: 4_096, on: disk)
        let log = try open()
        disk.setFault { $0.name == "fsync" && $0.path == "log/segments" ? .powerOff : nil }
        #expect(throws: LogError.self) { try log.appendAndWait(testBatch(4...30, size: 60)) }
        let found = disk.killed()
        #expect(found.segments == [1, 4])
        let told = try EventLogWriter.open("log", options: testOptions(), fileSystem: found)
        let survived = found.crashed(.nothing)
        let again = try EventLogWriter.open("log", options: testOptions(), fileSystem: survived)
        #expect(again.head == told.head)
        again.close()
        told.close()
    }

    /// A state outlived its events, and the start that removes it is interrupted anywhere.
    @Test func aStartThatIsInterruptedAmidCheckpointsOfLostEventsLeavesNoDamage() throws {
        var early = testOptions()
        early.durability = .none
        let log = try EventLogWriter.open("log", options: early, fileSystem: disk)
        try log.appendAndWait(testBatch(1...3, size: 60))
        let header = Checkpoint.Header(
            sequence: 3, epoch: 1, foldVersion: 1, stateHash: [1])
        try log.checkpoints.write(Checkpoint(header: header, payload: [1, 2, 3]), keeping: 1)
        let lost = disk.crashed(.nothing)
        #expect(lost.paths(under: "log/checkpoints").count == 1)
        let calls: Int = try {
            let disk = lost.copy()
            try EventLogWriter.open("log", options: testOptions(), fileSystem: disk).close()
            return disk.callCount
        }()
        for number in 1...calls {
            let disk = lost.copy()
            disk.setFault { $0.number == number ? .powerOff : nil }
            try? EventLogWriter.open("log", options: testOptions(), fileSystem: disk).close()
            for survival in [SimulatedDisk.Survival.nothing, .everything] {
                let again = try EventLogWriter.open(
                    "log", options: testOptions(), fileSystem: disk.crashed(survival))
                #expect(again.head.sequence == 0)
                again.close()
            }
        }
        log.close()
    }

    @Test func aSecondWriterIsRefused() throws {
        let log = try open()
        let error = #expect(throws: LogError.self) { try open() }
        #expect(error?.code == .locked)
        #expect(error?.message.contains("for writing: process ") == true)
        log.close()
        try open().close()
    }

    @Test func aSecondWriterIsRefusedOnTheRealDisk() throws {
        let directory = try TemporaryDirectory()
        let log = try EventLogWriter.open(directory.path, options: testOptions())
        let error = #expect(throws: LogError.self) {
            try EventLogWriter.open(directory.path, options: testOptions())
        }
        #expect(error?.code == .locked)
        log.close()
    }

    /// A process that is being started has copies of all descriptors until it becomes its program.
    @Test func aClosedLogCanBeOpenedWhileAnotherProcessIsBeingStarted() throws {
        let directory = try TemporaryDirectory()
        let log = try EventLogWriter.open(directory.path, options: testOptions())
        let copies = try descriptors(of: directory.path + "/LOCK").map { dup($0) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        log.close()
        try EventLogWriter.open(directory.path, options: testOptions()).close()
    }

    /// The open descriptors of the file at `path`.
    private func descriptors(of path: String) throws -> [Int32] {
        var wanted = stat()
        try #require(stat(path, &wanted) == 0)
        return (0..<min(getdtablesize(), 8_192)).filter { descriptor in
            var found = stat()
            return fstat(descriptor, &found) == 0 && found.st_dev == wanted.st_dev
                && found.st_ino == wanted.st_ino
        }
    }

    @Test func noLogAtAllIsNotFoundByAReader() throws {
        let error = #expect(throws: LogError.self) {
            try EventLogReader("log", fileSystem: disk)
        }
        #expect(
            error?.message == "There is no log in log: it has no META and no segments.")
    }
}
