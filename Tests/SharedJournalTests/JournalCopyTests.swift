import BoundedTesting
import Disk
import EventStore
import Foundation
import LogTools
import PostgreSQL
import PostgreSQLTesting
@_spi(Rooms) import RelayRecords
import Testing
import Threads

@testable import EventLog
@testable import SharedJournal

/// Logs that go into a journal and come back.
@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(10)))
struct JournalCopyTests {
    let journal: TestJournal
    let place: TemporaryPlace

    init() throws {
        journal = try TestJournal(on: try PostgreSQLServer.shared.get(), nil)
        place = try TemporaryPlace()
    }

    private func importLog(
        _ directory: String, key: [UInt8]? = nil,
        progress: @escaping (UInt64, UInt64) -> Void = { _, _ in }
    ) throws -> JournalImport.Report {
        var work = JournalImport(directory, to: journal.address, abandonment: try Abandonment())
        work.progress = progress
        return try work.run(cursorKey: key)
    }

    private func export(to name: String) throws -> LogHead {
        try JournalExport(journal.address, to: place.path(name))
            .run(abandonment: Abandonment()).head
    }

    /// Everything that makes two logs the same history.
    private func expectSame(_ one: String, _ other: String) throws {
        let (first, second) = (try EventLogReader(one), try EventLogReader(other))
        #expect(try second.head() == first.head())
        #expect(second.metadata.storeID == first.metadata.storeID)
        #expect(second.metadata.epoch == first.metadata.epoch)
        #expect(try second.firstSequence() == first.firstSequence())
        #expect(try second.wholeFrameBytes() == first.wholeFrameBytes())
        let found = try second.verify()
        #expect(found.damages == [])
        #expect(found.unknowns == [])
        #expect(found.tornBytes == 0)
        let contents = try FileManager.default.contentsOfDirectory(atPath: place.directory)
        #expect(!contents.contains { $0.hasSuffix(".incomplete") })
    }

    @Test(arguments: ["log-1.0", "log-1.1"])
    func anExportOfAnImportIsTheSameHistory(_ name: String) throws {
        let original = try place.copy(fixture: name)
        let report = try importLog(original)
        #expect(report.resumedAfter == nil)
        #expect(try export(to: "exported") == report.head)
        try expectSame(original, place.path("exported"))
        let (before, after) = (try History(original), try History(place.path("exported")))
        #expect(before.last == after.last)
        for sequence in [before.first, (before.first + before.last) / 2, before.last] {
            let (one, other) = (
                try before.snapshot(at: sequence).stateHash,
                try after.snapshot(at: sequence).stateHash
            )
            #expect("\(one)" == "\(other)")
        }
        // A server can start on it.
        let store = try EventStore.open(place.path("exported"))
        #expect(store.snapshot.sequence == before.last)
        store.journal.close()
    }

    @Test func aLogThatWasCompactedKeepsTheStateItBeginsWith() throws {
        let original = try place.copy(fixture: "log-1.1")
        let last = try History(original).last
        _ = try EventStore.compact(original)
        try importLog(original).expectHead(of: original)
        _ = try export(to: "exported")
        try expectSame(original, place.path("exported"))
        let (before, after) = (try History(original), try History(place.path("exported")))
        let (one, other) = (
            try before.snapshot(at: last).stateHash, try after.snapshot(at: last).stateHash
        )
        #expect("\(one)" == "\(other)")
    }

