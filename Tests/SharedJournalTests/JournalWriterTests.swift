import BoundedTesting
import PostgreSQL
import PostgreSQLTesting
import Testing
import Threads

@testable import EventLog
@testable import SharedJournal

@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(10)))
struct JournalWriterTests {
    let server: PostgreSQLServer
    let journal: TestJournal

    init() throws {
        server = try PostgreSQLServer.shared.get()
        journal = try TestJournal(on: server)
    }

    // MARK: Making one

    @Test func aJournalIsMadeOnce() throws {
        let journal = try TestJournal(on: server, nil)
        #expect(try journal.connect().history() == nil)
        let outcomes = (0..<4).map { number in
            Outcome {
                try journal.connect().create(
                    JournalHistory(storeID: testStoreID, epoch: UInt32(number + 1)))
                return UInt32(number + 1)
            }
        }
        let results = outcomes.map { outcome in Result { try outcome.get() } }
        let made = results.compactMap { try? $0.get() }
        #expect(made.count == 1)
        #expect(results.compactMap(\.journalCode) == [.conflict, .conflict, .conflict])
        let history = try #require(try journal.connect().history())
        #expect(history.storeID == testStoreID)
        #expect([history.epoch] == made)
        #expect(history.base == .genesis)
        #expect(history.cursorKey.count == 16)
        #expect(history.clusterKey.count == 32)
    }

