import RelayJSON
import RelayRecords

extension History {
    /// The extent of what a search looks at: in log order, or from the end back.
    package struct SearchRange: Sendable {
        /// The events behind this point.
        package var after: HistoryPoint?
        /// The events before this point; alone, those nearest to it.
        package var before: HistoryPoint?

        package init(after: HistoryPoint? = nil, before: HistoryPoint? = nil) {
            self.after = after
            self.before = before
        }

        var isBackward: Bool { after == nil && before != nil }
    }

    /// Events, in log order: from the beginning, behind a point, or the last ones before it.
    ///
    /// Ends early when the page is full, when the allowance is spent, when there is no time left, or before an event
    /// that damage hides: the page that would have to begin with that one is an error.
    /// - Parameters:
    ///   - now: microseconds since 1970, for points relative to it.
    ///   - mayGoOn: asked between events; a page ends at the first no, but looks at one event at least.
    /// - Throws: `outOfRange` if a point cannot be found, and read errors.
    package func eventPage(
        in range: SearchRange, _ filter: EventFilter, _ limits: HistoryPage.Limits, now: Int64,
        mayGoOn: () -> Bool = { true }
    ) throws(EventStoreError) -> HistoryPage {
        let page = HistoryPage(limits)
        let lower = try range.after.map { point throws(EventStoreError) in
            try first(behind: point, now: now)
        }
        let upper = try range.before.map { point throws(EventStoreError) in
            try last(before: point, now: now)
        }
        guard let readable, let start = lower ?? first, let end = upper ?? lastReadable,
            max(start, readable.lowerBound) <= min(end, readable.upperBound)
        else { return page }
        let wanted = max(start, readable.lowerBound)...min(end, readable.upperBound)
        guard let searched = filter.range(within: wanted) else { return page }
        return range.isBackward
            ? try eventsBackward(searched, filter, page, mayGoOn)
            : try eventsForward(searched, filter, page, mayGoOn)
    }

    private func eventsForward(
        _ range: ClosedRange<UInt64>, _ filter: EventFilter, _ empty: HistoryPage,
        _ mayGoOn: () -> Bool
    ) throws(EventStoreError) -> HistoryPage {
        var page = empty
        let summaries = try summaries(in: range)
        var looked: UInt64?
        do throws(EventStoreError) {
            while looked == nil || (!page.isFull && mayGoOn()) {
                guard let summary = try summaries.next() else { return page }
                try check(summary, filter)
                looked = summary.sequence
                if filter.admits(summary) { page.add(summary.text(page.form)) }
                if summary.sequence == range.upperBound { return page }
            }
        } catch  where error.endsPage && looked != nil {}
        page.next = looked.map { [.after: "\($0)"] }
        return page
    }

    private func eventsBackward(
        _ range: ClosedRange<UInt64>, _ filter: EventFilter, _ empty: HistoryPage,
        _ mayGoOn: () -> Bool
    ) throws(EventStoreError) -> HistoryPage {
        let pieces = SummaryPieces(self, in: range)
        var chosen: [String] = []
        var page = empty
        // Counts only: the lines come in the other order.
        var next: UInt64?
        search: do throws(EventStoreError) {
            while next == nil || mayGoOn(), let piece = try pieces.next() {
                for summary in piece.reversed() {
                    if page.isFull { break search }
                    try check(summary, filter)
                    next = summary.sequence
                    guard filter.admits(summary) else { continue }
                    let line = summary.text(page.form)
                    chosen.append(line)
                    page.add(line)
                }
                next = pieces.rest.map { $0.upperBound + 1 }
                if next == nil || page.isFull { break }
            }
        } catch  where error.endsPage && next != nil {}
        page.replace(by: chosen.reversed())
        page.next = next.map { [.before: "\($0)"] }
        return page
    }

    /// Whether an event meets a filter cannot be told if what it depends on, the mutation that the event ended, is damaged.
    private func check(
        _ summary: EventSummary, _ filter: EventFilter
    ) throws(EventStoreError) {
        guard endsAtDamage, let mutation = summary.ends, summary.intent == nil,
            filter.operation != nil || filter.condition != nil, readable?.contains(mutation) == true
        else { return }
        throw passedOver(mutation...mutation)
    }

    /// The first event behind a point. A point before the log is not an error: all events are behind it.
    /// - Returns: nil if there can be none.
    private func first(
        behind point: HistoryPoint, now: Int64
    ) throws(EventStoreError) -> UInt64? {
        if case .sequence(let sequence) = point {
            return sequence < .max ? sequence + 1 : nil
        }
        return try sequence(atOrBefore: point, now: now) + 1
    }

    /// The last event before a point.
    private func last(
        before point: HistoryPoint, now: Int64
    ) throws(EventStoreError) -> UInt64? {
        switch point {
        case .sequence(let sequence): return sequence > 0 ? sequence - 1 : nil
        case .beforeLast:
            let sequence = try sequence(atOrBefore: point, now: now)
            return sequence > 0 ? sequence - 1 : nil
        case .time(let time):
            // An event at that very time is not before it.
            let (before, isTooLow) = time.subtractingReportingOverflow(1)
            return isTooLow ? nil : try sequence(atOrBefore: .time(microseconds: before), now: now)
        case .ago(let span):
            let (before, isTooLow) = now.subtractingReportingOverflow(span)
            return isTooLow
                ? nil
                : try last(before: .time(microseconds: before), now: now)
        }
    }

    /// The event of a point; one less than the first kept if the point is before the log.
    private func sequence(
        atOrBefore point: HistoryPoint, now: Int64
    ) throws(EventStoreError) -> UInt64 {
        do throws(EventStoreError) {
            return try sequence(of: point, now: now)
        } catch  where error.code == .outOfRange {
            return first - 1
        }
    }
}

extension EventStoreError {
    /// What a page ends before; what follows is asked for by the next one.
    fileprivate var endsPage: Bool { code == .limitExceeded || isDamage }
}

extension EventSummary {
    fileprivate func text(_ form: HistoryPage.LineForm) -> String {
        form == .json ? json.text : line
    }
}