    /// As a running server does it: the first segment that is kept begins before the checkpoint.
    @Test func aCheckpointInsideTheFirstSegmentGoesAlong() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 40, checkpoint: 22)
        _ = try LogCompaction(original).run(checkpoint: 22)
        let first = try EventLogReader(original).firstSequence()
        try #require(first > 1 && first < 22)
        _ = try importLog(original)
        _ = try export(to: "exported")
        try expectSame(original, place.path("exported"))
        let mark = try EventLogReader(place.path("exported")).metadata.beginning?.checkpoint
        #expect(mark == CheckpointMark(sequence: 22, stateHash: [1, 2, 3]))
        // What is missing there is damage of the journal.
        let connection = try journal.connect()
        #expect(try connection.verify().damage == nil)
        try connection.ask("DELETE FROM \(journal.address.schema).checkpoints")
        #expect(
            try connection.verify().damage?.message.contains("the checkpoint of event 22") == true)
    }

    @Test func aJournalThatIsThereIsLeftAlone() throws {
        let original = try place.copy(fixture: "log-1.1")
        let report = try importLog(original)
        let other = place.path("other")
        try place.makeLog(other, events: 3)
        for directory in [original, other] {
            let error = #expect(throws: SharedJournalError.self) { try importLog(directory) }
            #expect(error?.code == .conflict)
            #expect(error?.message.contains("events 1 to \(report.head.sequence)") == true)
            #expect(error?.message.contains("head \(report.head.hash)") == true)
        }
        #expect(try export(to: "exported") == report.head)
    }

    @Test func anInterruptedImportGoesOn() throws {
        let original = place.path("original")
        // More than one batch.
        try place.makeLog(original, events: 60, size: 200_000, segmentSize: 64 << 20)
        let abandonment = try Abandonment()
        var work = JournalImport(original, to: journal.address, abandonment: abandonment)
        work.progress = { _, _ in abandonment.abandon() }
        let error = #expect(throws: SharedJournalError.self) { try work.run(cursorKey: nil) }
        #expect(error?.code == .unknown)
        // Nobody takes it for a journal meanwhile, and no other log goes into it.
        let incomplete = #expect(throws: SharedJournalError.self) {
            try journal.connect().completeHistory()
        }
        #expect(incomplete?.code == .conflict)
        let other = try place.copy(fixture: "log-1.1")
        let refusal = #expect(throws: SharedJournalError.self) { try importLog(other) }
        #expect(refusal?.message.contains("an import that is not complete") == true)
        try place.makeLog(
            place.path("alike"), events: 60, size: 200_001, segmentSize: 64 << 20)
        let mixed = #expect(throws: SharedJournalError.self) { try importLog(place.path("alike")) }
        #expect(mixed?.message.contains("is of another log") == true)

        let report = try importLog(original)
        let resumedAfter = try #require(report.resumedAfter)
        #expect(resumedAfter > 0 && resumedAfter < 60)
        #expect(report.frames == 60 - Int(resumedAfter))
        _ = try export(to: "exported")
        try expectSame(original, place.path("exported"))
    }

    @Test func aDirectoryInUseIsNotImported() throws {
        let original = try place.copy(fixture: "log-1.1")
        let log = try EventLogWriter.open(original)
        defer { log.close() }
        let error = #expect(throws: SharedJournalError.self) { try importLog(original) }
        #expect(error?.code == .copy(.locked))
        #expect(try journal.connect().history() == nil)
    }

    @Test func aDamagedLogIsNotImported() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 40)
        let segment = try #require(try EventLogReader(original).segmentFiles().dropFirst().first)
        try place.flipByte(200, of: segment.path)
        let error = #expect(throws: SharedJournalError.self) { try importLog(original) }
        #expect(error?.code == .copy(.damaged))
        #expect(error?.message.contains(segment.path) == true)
        #expect(try journal.connect().history() == nil)
    }

    @Test func noLogIsNoImport() throws {
        let error = #expect(throws: SharedJournalError.self) {
            try importLog(place.path("nothing"))
        }
        #expect(error?.code == .copy(.notFound))
    }

    @Test func anEmptyLogComesBackEmpty() throws {
        let original = place.path("original")
        try EventLogWriter.open(original, options: place.options()).close()
        let report = try importLog(original)
        #expect(report.head.sequence == 0)
        #expect(try export(to: "exported").sequence == 0)
    }

    @Test func theKeyOfPageCursorsGoesAlong() throws {
        let original = try place.copy(fixture: "log-1.1")
        let key = [UInt8](1...16)
        _ = try importLog(original, key: key)
        #expect(try journal.connect().completeHistory().cursorKey == key)
    }

    // MARK: Export

    @Test func anExportNeedsANewDirectory() throws {
        let original = try place.copy(fixture: "log-1.1")
        _ = try importLog(original)
        let error = #expect(throws: SharedJournalError.self) {
            try JournalExport(journal.address, to: original).run(abandonment: Abandonment())
        }
        #expect(error?.code == .copy(.conflict))
        try FileManager.default.createDirectory(
            atPath: place.path("empty"), withIntermediateDirectories: false)
        _ = try export(to: "empty")
        try expectSame(original, place.path("empty"))
    }

    @Test func anInterruptedExportGoesOn() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 10)
        // What a shorter journal gave, as an export that was killed leaves it.
        try place.makeLog(place.path("exported.incomplete"), events: 6)
        _ = try importLog(original)
        _ = try export(to: "exported")
        try expectSame(original, place.path("exported"))
    }

    @Test func anExportDoesNotGoOnWithWhatIsDamaged() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 20)
        let incomplete = place.path("exported.incomplete")
        try place.makeLog(incomplete, events: 20)
        let segment = try #require(try EventLogReader(incomplete).segmentFiles().first)
        try place.flipByte(200, of: segment.path)
        _ = try importLog(original)
        let error = #expect(throws: SharedJournalError.self) { try export(to: "exported") }
        #expect(error?.code == .copy(.damaged))
        #expect(error?.message.contains(incomplete) == true)
        #expect(!FileManager.default.fileExists(atPath: place.path("exported")))
    }

    @Test func anExportOfADamagedJournalMakesNoLog() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 10)
        _ = try importLog(original)
        let connection = try journal.connect()
        try connection.ask("DELETE FROM \(journal.address.schema).frames WHERE seq = 5")
        let error = #expect(throws: SharedJournalError.self) { try export(to: "exported") }
        #expect(error?.code == .damaged)
        #expect(!FileManager.default.fileExists(atPath: place.path("exported")))
        let found = try connection.verify()
        #expect(found.damage?.message.contains("at event 5") == true)
        #expect(found.head.sequence == 4)
        #expect(found.frames == 4)
    }

    @Test func aJournalThatIsNotCompleteIsNotUsed() throws {
        let original = try place.copy(fixture: "log-1.1")
        _ = try importLog(original)
        let connection = try journal.connect()
        try connection.ask("UPDATE \(journal.address.schema).history SET complete = false")
        let error = #expect(throws: SharedJournalError.self) { try export(to: "exported") }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("not complete") == true)
    }

    // MARK: Copies

    @Test func aCopyFetchesOnlyWhatIsNew() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 10)
        _ = try importLog(original)
        let connection = try journal.connect()
        let history = try connection.completeHistory()
        let copy = JournalCopy(place.path("copy"))
        let head = try copy.update(from: connection, history)
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        maker.go(to: head)
        let frame = try maker.make(events: 2)
        try writer.append(frame, after: head)
        // Whoever asked for more than the new frame would be told of this one.
        try connection.ask(
            "UPDATE \(journal.address.schema).frames SET bytes = ''::bytea WHERE seq = 3")
        let seen = Lock([UInt64]())
        #expect(
            try copy.update(from: connection, history) { done, total in
                seen.withLock { $0 += [done, total] }
            } == frame.head)
        #expect(seen.withLock { $0 } == [12, 12])
        #expect(try EventLogReader(place.path("copy")).head() == frame.head)
    }

    @Test func aCopyOfAnotherHistoryIsFound() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 10)
        _ = try importLog(original)
        let connection = try journal.connect()
        let history = try connection.completeHistory()
        // The same store, with events that the journal does not have.
        try place.makeLog(place.path("ahead"), events: 11)
        try place.makeLog(place.path("apart"), events: 10, size: 30)
        for name in ["ahead", "apart"] {
            let error = #expect(throws: SharedJournalError.self) {
                try JournalCopy(place.path(name)).update(from: connection, history)
            }
            #expect(error?.code == .diverged, "\(name)")
        }
        try place.makeLog(place.path("other"), events: 10, store: StoreID(high: 1, low: 2))
        let error = #expect(throws: SharedJournalError.self) {
            try JournalCopy(place.path("other")).update(from: connection, history)
        }
        #expect(error?.code == .copy(.conflict))
    }

    @Test func aJournalThatLostItsEndIsDamagedIfANodeKnows() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 10)
        _ = try importLog(original)
        let connection = try journal.connect()
        try connection.report(
            JournalNode(
                name: "one", address: "", role: .follower, term: 1, sequence: 10, state: nil))
        #expect(try connection.verify().damage == nil)
        try connection.ask("DELETE FROM \(journal.address.schema).frames WHERE seq > 8")
        let damage = try connection.verify().damage
        #expect(damage?.message.contains("at event 9: it ends before it, and the node one") == true)
    }

    // MARK: Status

    @Test func theStatusSaysWhoIsHowFar() throws {
        let original = place.path("original")
        try place.makeLog(original, events: 10)
        _ = try importLog(original)
        let connection = try journal.connect()
        let term = try connection.raiseTerm(after: 1, by: TestJournal.candidate)
        let state = CheckpointMark(sequence: 8, stateHash: [7, 7])
        let one = JournalNode(
            name: "one", address: "ws://one", role: .writer, term: term, sequence: 10, state: state)
        let two = JournalNode(
            name: "two", address: "ws://two", role: .follower, term: 1, sequence: 7, state: nil)
        for node in [two, one, one] { try connection.report(node) }
        let status = try connection.status()
        #expect(status.nodes.map(\.node) == [one, two])
        #expect(status.nodes.map(\.lag) == [0, 3])
        #expect(status.term == JournalTerm(term: 2, writer: "one"))
        #expect(status.lease?.node == "one")
        #expect(status.head.sequence == 10)
        #expect(status.byteCount > 0)
        #expect(status.server.version >= JournalServer.oldestVersion)
        try connection.ask(
            """
            UPDATE \(journal.address.schema).nodes SET seen = seen - interval '1 day'
            WHERE node = 'two'
            """)
        #expect(try connection.status().nodes.last.map { $0.silence > .seconds(80_000) } == true)
        try connection.forgetNodes(after: .seconds(3_600))
        #expect(try connection.status().nodes.map(\.node.name) == ["one"])
    }
}

