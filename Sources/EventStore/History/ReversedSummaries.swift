/// Summaries of events, a piece of the log at a time, the newest piece first. Not Sendable, because it is stateful.
final class SummaryPieces {
    private static let length: UInt64 = 512
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
        let length = min(Self.length, rest.upperBound - rest.lowerBound + 1)
        let first = rest.upperBound - length + 1
        let summaries = try history.summaries(in: first...rest.upperBound)
        var piece: [EventSummary] = []
        while let summary = try summaries.next() { piece.append(summary) }
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
