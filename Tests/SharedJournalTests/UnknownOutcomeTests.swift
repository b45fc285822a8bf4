import BoundedTesting
import Foundation
import PostgreSQL
import PostgreSQLTesting
import Testing
import Threads

@testable import EventLog
@testable import SharedJournal

/// Connections that end while an append is on its way.
@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(15)))
struct UnknownOutcomeTests {
    private static let variables = ProcessInfo.processInfo.environment

    private static func rounds(_ usual: Int) -> Int {
        variables["RELAY_JOURNAL_ROUNDS"].flatMap(Int.init) ?? usual
    }

    private static func makeSeed() -> UInt64 {
        variables["RELAY_JOURNAL_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    }

    @Test func anAppendWhoseAnswerIsLostIsFoundInTheJournal() throws {
        let journal = try TestJournal(on: try PostgreSQLServer.shared.get())
        let proxy = try CuttingProxy(to: journal.server.port)
        defer { proxy.stop() }
        let writer = try journal.makeWriter(journal.address(through: proxy))
        var maker = FrameMaker()
        for cut in [CuttingProxy.Cut.atAnswer, .afterBytesSent(0), .afterBytesSent(100)] {
            // The first append connects.
            let first = try maker.make()
            try writer.append(first, after: maker.head)
            maker.took(first)
            proxy.arm(cut)
            let frame = try maker.make()
            try writer.append(frame, after: maker.head)
            maker.took(frame)
        }
        #expect(try journal.frames().count == 6)
    }

    /// The old connection's append arrives when the new one has looked, and has found nothing.
    @Test func anAppendThatArrivesAfterTheNewConnectionIsRefused() throws {
        let journal = try TestJournal(on: try PostgreSQLServer.shared.get())
        let proxy = try CuttingProxy(to: journal.server.port)
        defer { proxy.stop() }
        let writer = try journal.makeWriter(journal.address(through: proxy))
        var maker = FrameMaker()
        let first = try maker.make()
        try writer.append(first, after: maker.head)
        maker.took(first)
        proxy.arm(.afterBytesSent(10))
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        maker.took(frame)
        let late = try maker.make()
        var batch = FrameBatch(after: maker.head)
        batch.append(late)
        let append =
            "SELECT outcome FROM \(journal.address.schema).append($1, $2, $3, $4, $5, $6, $7, $8)"
        let rows = try journal.connect().ask(
            append, batch.values(term: writer.term, connection: 0))
        #expect(try rows.text(0, 0) == "term")
        #expect(try journal.frames().count == 2)
    }

    @Test func anOutcomeThatNobodyWaitsForStaysUnknown() throws {
        let server = try PostgreSQLServer()
        let journal = try TestJournal(on: server)
        let abandonment = try Abandonment()
        let term = try journal.makeWriter().term
        let reports = Monitor<[String]>([])
        let writer = JournalWriter(
            journal.address, term: term, abandonment: abandonment,
            report: { sentence in reports.update { $0.append(sentence) } })
        var maker = FrameMaker()
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        maker.took(frame)
        server.stop()
        let next = try maker.make()
        let head = maker.head
        let outcome = Outcome { try writer.append(next, after: head) }
        // What it waits for, and why it waits on.
        let isLooking = reports.wait(milliseconds: .testDeadlineMilliseconds) {
            $0.count >= 2 ? true : nil
        }
        try #require(isLooking == true)
        #expect(!outcome.isThere)
        abandonment.abandon()
        let error = #expect(throws: SharedJournalError.self) { try outcome.get() }
        #expect(error?.code == .unknown)
        // Nothing may follow what nobody knows.
        let later = #expect(throws: SharedJournalError.self) {
            try writer.append(next, after: head)
        }
        #expect(later == error)
    }

    /// A commit whose wait for a standby is cancelled is there, and could be lost: that is not told as a success.
    @Test func aCommitThatDidNotWaitForItsStandbyIsWaitedFor() throws {
        let server = try PostgreSQLServer()
        let journal = try TestJournal(on: server)
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        maker.took(frame)
        let observer = try journal.connect()
        try server.waitForStandby()
        let (next, head) = (try maker.make(), maker.head)
        let outcome = Outcome { try writer.append(next, after: head) }
        let pid = try observer.cancelWait()
        try observer.wait(for: Self.waiting + " AND pid <> $1", [.int(pid)])
        #expect(!outcome.isThere)
        try server.endWaitForStandby()
        try outcome.get()
        #expect(try journal.frames().count == 2)
    }

    /// Behind a newer term taking the connection changes nothing, and so waits for nobody.
    @Test func anAppendBehindANewerTermIsWaitedForAsWell() throws {
        let server = try PostgreSQLServer()
        let journal = try TestJournal(on: server)
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        maker.took(frame)
        let observer = try journal.connect()
        try server.waitForStandby()
        let (next, head) = (try maker.make(), maker.head)
        let outcome = Outcome { try writer.append(next, after: head) }
        try observer.wait(for: Self.waiting)
        // Another node raises the term: it waits for the append, and before the writer does.
        let raising = Outcome {
            let rival = try journal.connect()
            try rival.commitLocally()
            return try rival.raiseTerm(after: writer.term, by: TestJournal.candidate)
        }
        try observer.wait(
            for: "SELECT FROM pg_locks WHERE NOT granted AND mode = 'ExclusiveLock'")
        let pid = try observer.cancelWait()
        #expect(try raising.get() == writer.term + 1)
        try observer.wait(for: Self.waiting + " AND pid <> $1", [.int(pid)])
        #expect(!outcome.isThere)
        // The second wait is not cancelled either.
        let second = try observer.cancelWait()
        try observer.wait(for: Self.waiting + " AND pid <> $1", [.int(second)])
        #expect(!outcome.isThere)
        try server.endWaitForStandby()
        try outcome.get()
        #expect(try journal.frames().count == 2)
    }

    /// A role's or a server's own setting must not hide that.
    @Test func theWarningIsHeardWhateverTheServersSettings() throws {
        let journal = try TestJournal(on: try PostgreSQLServer.shared.get())
        let quiet = try JournalAddress(
            parsing: journal.server.url(schema: journal.address.schema)
                + "&options=-c%20client_min_messages%3Derror")
        let connection = try JournalConnection(quiet, abandonment: Abandonment())
        try connection.ask("DO $$ BEGIN RAISE WARNING 'not waited'; END $$")
        let error = #expect(throws: SharedJournalError.self) {
            try connection.checkStandbyHasIt()
        }
        #expect(error?.code == .unavailable)
    }

