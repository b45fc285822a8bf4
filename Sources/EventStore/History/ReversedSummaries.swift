/// Summaries of events, a piece of the log at a time, the newest piece first. Not Sendable, because it is stateful.
///
/// Pieces grow: often the first one has what is looked for, and events may be large.
final class SummaryPieces {
    private static let longest: UInt64 = 512
    /// Bytes of events in one piece, about.
    private static let usualBytes: UInt64 = 1 << 20
    private var length: UInt64 = 16
    private let history: History
    /// Goes by what damage hides.
    private let skipping: History
    /// What comes before the last piece; nil when it was the first.
    private(set) var rest: ClosedRange<UInt64>?

    init(_ history: History, in range: ClosedRange<UInt64>) {
        self.history = history
        var skipping = history
        skipping.endsAtDamage = false
        self.skipping = skipping
        rest = range
    }

    /// The piece before the last one, in log order; nil at the beginning. Where reading ends at damage, a piece begins
    /// behind it, and the next one is an error.
    func next() throws(EventStoreError) -> [EventSummary]? {
        guard let rest else { return nil }
        let length = min(length, rest.upperBound - rest.lowerBound + 1)
        var first = rest.upperBound - length + 1
        let summaries = try skipping.summaries(in: first...rest.upperBound)
        var piece: [EventSummary] = []
        var expected = first
        while let summary = try summaries.next() {
            if history.endsAtDamage, summary.sequence > expected {
                piece = []
                first = summary.sequence
            }
            piece.append(summary)
            expected = summary.sequence + 1
        }
        if history.endsAtDamage, expected <= rest.upperBound {
            throw history.passedOver(expected...rest.upperBound)
        }
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
