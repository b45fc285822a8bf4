import BoundedTesting
import PostgreSQL
import PostgreSQLTesting
import Testing

@testable import EventLog
@testable import SharedJournal

/// Journals that are not what was written.
@Suite(.bounded, .needsPostgreSQL, .timeLimit(.minutes(5)))
struct JournalReaderTests {
    let journal: TestJournal

    /// Five frames of two events.
    init() throws {
        journal = try TestJournal(on: try PostgreSQLServer.shared.get())
        var maker = FrameMaker()
        let writer = try journal.makeWriter()
        for _ in 0..<5 {
            let frame = try maker.make(events: 2)
            try writer.append(frame, after: maker.head)
            maker.took(frame)
        }
    }

    @Test(arguments: [
        ("DELETE FROM S.frames WHERE seq = 5", 5, "begins with event 7 instead of 5"),
        (
            "UPDATE S.frames SET bytes = set_byte(bytes, 100, 7) WHERE seq = 3", 3,
            "do not match their checksum"
        ),
        (
            "UPDATE S.frames SET chain = decode(repeat('00', 32), 'hex') WHERE seq = 7", 7,
            "row does not say"
        ),
        ("UPDATE S.frames SET term = 9 WHERE seq = 3", 5, "an earlier frame's is 9"),
        ("UPDATE S.frames SET bytes = ''::bytea WHERE seq = 1", 1, "ends within the frame"),
        (
            """
            UPDATE S.frames SET bytes = (SELECT bytes FROM S.frames WHERE seq = 3), last = 11
            WHERE seq = 9
            """, 9, "begins with event 3 instead of 9"
        ),
    ])
    func whatIsNotAsItWasAppendedIsDamage(_ change: String, _ event: Int, _ reason: String) throws {
        let schema = journal.address.schema
        let whole = try journal.frames()
        #expect(whole.count == 5)
        try journal.connect().ask(change.replacing("S.", with: schema + "."))
        let error = #expect(throws: SharedJournalError.self) { try journal.frames() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("at event \(event):") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    /// A frame that somebody made fit, with another content.
    @Test func anotherHistoryIsDamage() throws {
        var forger = FrameMaker("forger")
        forger.go(to: LogHead(sequence: 4, epoch: 1, hash: .zero))
        let forged = try forger.make(events: 2)
        try journal.connect().ask(
            "UPDATE \(journal.address.schema).frames SET bytes = $1, chain = $2 WHERE seq = 5",
            [.bytes(forged.bytes), .bytes(forged.chain.bytes)])
        let error = #expect(throws: SharedJournalError.self) { try journal.frames() }
        #expect(error?.message.contains("chain hash does not follow") == true)
    }

    @Test func aReaderGoesOnWhereAnotherEnded() throws {
        let connection = try journal.connect()
        let frames = try journal.frames()
        let reader = JournalReader(journal.address, after: frames[2].head)
        #expect(try reader.next(by: connection).map(\.bytes) == frames[3...].map(\.bytes))
        #expect(try reader.next(by: connection).isEmpty)
        #expect(try connection.chain(after: 6) == frames[2].chain)
        #expect(try connection.chain(after: 5) == nil)
        #expect(try connection.chain(after: 12) == nil)
    }
}
