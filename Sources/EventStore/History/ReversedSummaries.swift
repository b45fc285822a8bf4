/// Summaries of events, a piece of the log at a time, the newest piece first. Not Sendable, because it is stateful.
///
/// Pieces grow: often the first one has what is looked for, and events may be large.
final class SummaryPieces {
    private static let longest: UInt64 = 512
    /// Bytes of events in one piece, about.
    private static let usualBytes: UInt64 = 1 << 20
    private var length: UInt64 = 16
    private let history: History
    /// What comes before the last piece; nil when it was the first.
    private(set) var rest: ClosedRange<UInt64>?

    init(_ history: History, in range: ClosedRange<UInt64>) {
        self.history = history
        rest = range
    }

    /// The piece before the last one, in log order; nil at the beginning.
    func next() throws(EventStoreError) -> [EventSummary]? {
        guard let rest else { return nil }
        let length = min(length, rest.upperBound - rest.lowerBound + 1)
        let first = rest.upperBound - length + 1
        let summaries = try history.summaries(in: first...rest.upperBound)
        var piece: [EventSummary] = []
        while let summary = try summaries.next() { piece.append(summary) }
        // Intents are held with them, which a piece of a large history would be too many of.
        let isLarge = summaries.byteCount > Self.usualBytes
        self.length = isLarge ? max(self.length / 2, 1) : min(self.length * 2, Self.longest)
        self.rest = first > rest.lowerBound ? rest.lowerBound...first - 1 : nil
        return piece
    }
}

/// Summaries of events from the newest to the oldest. Not Sendable, because it is stateful.
package final class ReversedSummaries {
    private let pieces: SummaryPieces
    private var piece: [EventSummary] = []

    package init(_ history: History, in range: ClosedRange<UInt64>) {
        pieces = SummaryPieces(history, in: range)
    }

    /// The event before the last one; nil at the beginning.
    package func next() throws(EventStoreError) -> EventSummary? {
        while piece.isEmpty, let next = try pieces.next() { piece = next }
        return piece.popLast()
    }
}
