package import EventStore
import GraphQLExecution
package import RelayJSON
@_spi(Rooms) package import RelayRecords
import StoreEngine

/// Answers what a debugger for data asks of a history, one question after the other. Never writes.
package actor Debugger {
    /// One event, and what it changed.
    package struct Moment: Sendable {
        package let summary: EventSummary
        /// Of confirmed records, by their ids.
        package let changes: [FieldDifference]
        /// The events around it.
        package let neighbors: [EventSummary]
    }

    /// What a search stops at.
    package enum Stop: Hashable, Sendable {
        /// A change of the record, or of one of its fields.
        case change(record: String, field: String?)
        /// An event that meets a condition of `log list --where`.
        case condition(String)
    }

    package enum Direction: Hashable, Sendable {
        case forward, backward
    }

    package nonisolated let history: History
    package nonisolated let index: HistoryIndex
    /// The events that one can go to.
    package nonisolated let events: ClosedRange<UInt64>

    /// How many events are looked at between two looks at whether the search is still wanted.
    private static let searchStep: UInt64 = 4_096

    /// - Throws: read errors; `outOfRange` if there is no event.
    package init(_ history: History) throws {
        self.history = history
        index = try HistoryIndex(history)
        let start = history.first == 1 ? 1 : try history.firstState + 1
        guard start <= history.last else {
            throw DebuggerError("There is no event to look at: the log ends at \(history.last).")
        }
        events = start...history.last
    }

    // MARK: Moments

    package func moment(_ sequence: UInt64, neighborCount: UInt64 = 2) throws -> Moment {
        let first = sequence - min(neighborCount, sequence - events.lowerBound)
        let last = sequence + min(neighborCount, events.upperBound - sequence)
        let summaries = try history.summaries(in: first...last)
        var neighbors: [EventSummary] = []
        while let summary = try summaries.next() { neighbors.append(summary) }
        guard let summary = neighbors.first(where: { $0.sequence == sequence }) else {
            throw DebuggerError("Event \(sequence) cannot be read.")
        }
        return Moment(
            summary: summary, changes: try changes(by: sequence), neighbors: neighbors)
    }

    /// What an event changed, by the ids of the records.
    package func changes(by sequence: UInt64) throws -> [FieldDifference] {
        let known = try index.replay(at: sequence - 1) { replay -> [FieldDifference] in
            let before = replay.snapshot
            guard let step = try replay.step() else { return [] }
            return step.changes.touchedRecords.map(before.symbols.idString).sorted().flatMap {
                before.differences(to: replay.snapshot, record: $0)
            }
        }
        return try known
            ?? history.changes(by: sequence).sorted {
                ($0.record, $0.field) < ($1.record, $1.field)
            }
    }

    /// The state after an event. Takes as long as a fold if the index has not come there.
    package func state(after sequence: UInt64) throws -> Snapshot {
        try index.replay(at: sequence) { $0.snapshot } ?? history.snapshot(at: sequence)
    }

    /// The records of which fields are shown, before an event and after it.
    package func states(around sequence: UInt64) throws -> (before: Snapshot, after: Snapshot) {
        let known = try index.replay(at: sequence - 1) { replay in
            let before = replay.snapshot
            _ = try replay.step()
            return (before, replay.snapshot)
        }
        if let known { return known }
        let replay = try history.replay(at: sequence - 1)
        let before = replay.snapshot
        try replay.advance(to: sequence)
        return (before, replay.snapshot)
    }

    /// What would be different at the end if an event had not happened.
    package func differences(
        without sequence: UInt64, _ watch: @escaping History.Watch
    ) throws -> [FieldDifference] {
        var history = history
        history.watch = watch
        return try history.whatIf(skipping: [sequence])
    }

    /// The answer to a query, after an event.
    package func answer(_ query: DebuggerQuery, after sequence: UInt64) throws -> JSONValue {
        var request = GraphQLRequest(query: query.text, operationName: query.operationName)
        request.variables = query.variables
        let response = try PastService(try state(after: sequence)).answer(request)
        return try JSONValue(parsing: response.bytes)
    }

    // MARK: Searches

    /// What a text means: a record or `RECORD.field` if there is or was such a record, otherwise a condition.
    /// - Throws: what is wrong with the condition.
    package func stop(_ text: String, near sequence: UInt64) throws -> Stop {
        for target in targets(text) where try isKnown(target.record, near: sequence) {
            return .change(record: target.record, field: target.field)
        }
        _ = try EventCondition(parsing: text, now: WallClock.microseconds())
        return .condition(text)
    }

    /// Ids and storage keys may have dots in them: the longest beginning that is a record's id is the record.
    private func targets(_ text: String) -> [(record: String, field: String?)] {
        [(text, nil)]
            + text.indices.reversed().filter { text[$0] == "." }
            .map { (String(text[..<$0]), String(text[text.index(after: $0)...])) }
    }

    private func isKnown(_ record: String, near sequence: UInt64) throws -> Bool {
        if record.isEmpty { return false }
        if let writes = index.writes(of: nil, record: record) { return !writes.isEmpty }
        return try history.snapshot(at: sequence, of: [record]).existing(record) != nil
    }

    /// The nearest event after or before another one at which a search stops.
    /// - Parameter watch: is called now and then, with the event that the search has come to.
    /// - Throws: `CancellationError` when its task is cancelled, and read errors.
    package func event(
        _ direction: Direction, from sequence: UInt64, at stop: Stop,
        _ watch: @Sendable (UInt64) -> Void = { _ in }
    ) throws -> UInt64? {
        if case .change(let record, let field) = stop,
            let writes = index.writes(of: field, record: record)
        {
            let next = writes.indices.firstIndex(whereNot: { writes[$0] <= sequence })
            let candidates =
                direction == .forward
                ? Array(writes[next...])
                : writes[..<next].reversed().filter { $0 < sequence }
            for event in candidates {
                try Task.checkCancellation()
                watch(event)
                if try isChange(event, record, field) { return event }
            }
            return nil
        }
        let meets = try test(stop)
        var place = sequence
        while let range = range(direction, from: place) {
            try Task.checkCancellation()
            watch(place)
            let summaries = try history.summaries(in: range)
            var found: UInt64?
            while let summary = try summaries.next() {
                guard try meets(summary) else { continue }
                found = summary.sequence
                if direction == .forward { break }
            }
            if let found { return found }
            place = direction == .forward ? range.upperBound : range.lowerBound
        }
        return nil
    }

    private func range(_ direction: Direction, from place: UInt64) -> ClosedRange<UInt64>? {
        switch direction {
        case .forward:
            guard place < events.upperBound else { return nil }
            return place + 1...min(events.upperBound, place + Self.searchStep)
        case .backward:
            guard place > events.lowerBound else { return nil }
            return max(events.lowerBound, place - min(place, Self.searchStep))...place - 1
        }
    }

    private func test(_ stop: Stop) throws -> (EventSummary) throws -> Bool {
        switch stop {
        case .condition(let text):
            let condition = try EventCondition(parsing: text, now: WallClock.microseconds())
            return condition.holds
        case .change(let record, let field):
            return { [self] summary in
                try summary.records.contains(record)
                    && isChange(summary.sequence, record, field)
            }
        }
    }

    private func isChange(_ event: UInt64, _ record: String, _ field: String?) throws -> Bool {
        try changes(by: event).contains {
            $0.record == record && (field == nil || $0.field == field)
        }
    }
}

/// What is asked at each moment.
package struct DebuggerQuery: Hashable, Sendable {
    package var text: String
    package var variables: JSONObject
    package var operationName: String?

    package init(text: String, variables: JSONObject = [:], operationName: String? = nil) {
        self.text = text
        self.variables = variables
        self.operationName = operationName
    }
}

/// Why there is nothing to see.
package struct DebuggerError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
