package import EventLog
package import PostgreSQL
import Threads

/// The writer of a journal for one term: appends frames while its term is the newest.
///
/// An append has one of three outcomes at the server, and two here. If the connection ends before the answer, the
/// frames may be in the journal, or not, or on their way. Then the writer
///
/// 1. connects again, until that is possible or the wait is given up;
/// 2. makes the new connection that of its term, which waits for an append that runs, is refused if the term is not
///    the newest any more, and has every append that arrives later by the old connection refused;
/// 3. reads what stands behind the frames' predecessor. Ours: they are in the journal. Another's: they are not.
///    Nothing: they are not, and it appends them again, as the term is still its own.
///
/// Until then nobody is told anything. The write in step 2 also waits for synchronous standbys, so that what step 3
/// finds is on those as well. If step 2 was refused, it has written nothing: then something else is, and waited for.
package final class JournalWriter: FrameCommitter {
    package let term: UInt64
    private let address: JournalAddress
    private let timeouts: PostgreSQLTimeouts
    private let abandonment: Abandonment
    private let report: (@Sendable (String) -> Void)?
    private let state: Lock<State>
    /// Since when it cannot connect, and when it has last tried. Apart from the state, which an append holds for as long
    /// as it lasts.
    private let refused = Lock<ClosedRange<ContinuousClock.Instant>?>(nil)

    private struct State {
        /// nil when it was lost.
        var connection: JournalConnection?
        /// The number of the connection; one that was only tried has one too.
        var number: UInt64
        /// An outcome that nobody knows: nothing may be appended behind it.
        var unknown: SharedJournalError?
    }

    /// The longest pause between two attempts to connect.
    private static let longestPause = Duration.seconds(2)

    /// - Parameters:
    ///   - term: which ``JournalConnection/raiseTerm(after:by:)`` gave.
    ///   - report: told in a sentence what an append waits for whose outcome is not known.
    package init(
        _ address: JournalAddress, term: UInt64,
        timeouts: PostgreSQLTimeouts = PostgreSQLTimeouts(), abandonment: Abandonment,
        report: (@Sendable (String) -> Void)? = nil
    ) {
        self.address = address
        self.term = term
        self.timeouts = timeouts
        self.abandonment = abandonment
        self.report = report
        state = Lock(State(connection: nil, number: 0, unknown: nil))
    }

    /// For how long it has tried in vain to connect; zero if it has not.
    package var isShutOutFor: Duration {
        refused.withLock { $0.map { $0.upperBound - $0.lowerBound } } ?? .zero
    }

    package func commit(_ frame: SharedFrame) throws(FrameRefusal) {
        do throws(SharedJournalError) {
            try append(FrameBatch(frame))
        } catch {
            throw FrameRefusal(error)
        }
    }

    /// Appends frames, and blocks until they are durable, or certainly not in the journal and never will be.
    /// - Throws: `wrongTerm`, `overtaken`, `unavailable`, `storageFull`, `tooLarge`, `unsafeServer`, `noJournal`: none
    ///   of them is in the journal. `diverged`: nor is what they build on. `unknown` if it was given up, and from then
    ///   on always.
    package func append(_ batch: FrameBatch) throws(SharedJournalError) {
        guard batch.byteCount <= FrameBatch.maximumBytes else { throw .tooLarge(batch.byteCount) }
        let result: Result<Void, SharedJournalError> = state.withLock { state in
            Result { () throws(SharedJournalError) in
                if let unknown = state.unknown { throw unknown }
                while try attempt(batch, &state) == .notCarriedOut {}
            }
        }
        try result.get()
    }

    private enum Outcome {
        case carriedOut
        /// By a connection that was lost. The writer may append it again.
        case notCarriedOut
    }

    private func attempt(_ batch: FrameBatch, _ state: inout State) throws(SharedJournalError)
        -> Outcome
    {
        let connection = try connect(&state)
        let answer: AppendAnswer
        do throws(PostgreSQLError) {
            answer = try AppendAnswer(
                connection.run(
                    """
                    SELECT outcome, at_term, at_last
                    FROM \(address.schema).append($1, $2, $3, $4, $5, $6, $7, $8)
                    """, batch.values(term: term, connection: state.number)))
        } catch {
            switch error.code {
            case .lost, .abandoned, .unexpectedAnswer:
                return try resolve(batch, &state, cause: error.message)
            case .refused where error.sqlState == .uniqueViolation:
                throw .overtaken(batch.previous, expected: batch.first)
            // Undone by the server, which said so.
            default: throw SharedJournalError(error)
            }
        }
        do throws(SharedJournalError) {
            try connection.checkStandbyHasIt()
        } catch {
            return try resolve(batch, &state, cause: error.message)
        }
        try check(answer, of: batch)
        return .carriedOut
    }

    private func check(_ answer: AppendAnswer, of batch: FrameBatch) throws(SharedJournalError) {
        switch answer.outcome {
        case "appended": return
        case "term": throw .wrongTerm(answer.term, ours: term)
        case "overtaken": throw .overtaken(answer.last, expected: batch.first)
        case "missing":
            throw .diverged("it ends with event \(answer.last), and had event \(batch.previous)")
        case "chain": throw .diverged("its event \(batch.previous) is another one")
        case "unsafe":
            throw .unsafeServer(address, "its setting fsync or full_page_writes was switched off")
        default:
            throw SharedJournalError(
                .damaged, "The journal in \(address) answers: \(answer.outcome).")
        }
    }

    // MARK: Connecting

    /// The connection, made anew if it was lost.
    private func connect(_ state: inout State) throws(SharedJournalError) -> JournalConnection {
        if let connection = state.connection, connection.isOpen { return connection }
        state.connection = nil
        let connection = try newConnection()
        if state.number > 0 { try take(connection, &state) }
        state.connection = connection
        return connection
    }

    private func newConnection() throws(SharedJournalError) -> JournalConnection {
        do throws(SharedJournalError) {
            let connection = try JournalConnection.toPrimary(
                address, timeouts: timeouts, abandonment: abandonment)
            refused.withLock { $0 = nil }
            return connection
        } catch {
            let now = ContinuousClock.now
            refused.withLock { $0 = ($0?.lowerBound ?? now)...now }
            throw error
        }
    }

    /// Makes a connection the writer's. Afterwards no append by another one goes in.
    private func take(
        _ connection: JournalConnection, _ state: inout State
    ) throws(SharedJournalError) {
        // One whose outcome is not known may come later than this one, and must then be refused.
        state.number += 1
        let rows = try connection.ask(
            "SELECT taken, at_term FROM \(address.schema).take_connection($1, $2)",
            [.int(Int64(clamping: term)), .int(Int64(clamping: state.number))])
        let (isTaken, newest) = try onServer { () throws(PostgreSQLError) in
            (try rows.bool(0, 0), UInt64(clamping: try rows.int(0, 1)))
        }
        guard isTaken else { throw .wrongTerm(newest, ours: term) }
        try connection.checkStandbyHasIt()
    }

    // MARK: An unknown outcome

    private func resolve(
        _ batch: FrameBatch, _ state: inout State, cause: String
    ) throws(SharedJournalError) -> Outcome {
        state.connection?.close()
        state.connection = nil
        var pause = Duration.milliseconds(20)
        var reason = cause
        report?("Whether event \(batch.first) is in the journal is to be found out. \(cause)")
        while abandonment.sleep(for: pause) {
            do throws(SharedJournalError) {
                return try findOut(batch, &state)
            } catch {
                switch error.code {
                case .wrongTerm, .overtaken, .diverged, .damaged, .address: throw error
                // The server is not there yet, or not as it should be.
                default:
                    if error.message != reason { report?(error.message) }
                    reason = error.message
                }
            }
            pause = min(pause * 2, Self.longestPause)
        }
        let unknown = SharedJournalError(
            .unknown,
            "Whether it is in the journal is not known, and finding out was given up. \(reason)")
        state.unknown = unknown
        throw unknown
    }

    /// What became of a batch whose connection was lost.
    private func findOut(
        _ batch: FrameBatch, _ state: inout State
    ) throws(SharedJournalError) -> Outcome {
        let connection = try newConnection()
        var loss: SharedJournalError?
        do throws(SharedJournalError) {
            try take(connection, &state)
        } catch {
            // Behind a newer term our append is over, too.
            guard case .wrongTerm = error.code else { throw error }
            loss = error
        }
        let standing = try whatStands(in: batch, connection)
        if loss == nil { state.connection = connection }
        switch standing {
        case .ours:
            if loss != nil { try connection.waitForStandby() }
            return .carriedOut
        case .anothers(let end): throw loss ?? .overtaken(end, expected: batch.first)
        case .nothing:
            if let loss { throw loss }
            return .notCarriedOut
        }
    }

    private enum Standing {
        case ours
        /// The journal's last event.
        case anothers(UInt64)
        case nothing
    }

    /// Looks at the place of the batch's first frame: the others are there if that is.
    private func whatStands(
        in batch: FrameBatch, _ connection: JournalConnection
    ) throws(SharedJournalError) -> Standing {
        let rows = try connection.ask(
            """
            SELECT term = $2 AND chain = $3 AND bytes = $4,
                (SELECT max(last) FROM \(address.schema).frames)
            FROM \(address.schema).frames WHERE seq = $1
            """,
            [
                .int(Int64(clamping: batch.first)), .int(Int64(clamping: term)),
                .bytes(batch.chains.first ?? []), .bytes(batch.contents.first ?? []),
            ])
        return try onServer { () throws(PostgreSQLError) in
            guard rows.count > 0 else { return .nothing }
            return try rows.bool(0, 0) ? .ours : .anothers(UInt64(clamping: try rows.int(0, 1)))
        }
    }
}

/// What `append` said (``JournalTables``).
private struct AppendAnswer {
    let outcome: String
    let term: UInt64
    let last: UInt64

    init(_ rows: PostgreSQLRows) throws(PostgreSQLError) {
        outcome = try rows.text(0, 0)
        term = UInt64(clamping: try rows.intIfAny(0, 1) ?? 0)
        last = UInt64(clamping: try rows.intIfAny(0, 2) ?? 0)
    }
}
