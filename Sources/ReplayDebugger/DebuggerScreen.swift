package import EventStore

/// What is to be seen of a debugger.
package struct DebuggerScreen: Equatable {
    /// What the lower part shows.
    package enum Pane: Hashable, Sendable {
        /// What the event changed.
        case changes
        /// A whole record, after the event.
        case record(String)
        /// The mutations that had not ended.
        case pending
        /// The answer to a query, after the event.
        case answer(DebuggerQuery)
        /// What would be different at the end without the event.
        case without
        case help
    }

    /// A line of the lower part.
    package struct Row: Identifiable, Equatable, Sendable {
        package let id: Int
        package let text: String
        /// What it is about; nil if that is no field.
        package var record: String?
        package var field: String?
        /// Whether the event changed it.
        package var isChanged = false
    }

    /// What is asked for in the last line.
    package enum Question: Hashable, Sendable {
        case place, stop, query

        var label: String {
            switch self {
            case .place: "Go to (a number, a time, @-3):"
            case .stop: "Stop at (a record, RECORD.field, or a condition):"
            case .query: "Query:"
            }
        }
    }

    package var position: UInt64
    package var last: UInt64
    /// The event and those around it, as far as they can be read.
    package var neighbors: [EventSummary] = []
    package var pane = Pane.changes
    package var title = ""
    package var rows: [Row] = []
    /// Which events can be reached quickly; nil when all can.
    package var indexed: UInt64? = 0
    /// What runs, and how far it has come.
    package var work: String?
    /// What became of the last key.
    package var note: String?
    package var question: Question?
    package var stop: String?
    /// Whether a part of the log cannot be read.
    package var isDamaged = false

    /// Nil as long as it is not there, or if it cannot be read.
    package var summary: EventSummary? { neighbors.first { $0.sequence == position } }

    var head: String { "event \(position) of \(last)" }
}
