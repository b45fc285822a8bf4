package import EventLog
import PostgreSQL

/// Why something asked of a shared journal was not done.
///
/// `message` is one or more full sentences for people, without passwords; programs switch over `code`.
package struct SharedJournalError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The address is not one.
        case address
        /// The server cannot be reached, or cannot do it now; it may later. Nothing was changed.
        case unavailable
        /// The server would lose what it acknowledged, or is too old.
        case unsafeServer
        /// There is no journal at the address.
        case noJournal
        /// There is one already, or one that is not complete.
        case conflict
        /// A later version of this program made it.
        case futureVersion
        /// A frame is missing, or is not what was appended. `damage` says which.
        case damaged
        /// Another writer has taken over, with this term.
        case wrongTerm(UInt64)
        /// Another writer's frame stands where this one was to be. The journal ends with this event.
        case overtaken(UInt64)
        /// The journal lacks what this writer knows to be in it, or has something else there.
        case diverged
        case storageFull
        /// A directory's log, of or for a journal, could not be read or written.
        case copy(LogError.Code)
        /// The frame is too large for a journal.
        case tooLarge
        /// The wait was given up. Whether the frame is in the journal is not known.
        case unknown
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

extension SharedJournalError {
    init(_ error: PostgreSQLError) {
        switch error.code {
        case .badAddress: self.init(.address, error.message)
        case .noLibrary, .notConnected, .lost: self.init(.unavailable, error.message)
        case .abandoned: self.init(.unknown, error.message)
        case .unexpectedAnswer: self.init(.damaged, error.message)
        case .refused where error.sqlState == .readOnlyTransaction:
            self.init(.unavailable, "\(error.message) It takes no writes. \(Self.standbyHint)")
        case .refused: self.init(Self.code(of: error.sqlState), error.message)
        }
    }

    private static func code(of state: SQLState?) -> Code {
        switch state {
        case .undefinedTable, .undefinedFunction, .undefinedSchema: .noJournal
        case .diskFull: .storageFull
        default: .unavailable
        }
    }

    static func noJournal(_ address: JournalAddress) -> SharedJournalError {
        SharedJournalError(
            .noJournal,
            "There is no journal in \(address). `relay journal import` makes one of a directory.")
    }

    static func incomplete(_ address: JournalAddress) -> SharedJournalError {
        SharedJournalError(
            .conflict,
            "The journal in \(address) is not complete: an import into it is running or was interrupted. "
                + "The same `relay journal import` again completes it.")
    }

    static func futureVersion(_ address: JournalAddress, _ format: Int64) -> SharedJournalError {
        SharedJournalError(
            .futureVersion,
            "The journal in \(address) has format \(format); this program knows formats up to "
                + "\(JournalHistory.currentFormat). Nothing was changed; use the newer program.")
    }

    static func unsafeServer(_ address: JournalAddress, _ reason: String) -> SharedJournalError {
        SharedJournalError(
            .unsafeServer,
            "\(address) cannot hold a journal: \(reason). Nothing was appended.")
    }

    static func wrongTerm(_ term: UInt64, ours: UInt64) -> SharedJournalError {
        SharedJournalError(
            .wrongTerm(term),
            term == ours
                ? "Another connection of the writer of term \(term) has taken its place. Nothing was appended."
                : "Another writer has taken over: its term is \(term), and this one's was \(ours). Nothing was "
                    + "appended.")
    }

    private static let standbyHint = """
        Perhaps it follows another server: an address of several hosts needs target_session_attrs=read-write to find the \
        one that leads.
        """

    static func isStandby(_ address: JournalAddress) -> SharedJournalError {
        SharedJournalError(.unavailable, "\(address) is in recovery. \(standbyHint)")
    }

    static func overtaken(_ last: UInt64, expected: UInt64) -> SharedJournalError {
        SharedJournalError(
            .overtaken(last),
            last < expected
                ? "Another writer is appending event \(expected). Nothing was appended."
                : "The journal is at event \(last) already, and event \(expected) is another writer's. Nothing "
                    + "was appended.")
    }

    static func diverged(_ reason: String) -> SharedJournalError {
        SharedJournalError(
            .diverged,
            "The journal is not the one that was written: \(reason). It may have been restored from a "
                + "backup, or a replica that was behind has taken over. Nothing was appended.")
    }

    static func tooLarge(_ byteCount: Int) -> SharedJournalError {
        SharedJournalError(
            .tooLarge,
            "A frame of \(byteCount) bytes cannot be appended to a journal, which takes at most "
                + "\(FrameBatch.maximumBytes). Nothing was appended.")
    }

    static func damaged(_ address: JournalAddress, event: UInt64, _ reason: String)
        -> SharedJournalError
    {
        SharedJournalError(
            .damaged, "The journal in \(address) is damaged at event \(event): \(reason).")
    }
}

extension FrameRefusal {
    package init(_ error: SharedJournalError) {
        let code: Code =
            switch error.code {
            case .wrongTerm, .overtaken: .overtaken
            case .storageFull, .tooLarge: .storageFull
            case .unavailable, .noJournal, .unsafeServer: .unavailable
            // What makes a writer stop.
            case .unknown, .diverged, .damaged, .conflict, .futureVersion, .address, .copy:
                .unknown
            }
        self.init(code, error.message)
    }
}

/// Runs calls of the PostgreSQL room, turning a failure into a ``SharedJournalError``.
func onServer<Result>(
    _ body: () throws(PostgreSQLError) -> Result
) throws(SharedJournalError) -> Result {
    do throws(PostgreSQLError) { return try body() } catch { throw SharedJournalError(error) }
}
