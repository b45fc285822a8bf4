import BoundedTesting
import PostgreSQL
import PostgreSQLTesting
import Testing
import Threads

@testable import EventLog
@testable import SharedJournal

/// Logs of several nodes that are copies of one journal.
@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(5)))
struct NodeLogTests {
    let journal: TestJournal
    let place: TemporaryPlace

    init() throws {
        journal = try TestJournal(on: try PostgreSQLServer.shared.get())
        place = try TemporaryPlace()
    }

    /// A node's log that appends by a writer.
    private func open(_ name: String, _ writer: JournalWriter) throws -> EventLogWriter {
        var options = place.options(segmentSize: 4_096)
        options.durability = .none
        options.shared = SharedHistory(storeID: testStoreID, epoch: 1, committer: writer)
        return try EventLogWriter.open(place.path(name), options: options)
    }

    private func batch(_ name: String, _ number: Int) -> EventBatch {
        var batch = EventBatch()
        batch.append(
            kind: LogEventKind(rawValue: 2), timeMicroseconds: Int64(number),
            payload: Array("\(name) \(number)".utf8))
        return batch
    }

    private func adopt(_ log: EventLogWriter) throws {
        let connection = try journal.connect()
        let reader = JournalReader(journal.address, after: log.head)
        while true {
            let frames = try reader.next(by: connection)
            if frames.isEmpty { return }
            try log.adoptAndWait(frames)
        }
    }

    @Test func theyHoldOneHistoryWhoeverWrites() throws {
        var terms = [try journal.makeWriter()]
        let names = ["one", "two"]
        var logs = [try open("one", terms[0]), try open("two", terms[0])]
        for round in 0..<6 {
            let (writer, follower) = (round % 2, 1 - round % 2)
            for number in 0..<10 {
                try logs[writer].appendAndWait(batch(names[writer], round * 10 + number))
            }
            let late = #expect(throws: LogError.self) {
                try logs[follower].appendAndWait(batch("late", round))
            }
            #expect(late?.code == .overtaken)
            try adopt(logs[follower])
            #expect(logs[0].head == logs[1].head)
            // The other one takes over; the log is the same one, with another writer.
            terms.append(try journal.makeWriter())
            let behind = #expect(throws: LogError.self) {
                try logs[writer].appendAndWait(batch("late", round))
            }
            #expect(behind?.code == .overtaken)
            for log in logs { log.close() }
            logs = try names.map { try open($0, terms[terms.count - 1]) }
        }
        for log in logs { log.close() }
        let frames = try journal.frames()
        #expect(frames.count == 60)
        for name in names {
            let reader = try EventLogReader(place.path(name))
            let cursor = reader.wholeFrames(after: try reader.base())
            var bytes: [[UInt8]] = []
            while let frame = try cursor.next() { bytes.append(frame.bytes) }
            #expect(bytes == frames.map(\.bytes))
        }
    }

    @Test func aServerThatIsAwayForAWhileHoldsUpAnAppendAndLosesNothing() throws {
        let server = try PostgreSQLServer()
        let journal = try TestJournal(on: server)
        let reports = Monitor<[String]>([])
        let term = try journal.makeWriter().term
        let writer = JournalWriter(
            journal.address, term: term, abandonment: try Abandonment(),
            report: { sentence in reports.update { $0.append(sentence) } })
        let log = try open("one", writer)
        try log.appendAndWait(batch("one", 1))
        for crashes in [false, true] {
            crashes ? server.crash() : server.stop()
            let count = reports.withLock { $0.count }
            let outcome = Outcome { [batch = batch("one", 2)] in try log.appendAndWait(batch) }
            // It looks for what became of it, again and again.
            let isLooking = reports.wait(milliseconds: .testDeadlineMilliseconds) {
                $0.count >= count + 2 ? true : nil
            }
            try #require(isLooking == true)
            #expect(!outcome.isThere)
            try server.start()
            _ = try outcome.get()
        }
        #expect(try journal.frames().count == 3)
        #expect(log.head.sequence == 3)
        log.close()
    }
}