    fileprivate static let waiting =
        "SELECT pid::bigint FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

    /// Two writers of one term, and now and then one that raises it.
    @Test func writersThatRaceLeaveNoGapAndNothingTwice() throws {
        let journal = try TestJournal(on: try PostgreSQLServer.shared.get())
        let seed = Self.makeSeed()
        var random = SeededGenerator(seed: seed)
        var makers = [FrameMaker("one"), FrameMaker("two")]
        var appended: [WholeFrame] = []
        var writers = try journal.makeTwoWriters()
        var wins = [0, 0]
        for round in 0..<Self.rounds(1_000) {
            let raises = random.below(10) == 0 ? random.below(2) : nil
            let heads = makers.map(\.head)
            let frames = try makers.indices.map {
                try makers[$0].make(events: 1 + random.below(3), size: 10 + random.below(3_000))
            }
            let outcomes = makers.indices.map { index in
                let (writer, frame, head) = (writers[index], frames[index], heads[index])
                return Outcome { () -> UInt64? in
                    if raises == index { return try journal.makeWriter().term }
                    try writer.append(frame, after: head)
                    return nil
                }
            }
            let results = outcomes.map { outcome in Result { try outcome.get() } }
            let winners = makers.indices.filter {
                if case .success(nil) = results[$0] { true } else { false }
            }
            let place = Comment("round \(round), RELAY_JOURNAL_SEED=\(seed)")
            try #require(winners.count <= 1, place)
            if raises == nil { try #require(winners.count == 1, place) }
            for index in makers.indices {
                switch results[index].journalCode {
                case nil, .overtaken, .wrongTerm: break
                case let code: Issue.record("\(String(describing: code)), \(place)")
                }
                if case .failure(let error) = results[index], !(error is SharedJournalError) {
                    throw error
                }
            }
            if let winner = winners.first {
                wins[winner] += 1
                appended.append(frames[winner])
                for index in makers.indices { makers[index].took(frames[winner]) }
            }
            if raises != nil { writers = try journal.makeTwoWriters() }
        }
        #expect(try journal.frames().map(\.bytes) == appended.map(\.bytes))
        #expect(wins.allSatisfy { $0 > 0 }, "neither always wins, RELAY_JOURNAL_SEED=\(seed)")
    }

    /// What is said to be appended is there once, and what is said not to be is not there.
    @Test func whateverEndsAConnectionTheOutcomeIsTrue() throws {
        let server = try PostgreSQLServer()
        let journal = try TestJournal(on: server)
        let proxy = try CuttingProxy(to: server.port)
        defer { proxy.stop() }
        let seed = Self.makeSeed()
        var random = SeededGenerator(seed: seed)
        let unknown = Lock(0)
        func makeWriter() throws -> JournalWriter {
            JournalWriter(
                try journal.address(through: proxy), term: try journal.raise(),
                abandonment: try Abandonment(),
                report: { if $0.hasPrefix("Whether") { unknown.withLock { $0 += 1 } } })
        }
        var writer = try makeWriter()
        var maker = FrameMaker("one")
        var appended: [WholeFrame] = []
        for round in 0..<Self.rounds(250) {
            let place = Comment("round \(round), RELAY_JOURNAL_SEED=\(seed)")
            let size = random.below(4) == 0 ? 200_000 : 500
            let frame = try maker.make(events: 1 + random.below(2), size: size)
            let pause = Duration.microseconds(random.below(6_000))
            var rival: Outcome<WholeFrame>?
            switch random.below(10) {
            case 0: proxy.arm(.atAnswer)
            case 1, 2: proxy.arm(.afterBytesSent(random.below(frame.bytes.count + 400)))
            case 3, 4, 5: _ = Outcome { try journal.endBackends(after: pause) }
            case 6 where round % 4 == 0: _ = Outcome { try journal.killBackend(after: pause) }
            case 7:
                // Another takes over while the first looks for what became of its append.
                let head = maker.head
                proxy.arm(random.below(2) == 0 ? .atAnswer : .afterBytesSent(random.below(900)))
                rival = Outcome {
                    _ = try Abandonment().sleep(for: pause)
                    return try journal.takeOver(after: head)
                }
            default: break
            }
            let result = Result { try writer.append(frame, after: maker.head) }
            proxy.disarm()
            if case .failure(let error) = result {
                switch result.journalCode {
                case .unavailable, .wrongTerm, .overtaken: break
                default: Issue.record("\(error), \(place)")
                }
            } else {
                appended.append(frame)
                maker.took(frame)
            }
            if let rival {
                let its = try rival.get()
                appended.append(its)
                maker.took(its)
                writer = try makeWriter()
            }
            if case .wrongTerm? = result.journalCode { try #require(rival != nil, place) }
        }
        let frames = try journal.whenThere { _ in try journal.frames() }
        #expect(frames.map(\.bytes) == appended.map(\.bytes), "RELAY_JOURNAL_SEED=\(seed)")
        #expect(appended.count > Self.rounds(250) / 2)
        #expect(unknown.withLock { $0 } > Self.rounds(250) / 10, "connections did end")
    }
}

extension JournalConnection {
    /// Cancels a commit's wait for its standby, and says whose it was.
    fileprivate func cancelWait() throws -> Int64 {
        try wait(for: UnknownOutcomeTests.waiting)
        let pid = try ask(UnknownOutcomeTests.waiting).int(0, 0)
        try ask("SELECT pg_cancel_backend($1::int)", [.int(pid)])
        return pid
    }
}

extension TestJournal {
    /// Two of the next term that know nothing of each other.
    fileprivate func makeTwoWriters() throws -> [JournalWriter] {
        let first = try makeWriter()
        return [
            first, JournalWriter(address, term: first.term, abandonment: try Abandonment()),
        ]
    }

    /// Tries again while the server starts.
    func whenThere<Value>(_ body: (JournalConnection) throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + .testDeadline
        let abandonment = try Abandonment()
        while true {
            do {
                return try body(try connect())
            } catch let error as SharedJournalError {
                guard error.code == .unavailable, ContinuousClock.now < deadline else {
                    throw error
                }
                _ = abandonment.sleep(for: .milliseconds(10))
            }
        }
    }

    /// As an operator does, or a failing server.
    fileprivate func endBackends(after pause: Duration) throws {
        _ = try Abandonment().sleep(for: pause)
        try whenThere {
            _ = try $0.ask(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
                """)
        }
    }

    /// Then all of the server starts again, and recovers.
    fileprivate func killBackend(after pause: Duration) throws {
        let connection = try connect()
        let rows = try connection.ask(
            """
            SELECT pid::bigint FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
            """)
        _ = try Abandonment().sleep(for: pause)
        guard rows.count > 0 else { return }
        kill(pid_t(try rows.int(0, 0)), SIGKILL)
    }

    /// Raises the term, and appends a frame behind whatever is there.
    /// - Parameter head: one that may be the newest, or the one before it.
    fileprivate func takeOver(after head: LogHead) throws -> WholeFrame {
        let writer = JournalWriter(address, term: try raise(), abandonment: try Abandonment())
        let last = try whenThere { connection in
            let reader = JournalReader(address, after: head)
            _ = try reader.next(by: connection)
            return reader.head
        }
        var maker = FrameMaker("rival \(writer.term)")
        maker.go(to: last)
        let frame = try maker.make()
        while true {
            let result = Result { () throws(SharedJournalError) in
                try writer.append(frame, after: last)
            }
            switch result {
            case .success: return frame
            case .failure(let error):
                if error.code != .unavailable { throw error }
            }
        }
    }

    fileprivate func raise() throws -> UInt64 {
        try whenThere { try $0.raiseTerm(after: $0.term().term, by: Self.candidate) }
    }
}
