/// A part of what a tool prints of a history, and where the rest begins.
package struct HistoryPage: Sendable {
    /// The names of what a page can be asked to begin with.
    package enum Place: String, Sendable, CaseIterable {
        /// Events behind this one, or before that one; records behind the one with this id.
        case after, before
        /// Lines to leave out, of those that there would be.
        case skip, from
        /// The points of states, as events.
        case at, a, b
        /// An event.
        case sequence
    }

    /// What a page may hold, and whether it is for programs or for people.
    package struct Limits: Sendable {
        package var lines: Int
        /// Nothing is added to a page that has as many bytes.
        package var bytes = 4 << 20
        package var form = LineForm.json

        package init(lines: Int) { self.lines = lines }
    }

    package enum LineForm: Sendable {
        case json
        case text
    }

    private let limits: Limits
    /// As they are printed, each with its end.
    package private(set) var bytes: [UInt8] = []
    package private(set) var lineCount = 0
    /// What to ask for, instead of what was asked for, to go on; nil when nothing is left.
    package var next: [Place: String]?

    init(_ limits: Limits) { self.limits = limits }

    var isFull: Bool { lineCount >= limits.lines || bytes.count >= limits.bytes }

    var form: LineForm { limits.form }

    mutating func add(_ line: String) {
        bytes.append(contentsOf: line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        lineCount += 1
    }

    mutating func replace(by lines: some Sequence<String>) {
        (bytes, lineCount) = ([], 0)
        for line in lines { add(line) }
    }
}

/// Why there is no page.
package enum HistoryPageError: Error {
    /// What was asked about is not in the history.
    case nothing(String)
}