extension JournalImport.Report {
    fileprivate func expectHead(of directory: String) throws {
        #expect(try EventLogReader(directory).head() == head)
    }
}

extension EventLogReader {
    fileprivate func wholeFrameBytes() throws -> [[UInt8]] {
        let frames = wholeFrames(after: try base())
        var bytes: [[UInt8]] = []
        while let frame = try frames.next() { bytes.append(frame.bytes) }
        return bytes
    }
}

/// A directory of logs that goes with its last reference.
final class TemporaryPlace: Sendable {
    let directory: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "journal-copies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        directory = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { directory + "/" + name }

    /// A log that a released version wrote.
    func copy(fixture name: String) throws -> String {
        let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Fixtures")
        try FileManager.default.copyItem(
            atPath: fixtures.appendingPathComponent(name).path, toPath: path(name))
        return path(name)
    }

    func options(
        store: StoreID = testStoreID, segmentSize: UInt64 = 700
    ) -> EventLogOptions {
        var options = EventLogOptions()
        options.storeID = store
        options.segmentSizeBytes = segmentSize
        options.firstSegmentSizeBytes = segmentSize
        options.segmentsAhead = 0
        options.deflatesSealedSegments = false
        return options
    }

    /// A frame for each event.
    func makeLog(
        _ path: String, events: Int, size: Int = 24, segmentSize: UInt64 = 700,
        checkpoint: UInt64? = nil, store: StoreID = testStoreID
    ) throws {
        let log = try EventLogWriter.open(
            path, options: options(store: store, segmentSize: segmentSize))
        for number in 1...events {
            var batch = EventBatch()
            batch.append(
                kind: LogEventKind(rawValue: 2), timeMicroseconds: Int64(number),
                payload: (0..<size).map { UInt8(truncatingIfNeeded: $0 &+ number) })
            try log.appendAndWait(batch)
        }
        if let checkpoint {
            let header = Checkpoint.Header(
                sequence: checkpoint, epoch: 1, foldVersion: 1, stateHash: [1, 2, 3])
            try log.checkpoints.write(
                Checkpoint(header: header, payload: [9, 9, 9]), keeping: 1)
        }
        log.close()
    }

    func flipByte(_ offset: Int, of path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[offset] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