    @Test func whereThereIsNoJournalThatIsSaid() throws {
        let journal = try TestJournal(on: server, nil)
        let error = #expect(throws: SharedJournalError.self) {
            try journal.connect().completeHistory()
        }
        #expect(error?.code == .noJournal)
        let other = #expect(throws: SharedJournalError.self) { try journal.connect().term() }
        #expect(other?.code == .noJournal)
    }

    @Test func aJournalOfALaterVersionIsLeftAlone() throws {
        let connection = try journal.connect()
        try connection.ask("UPDATE \(journal.address.schema).history SET format = 2")
        let error = #expect(throws: SharedJournalError.self) { try connection.history() }
        #expect(error?.code == .futureVersion)
    }

    @Test(arguments: ["Ab", "a-b", "1a", "a b", "", String(repeating: "a", count: 64)])
    func aSchemaIsAPlainName(_ name: String) {
        let error = #expect(throws: SharedJournalError.self) {
            try JournalAddress(parsing: "postgres://h/d?schema=\(name)")
        }
        #expect(error?.code == .address)
    }

    @Test func whatIsAcknowledgedIsOnTheDisk() throws {
        let error = #expect(throws: SharedJournalError.self) {
            try JournalAddress(parsing: "postgres://h/d?synchronous_commit=off")
        }
        #expect(error?.code == .address)
        let url = server.url(schema: journal.address.schema) + "&synchronous_commit=remote_apply"
        let connection = try JournalConnection(
            JournalAddress(parsing: url), abandonment: Abandonment())
        let rows = try connection.ask("SELECT current_setting('synchronous_commit')")
        #expect(try rows.text(0, 0) == "remote_apply")
    }

    @Test func aSessionThatIsIdleStays() throws {
        let connection = try journal.connect()
        let rows = try connection.ask("SELECT current_setting('idle_session_timeout')")
        #expect(try rows.text(0, 0) == "0")
    }

    // MARK: Appending

    @Test func framesComeBackAsTheyWere() throws {
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        var frames: [WholeFrame] = []
        for events in [1, 3, 200] {
            let frame = try maker.make(events: events, size: 900)
            try writer.append(frame, after: maker.head)
            maker.took(frame)
            frames.append(frame)
        }
        var batch = FrameBatch(after: maker.head)
        for _ in 0..<5 {
            let frame = try maker.make()
            batch.append(frame)
            maker.took(frame)
            frames.append(frame)
        }
        try writer.append(batch)
        #expect(try journal.frames().map(\.bytes) == frames.map(\.bytes))
        let connection = try journal.connect()
        let head = try connection.head(of: connection.completeHistory())
        #expect(head.sequence == 209)
        #expect(head.chain == maker.head.hash)
        #expect(head.term == 1)
    }

    @Test func moreThanOneAnswerHoldsIsReadInSeveral() throws {
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        for _ in 0..<6 {
            let frame = try maker.make(size: 1_000_000)
            try writer.append(frame, after: maker.head)
            maker.took(frame)
        }
        let connection = try journal.connect()
        let reader = JournalReader(journal.address, of: try connection.completeHistory())
        let counts = try (0..<3).map { _ in try reader.next(by: connection).count }
        #expect(counts == [5, 1, 0])
        #expect(reader.head == maker.head)
    }

    @Test func listenersAreToldOfAppends() throws {
        let listener = try journal.connect()
        try listener.listen()
        var maker = FrameMaker()
        let frame = try maker.make(events: 3)
        try journal.makeWriter().append(frame, after: maker.head)
        #expect(try listener.nextNotification(within: .testDeadline) == "term 1")
        #expect(try listener.nextNotification(within: .testDeadline) == "3")
    }

    @Test func whoIsOvertakenIsToldByWhat() throws {
        let (one, other) = (try journal.makeWriter(), FrameMaker("other"))
        var maker = FrameMaker()
        let frame = try maker.make(events: 2)
        try one.append(frame, after: maker.head)
        var others = other
        let late = try others.make()
        let error = #expect(throws: SharedJournalError.self) {
            try one.append(late, after: others.head)
        }
        #expect(error?.code == .overtaken(2))
        #expect(try journal.frames().count == 1)
    }

    @Test func aWriterOfAnEarlierTermIsTold() throws {
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        maker.took(frame)
        let next = try journal.makeWriter()
        let late = try maker.make()
        let error = #expect(throws: SharedJournalError.self) {
            try writer.append(late, after: maker.head)
        }
        #expect(error?.code == .wrongTerm(2))
        try next.append(late, after: maker.head)
        #expect(try journal.frames().count == 2)
    }

    @Test func aJournalThatLacksWhatItHadStopsItsWriter() throws {
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        var other = FrameMaker("other")
        other.took(try other.make())
        let wrong = #expect(throws: SharedJournalError.self) {
            try writer.append(other.make(), after: other.head)
        }
        #expect(wrong?.code == .diverged)
        other.took(try other.make())
        let missing = #expect(throws: SharedJournalError.self) {
            try writer.append(other.make(), after: other.head)
        }
        #expect(missing?.code == .diverged)
        #expect(missing.map { FrameRefusal($0).code } == .unknown)
    }

    @Test func aFrameThatIsTooLargeIsRefusedBeforeItIsSent() throws {
        let writer = try journal.makeWriter()
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: FrameBatch.maximumBytes + 1, alignment: 8)
        defer { bytes.deallocate() }
        let error = #expect(throws: FrameRefusal.self) {
            try writer.commit(
                SharedFrame(
                    sequences: 1...1, previousChain: .zero, chain: .zero,
                    bytes: UnsafeRawBufferPointer(bytes)))
        }
        #expect(error?.code == .storageFull)
    }

    // MARK: Terms

    @Test func aTermIsRaisedOnce() throws {
        let outcomes = (0..<4).map { number in
            Outcome { [journal] in
                let candidate = JournalCandidate(
                    node: "node\(number)", address: "", lease: .seconds(60))
                return try journal.connect().raiseTerm(after: 0, by: candidate)
            }
        }
        let results = outcomes.map { outcome in Result { try outcome.get() } }
        #expect(results.compactMap { try? $0.get() } == [1])
        #expect(results.compactMap(\.journalCode).filter { $0 == .wrongTerm(1) }.count == 3)
    }

    @Test func aServerThatTakesNoWritesIsSaidToBeAStandbyPerhaps() throws {
        let address = try JournalAddress(
            parsing: journal.server.url(schema: journal.address.schema)
                + "&options=-c%20default_transaction_read_only%3Don")
        let connection = try JournalConnection(address, abandonment: Abandonment())
        let error = #expect(throws: SharedJournalError.self) {
            try connection.raiseTerm(after: 0, by: TestJournal.candidate)
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("target_session_attrs=read-write") == true)
    }

    /// PostgreSQL's clock was set back, or another server with another clock has taken over.
    @Test func aLeaseThatWasRenewedLaterThanNowDoesNotCount() throws {
        let connection = try journal.connect()
        _ = try connection.raiseTerm(after: 0, by: TestJournal.candidate)
        let two = JournalCandidate(node: "two", address: "ws://two", lease: .seconds(10))
        let change = """
            UPDATE \(journal.address.schema).lease
            SET renewed = renewed + $1 * interval '1 s', expires = expires + $1 * interval '1 s'
            """
        try connection.ask(change, [.int(3_600)])
        #expect(try (connection.lease()?.remaining).map { $0 <= .zero } == true)
        let term = try connection.raiseTerm(after: 1, by: two, respectsLease: true)
        #expect(term == 2)
        #expect(throws: SharedJournalError.self) {
            try connection.raiseTerm(after: 2, by: TestJournal.candidate, respectsLease: true)
        }
    }

    @Test func aLeaseIsRespectedUntilItRunsOut() throws {
        let connection = try journal.connect()
        let one = JournalCandidate(node: "one", address: "ws://one", lease: .seconds(600))
        let two = JournalCandidate(node: "two", address: "ws://two", lease: .seconds(600))
        #expect(try connection.lease() == nil)
        #expect(try connection.raiseTerm(after: 0, by: one, respectsLease: true) == 1)
        let error = #expect(throws: SharedJournalError.self) {
            try connection.raiseTerm(after: 1, by: two, respectsLease: true)
        }
        #expect(error?.code == .wrongTerm(1))
        #expect(try connection.renewLease(term: 1, of: one))
        #expect(try !connection.renewLease(term: 1, of: two))
        let lease = try #require(try connection.lease())
        #expect(lease.node == "one" && lease.address == "ws://one" && lease.term == 1)
        #expect(lease.remaining > .seconds(300))
        try connection.giveUpLease(term: 1, of: one)
        #expect(try connection.raiseTerm(after: 1, by: two, respectsLease: true) == 2)
        #expect(try !connection.renewLease(term: 1, of: one))
        #expect(try connection.term() == JournalTerm(term: 2, writer: "two"))
    }

    @Test func raisingTheTermWaitsForAnAppendThatRuns() throws {
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        let frame = try maker.make()
        // An append whose transaction stays open.
        let running = try journal.connect()
        try running.ask("BEGIN")
        var batch = FrameBatch(after: maker.head)
        batch.append(frame)
        let rows = try running.ask(
            "SELECT outcome FROM \(journal.address.schema).append($1, $2, $3, $4, $5, $6, $7, $8)",
            batch.values(term: writer.term, connection: 0))
        #expect(try rows.text(0, 0) == "appended")
        let raised = Outcome { [journal] in try journal.makeWriter() }
        let observer = try journal.connect()
        try observer.wait(for: Self.isWaiting, [.text("%\(journal.address.schema).raise_term%")])
        #expect(!raised.isThere)
        try running.ask("COMMIT")
        let next = try raised.get()
        #expect(next.term == 2)
        #expect(try journal.frames().count == 1)
        maker.took(frame)
        let late = try maker.make()
        #expect(throws: SharedJournalError.self) { try writer.append(late, after: maker.head) }
        try next.append(late, after: maker.head)
    }

    @Test func anAppendWaitsForATermThatIsBeingRaised() throws {
        let writer = try journal.makeWriter()
        let running = try journal.connect()
        try running.ask("BEGIN")
        #expect(try running.raiseTerm(after: 1, by: TestJournal.candidate) == 2)
        let appended = Outcome {
            var maker = FrameMaker()
            let frame = try maker.make()
            try writer.append(frame, after: maker.head)
        }
        let observer = try journal.connect()
        try observer.wait(for: Self.isWaiting, [.text("%\(journal.address.schema).append%")])
        #expect(!appended.isThere)
        try running.ask("COMMIT")
        let error = #expect(throws: SharedJournalError.self) { try appended.get() }
        #expect(error?.code == .wrongTerm(2))
        #expect(try journal.frames().isEmpty)
    }

    private static let isWaiting =
        """
        SELECT FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE $1 AND pid <> pg_backend_pid()
        """

    @Test func aWriterWithoutPausesDoesNotKeepTheTermFromRising() throws {
        let writer = try journal.makeWriter()
        let appended = Outcome {
            var maker = FrameMaker()
            var count = 0
            while true {
                let frame = try maker.make()
                do throws(SharedJournalError) {
                    try writer.append(frame, after: maker.head)
                } catch {
                    guard case .wrongTerm = error.code else { throw error }
                    return count
                }
                maker.took(frame)
                count += 1
            }
        }
        let observer = try journal.connect()
        try observer.wait(for: "SELECT FROM \(journal.address.schema).frames WHERE seq = 20")
        _ = try journal.makeWriter()
        #expect(try appended.get() == journal.frames().count)
    }

    // MARK: Servers

    @Test(arguments: ["fsync", "full_page_writes"])
    func aServerThatWouldLoseDataIsRefused(_ setting: String) throws {
        let server = try PostgreSQLServer([setting: "off"])
        let error = #expect(throws: SharedJournalError.self) {
            try TestJournal(on: server)
        }
        #expect(error?.code == .unsafeServer)
        #expect(error?.message.contains(setting) == true)
    }

    @Test func aServerThatBeginsToLoseDataIsRefused() throws {
        let server = try PostgreSQLServer()
        let journal = try TestJournal(on: server)
        let writer = try journal.makeWriter()
        var maker = FrameMaker()
        let frame = try maker.make()
        try writer.append(frame, after: maker.head)
        maker.took(frame)
        let observer = try server.connect()
        try observer.run("ALTER SYSTEM SET fsync = off")
        try observer.run("SELECT pg_reload_conf()")
        var error: SharedJournalError?
        let deadline = ContinuousClock.now + .testDeadline
        while error == nil, ContinuousClock.now < deadline {
            let frame = try maker.make()
            do throws(SharedJournalError) {
                try writer.append(frame, after: maker.head)
                maker.took(frame)
            } catch let refusal { error = refusal }
        }
        #expect(error?.code == .unsafeServer)
    }

    @Test func aStatementThatTakesTooLongIsNotCarriedOut() throws {
        var timeouts = PostgreSQLTimeouts()
        timeouts.statement = .milliseconds(200)
        let byStatement = try journal.makeWriter(timeouts: timeouts)
        let holder = try journal.connect()
        var maker = FrameMaker()
        let frame = try maker.make()
        try holder.ask("BEGIN")
        try holder.ask("LOCK TABLE \(journal.address.schema).term IN EXCLUSIVE MODE")
        let error = #expect(throws: SharedJournalError.self) {
            try byStatement.append(frame, after: maker.head)
        }
        #expect(error?.code == .unavailable)
        timeouts = PostgreSQLTimeouts()
        timeouts.lock = .milliseconds(200)
        let byLock = JournalWriter(
            journal.address, term: byStatement.term, timeouts: timeouts,
            abandonment: try Abandonment())
        let other = #expect(throws: SharedJournalError.self) {
            try byLock.append(frame, after: maker.head)
        }
        #expect(other?.code == .unavailable)
        try holder.ask("COMMIT")
        #expect(try journal.frames().isEmpty)
        try byStatement.append(frame, after: maker.head)
        #expect(try journal.frames().count == 1)
    }
}
