import RelayRecords

extension History {
    /// The event after which the history is as it was at a point.
    ///
    /// For a time, this is an event that is not later, where the next one is later or there is none. If a
    /// clock was set back, there may be several; one of them is found.
    /// - Parameter now: microseconds since 1970, for points relative to it.
    /// - Throws: `outOfRange` if the point is before the first kept event or after the last. A time after the
    ///   last event is in range, because nothing has happened since.
    package func sequence(
        of point: HistoryPoint, now: Int64
    ) throws(EventStoreError) -> UInt64 {
        guard last > 0 else { throw .outOfRange("The log is empty: it has no state yet.") }
        // A checkpoint may hold the state before the first kept event.
        let states = max(1, first - 1)...last
        switch point {
        case .sequence(let sequence):
            guard states.contains(sequence) || readable?.contains(sequence) == true else {
                throw .outOfRange(sequence, readable)
            }
            return sequence
        case .beforeLast(let count):
            guard count <= last - states.lowerBound else {
                throw .outOfRange(beforeLast: count, first <= last ? first...last : nil)
            }
            return last - count
        case .time(let time):
            return try sequence(at: time)
        case .ago(let span):
            let (time, isBeforeAllTime) = now.subtractingReportingOverflow(span)
            return try sequence(at: isBeforeAllTime ? .min : time)
        }
    }

    /// How many events are read sequentially instead of by binary search, in which each step takes a seek.
    private static let scanLength: UInt64 = 20_000

    private func sequence(at time: Int64) throws(EventStoreError) -> UInt64 {
        // The only state there is; nothing has happened since.
        guard let extent else { return last }
        // The event at `low` is not after the time; the one at `high` is, or is past the last.
        var low = try notLater(than: time, in: extent)
        var high = extent.upperBound + 1
        while high - low > Self.scanLength {
            let middle = low + (high - low) / 2
            if try timeOfEvent(middle) <= time { low = middle } else { high = middle }
        }
        let rest = try times(in: low...high - 1)
        while let next = try rest.next(), next.microseconds <= time { low = next.sequence }
        return low
    }

    /// An event from which to start a search: the first or, if the clock was set back after it, one shortly
    /// after it, or the last.
    private func notLater(
        than time: Int64, in extent: ClosedRange<UInt64>
    ) throws(EventStoreError) -> UInt64 {
        let end = min(extent.upperBound, extent.lowerBound + Self.scanLength)
        let events = try times(in: extent.lowerBound...end)
        while let event = try events.next() {
            if event.microseconds <= time { return event.sequence }
        }
        if try timeOfEvent(extent.upperBound) <= time { return extent.upperBound }
        let first = try timeOfEvent(extent.lowerBound)
        throw .outOfRange(
            """
            There is no state at \(RFC3339.text(microseconds: time)): the log begins with \
            event \(extent.lowerBound) at \(RFC3339.text(microseconds: first)).
            """)
    }

    private func timeOfEvent(_ sequence: UInt64) throws(EventStoreError) -> Int64 {
        guard let time = try times(in: sequence...sequence).next() else {
            throw .outOfRange(sequence, extent)
        }
        return time.microseconds
    }
}
