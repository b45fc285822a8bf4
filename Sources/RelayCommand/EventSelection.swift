import ArgumentParser
import EventStore
@_spi(Rooms) import RelayRecords
import RelayServer

/// Which events of a log a command looks at.
struct EventSelection: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "From this point on: 1h, 2026-11-21T09:30:00Z, a sequence, @-20.", valueName: "point"))
    var since: String?

    @Option(help: ArgumentHelp("Up to this point.", valueName: "point"))
    var until: String?

    @Option(help: "genesis, schema, mutation, response, revocation or update.")
    var kind: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of this operation, or of this field of the mutation type.", valueName: "name"))
    var operation: String?

    @Option(help: ArgumentHelp("That write this record.", valueName: "id"))
    var record: String?

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            """
            That meet this condition, such as 'variables.input.text contains "corn"'; \
            docs/replay.md describes conditions.
            """, valueName: "expression"))
    var condition: String?

    func validate() throws {
        do throws(EventTextError) {
            _ = try condition.map(parse)
        } catch {
            throw ValidationError("--where cannot be parsed. \(error)")
        }
        for name in kind where !EventFilter.knownKinds.contains(name) {
            let known = EventFilter.knownKinds.joined(separator: ", ")
            throw ValidationError("--kind \(name) is not known; write \(known).")
        }
    }

    private func parse(_ text: String) throws(EventTextError) -> EventCondition {
        try EventCondition(parsing: text, now: WallClock.microseconds())
    }

    /// Says of each event whether it is looked at.
    func makeFilter() throws -> EventFilter {
        var filter = EventFilter()
        filter.kinds = Set(kind)
        filter.operation = operation
        filter.record = record
        filter.condition = try condition.map(parse)
        return filter
    }

    /// The events between `--since` and `--until`; nil when there are none.
    func range(in history: History) throws -> ClosedRange<UInt64>? {
        guard let extent = history.readable else { return nil }
        let first = try since.map { try firstEvent(since: $0, in: history) } ?? extent.lowerBound
        let last = try until.map { try lastEvent(until: $0, in: history) } ?? extent.upperBound
        guard first <= last else { return nil }
        return try makeFilter().range(within: first...last)
    }

    /// The same for a server (`/log/events`, docs/http.md).
    /// - Parameter isBackward: the newest first.
    func parameters(isBackward: Bool) throws -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        if let point = try since.flatMap(pointBefore) {
            parameters.append(("after", point))
        } else if !isBackward {
            // Alone, "before" asks for the newest.
            parameters.append(("after", "0"))
        }
        if let point = try until.flatMap(pointBehind) {
            parameters.append(("before", point))
        } else if isBackward {
            parameters.append(("before", String(UInt64.max)))
        }
        if !kind.isEmpty { parameters.append(("kind", kind.joined(separator: ","))) }
        if let operation { parameters.append(("operation", operation)) }
        if let record { parameters.append(("record", record)) }
        if let condition { parameters.append(("where", condition)) }
        return parameters
    }

    /// The events that are named, for which a log must have them.
    func namedEvents() throws -> [HistoryPoint] {
        try [since, until].compactMap { text in
            guard let text, case .event(let point) = try moment(text) else { return nil }
            return point
        }
    }

    /// Whether no event can be meant: there is no operation, and no record, without a name.
    var isOfNothing: Bool { operation == "" || record == "" }

    /// The second of January of the year 1: an earlier time cannot be written.
    private static let earliest: Int64 = -62_135_510_400_000_000

    /// The last point that is not selected by `--since`; nil if there is none.
    private func pointBefore(_ text: String) throws -> String? {
        switch try moment(text) {
        case .event(.sequence(let sequence)): sequence > 0 ? String(sequence - 1) : nil
        case .event(.beforeLast(let count)): count < .max ? "@-\(count + 1)" : nil
        case .event: text
        case .time(let time): RFC3339.text(microseconds: max(time, Self.earliest) - 1)
        }
    }

    /// The first point that is not selected by `--until`; nil if there is none.
    private func pointBehind(_ text: String) throws -> String? {
        switch try moment(text) {
        case .event(.sequence(let sequence)): sequence < .max ? String(sequence + 1) : nil
        case .event(.beforeLast(let count)): count > 0 ? "@-\(count - 1)" : nil
        case .event: text
        case .time(let time): RFC3339.text(microseconds: max(time, Self.earliest) + 1)
        }
    }

    private func firstEvent(since text: String, in history: History) throws -> UInt64 {
        switch try moment(text) {
        case .event(let point):
            return try history.sequence(of: point, now: WallClock.microseconds())
        case .time(let time):
            // An event at that very time belongs to it.
            return try history.lastEvent(at: time - 1) + 1
        }
    }

    private func lastEvent(until text: String, in history: History) throws -> UInt64 {
        switch try moment(text) {
        case .event(let point):
            return try history.sequence(of: point, now: WallClock.microseconds())
        case .time(let time):
            return try history.lastEvent(at: time)
        }
    }

    private enum Moment {
        case event(HistoryPoint)
        case time(microseconds: Int64)
    }

    /// A point of a history; a length of time alone counts back from now.
    private func moment(_ text: String) throws -> Moment {
        let now = WallClock.microseconds()
        if !text.isEmpty, text.contains(where: \.isLetter),
            let span = HistoryPoint.microseconds(ofDuration: text)
        {
            return .time(microseconds: now - span)
        }
        switch try HistoryPoint(text) {
        case .time(let time): return .time(microseconds: time)
        case .ago(let span): return .time(microseconds: now - span)
        case let point: return .event(point)
        }
    }
}

extension History {
    /// The last event at or before a time; one less than the first kept when there is none.
    fileprivate func lastEvent(at time: Int64) throws -> UInt64 {
        do throws(EventStoreError) {
            return try sequence(of: .time(microseconds: time), now: time)
        } catch  where error.code == .outOfRange {
            return first - 1
        }
    }
}
