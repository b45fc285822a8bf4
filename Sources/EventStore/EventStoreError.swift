package import EventLog
@_spi(Rooms) import RelayRecords

/// Why a store could not be opened or its past could not be read.
///
/// `message` is one or more full sentences for people; programs switch over `code`.
package struct EventStoreError: Error, Sendable, CustomStringConvertible {
    package enum Code: Hashable, Sendable {
        /// The log itself could not be opened, read or written.
        case log(LogError.Code)
        /// The log is sound, but its events are not a history that this build can fold.
        case notAHistory
        /// A point outside the log: before the first kept event or after the last.
        case outOfRange
        /// An event that should be in the log but was not found, perhaps because another program is working
        /// on its files.
        case missing
        /// A text that does not name a point of a history.
        case notAPoint
        /// A store already continues this journal.
        case inUse
        /// More events would have to be read than whoever asked may have read.
        case limitExceeded
        /// The task that asked was cancelled.
        case cancelled
    }

    package let code: Code
    package let message: String
    package let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    package var description: String { message }

    /// Whether damage of the log is the cause: what is behind it may still be read.
    package var isDamage: Bool { code == .log(.damaged) }

    /// The place of the damage, if that is the cause.
    package var damage: LogDamage? { (cause as? LogError)?.damage }
}

extension EventStoreError: EventReadError {
    package var isLasting: Bool {
        switch code {
        case .log(.damaged), .log(.futureVersion), .notAHistory, .outOfRange: true
        default: false
        }
    }
}

extension EventStoreError {
    init(_ error: LogError) {
        self.init(.log(error.code), error.message, cause: error)
    }

    package static var cancelled: EventStoreError {
        EventStoreError(.cancelled, "Nobody waits for this any more. Nothing was changed.")
    }

    /// - Parameter events: how many it would take, if that is known.
    static func tooMuchWork(_ events: UInt64? = nil, limit: Int) -> EventStoreError {
        let count = events.map { "\($0)" } ?? "More"
        return EventStoreError(
            .limitExceeded,
            """
            \(count) events would have to be read for this, from the nearest checkpoint on, and at most \
            \(limit) are read for one answer; tools on a log's directory have no such limit.
            """)
    }

    static var onlyInMemory: EventStoreError {
        EventStoreError(.log(.notFound), "This history is in memory only: it has no files.")
    }

    static func unreadable(_ sequence: UInt64, _ error: MalformedEvent) -> EventStoreError {
        EventStoreError(
            .notAHistory,
            """
            Could not read event \(sequence): \(error.message). Its checksum is correct, so \
            another version or another program wrote it. Nothing was changed.
            """,
            cause: error)
    }

    static func journalInUse(_ directory: String) -> EventStoreError {
        EventStoreError(
            .inUse,
            """
            The journal in \(directory) belongs to a store already. Open it by \
            FileJournal(directory:) for each store; nothing was changed.
            """)
    }

    static func unfoldable(_ error: FoldError) -> EventStoreError {
        EventStoreError(.notAHistory, "\(error) Nothing was changed.", cause: error)
    }

    static func notRebuildable(_ sequence: UInt64, firstKept: UInt64) -> EventStoreError {
        EventStoreError(
            .outOfRange,
            """
            The state after event \(sequence) cannot be rebuilt: the log keeps events from \
            \(firstKept) on, and no checkpoint that this build can use is between the two.
            """)
    }

    static func notRebuildable(
        _ sequence: UInt64, after last: UInt64, _ damage: LogDamage
    ) -> EventStoreError {
        EventStoreError(
            .log(.damaged),
            """
            The state after event \(sequence) cannot be rebuilt: \(damage). The last one before \
            the damage is that after event \(last); checkpoints after it may lead to later ones.
            """, cause: LogError.damaged(damage))
    }

    static func unreadable(_ sequence: UInt64, _ damage: LogDamage) -> EventStoreError {
        unreadable(sequence...sequence, damage)
    }

    static func unreadable(_ lost: ClosedRange<UInt64>, _ damage: LogDamage) -> EventStoreError {
        let events =
            lost.count == 1
            ? "Event \(lost.lowerBound)" : "Events \(lost.lowerBound) to \(lost.upperBound)"
        return EventStoreError(
            .log(.damaged), "\(events) cannot be read: \(damage).",
            cause: LogError.damaged(damage))
    }

    static func missing(_ sequence: UInt64) -> EventStoreError {
        EventStoreError(
            .missing,
            """
            Event \(sequence) should be in the log and was not found. If another program works on its \
            files, look again when it is done. Nothing was changed.
            """)
    }

    static func occupied(_ directory: String) -> EventStoreError {
        EventStoreError(
            .log(.conflict), "There is a log in \(directory) already. Nothing was changed.")
    }

    static func outOfRange(_ message: String) -> EventStoreError {
        EventStoreError(.outOfRange, message)
    }

    /// - Parameter kept: the events that there are; nil if there are none.
    package static func outOfRange(
        _ sequence: UInt64, _ kept: ClosedRange<UInt64>?
    ) -> EventStoreError {
        EventStoreError(.outOfRange, "The log has no event \(sequence): it \(extent(kept)).")
    }

    /// Of an event that is named by its distance from the last one.
    package static func outOfRange(
        beforeLast count: UInt64, _ kept: ClosedRange<UInt64>?
    ) -> EventStoreError {
        EventStoreError(
            .outOfRange, "There is no event \(count) before the last: the log \(extent(kept)).")
    }

    private static func extent(_ kept: ClosedRange<UInt64>?) -> String {
        kept.map { "has events \($0.lowerBound) to \($0.upperBound)" } ?? "has none"
    }
}

/// Runs calls to the log, turning a failure into an ``EventStoreError``.
func onLog<Result>(_ body: () throws(LogError) -> Result) throws(EventStoreError) -> Result {
    do throws(LogError) { return try body() } catch { throw EventStoreError(error) }
}
