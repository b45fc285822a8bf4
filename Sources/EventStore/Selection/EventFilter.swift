@_spi(Rooms) import RelayRecords

/// Which events of a log are looked at.
package struct EventFilter {
    /// Empty for all kinds.
    package var kinds: Set<String> = []
    /// The name of an operation, or a field of the mutation type.
    package var operation: String?
    /// The id of a record that they write.
    package var record: String?
    package var condition: EventCondition?

    package init() {}

    /// The names of kinds of events.
    package static let knownKinds = EventKind.allCases.map(\.name)

    package func admits(_ event: EventSummary) -> Bool {
        (kinds.isEmpty || kinds.contains(event.kind))
            && (operation == nil || operation == event.operation
                || operation == event.intent?.field)
            && record.map(event.records.contains) ?? true
            && condition?.holds(for: event) ?? true
    }

    /// The part of a range that contains all events that it admits: what a condition says of sequences need not be
    /// looked for.
    /// - Returns: nil if it admits none.
    package func range(within range: ClosedRange<UInt64>) -> ClosedRange<UInt64>? {
        guard let condition else { return range }
        guard let bounds = condition.bounds, bounds.overlaps(range) else { return nil }
        return bounds.clamped(to: range)
    }
}
