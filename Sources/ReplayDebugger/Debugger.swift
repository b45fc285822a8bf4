package import EventStore
import GraphQLExecution
package import RelayJSON
@_spi(Rooms) import RelayRecords
import StoreEngine

/// Answers what a debugger for data asks of a history, one question after the other. Never writes.
///
/// A question ends early when its task is cancelled.
package actor Debugger {
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

    /// What a search came to.
    package struct Found: Hashable, Sendable {
        package var event: UInt64?
        /// Events on the way of which damage hides what they changed.
        package var unknownCount = 0
    }

    /// Is told now and then how far an answer is.
    package typealias Report = @Sendable (String) -> Void

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
        let start = index.start.sequence + 1
        guard start <= history.lastReadable else {
            throw DebuggerError(
                "There is no event to look at: the log ends at \(history.lastReadable).")
        }
        events = start...history.lastReadable
    }

    /// Answers a question.
    func answer<Answer: Sendable>(
        _ question: @Sendable (isolated Debugger) throws -> Answer
    ) -> Result<Answer, any Error> {
        Result { try question(self) }
    }

    // MARK: Moments

    /// An event and those around it, without those that cannot be read.
    func neighbors(of sequence: UInt64, count: UInt64 = 2) throws -> [EventSummary] {
        let first = sequence - min(count, sequence - events.lowerBound)
        let last = sequence + min(count, events.upperBound - sequence)
        let summaries = try history.summaries(in: first...last)
        var neighbors: [EventSummary] = []
        while let summary = try summaries.next() { neighbors.append(summary) }
        return neighbors
    }

    /// The event that one comes to with a point of the history, which may not be one that one can go to.
    func event(at point: String) throws -> UInt64 {
        try history.sequence(of: HistoryPoint(point), now: WallClock.microseconds())
    }

    /// The lower part of the screen.
    func page(
        _ pane: DebuggerScreen.Pane, at sequence: UInt64, _ report: @escaping Report
    ) throws -> DebuggerPage {
        switch pane {
        case .changes:
            // Says so if it cannot be read.
            _ = try history.event(sequence)
            return DebuggerPage(changes: try changes(by: sequence, report))
        case .help: return .help
        case .record(let id):
            let (before, after) = try states(around: sequence, report)
            return DebuggerPage(record: id, before, after)
        case .pending:
            return DebuggerPage(pending: try state(after: sequence, report).pending)
        case .answer(let query):
            return DebuggerPage(answer: try answer(query, in: state(after: sequence, report)))
        case .without:
            let differences = try history(report).whatIf(skipping: [sequence])
            return DebuggerPage(without: sequence, differences)
        }
    }

    /// What an event changed, by the ids of the records.
    func changes(
        by sequence: UInt64, _ report: @escaping Report = { _ in }
    ) throws -> [FieldDifference] {
        let known = try index.replay(at: sequence - 1) { replay -> [FieldDifference] in
            let before = replay.snapshot
            guard let step = try replay.step() else { return [] }
            return before.differences(to: replay.snapshot, of: step.changes)
        }
        // Sorting keeps the order of fields.
        return try known ?? history(report).changes(by: sequence).sorted { $0.record < $1.record }
    }

    private func state(after sequence: UInt64, _ report: @escaping Report) throws -> Snapshot {
        try index.replay(at: sequence) { $0.snapshot } ?? history(report).snapshot(at: sequence)
    }

    private func states(
        around sequence: UInt64, _ report: @escaping Report
    ) throws -> (before: Snapshot, after: Snapshot) {
        func step(_ replay: Replay) throws -> (Snapshot, Snapshot) {
            let before = replay.snapshot
            try replay.advance(to: sequence)
            return (before, replay.snapshot)
        }
        return try index.replay(at: sequence - 1, step)
            ?? step(history(report).replay(at: sequence - 1))
    }

    private func answer(_ query: DebuggerQuery, in state: Snapshot) throws -> JSONValue {
        var request = GraphQLRequest(query: query.text, operationName: query.operationName)
        request.variables = query.variables
        return try JSONValue(parsing: PastService(state).answer(request).bytes)
    }

    private func history(_ report: @escaping Report) -> History {
        var history = history
        history.watch = { done, total in report(total > 0 ? "\(done * 100 / total) %" : "") }
        return history
    }

    // MARK: Searches

    /// What a text means: a record or `RECORD.field` if there is or ever was such a record, otherwise a condition. One
    /// that compares something is always a condition.
    /// - Throws: what is wrong with the condition.
    func stop(_ text: String, _ report: @escaping Report) throws -> Stop {
        let condition = Result { try EventCondition(parsing: text, now: WallClock.microseconds()) }
        if case .success(let condition) = condition, !condition.isOneWord {
            return .condition(text)
        }
        if let target = try known(BlameTarget.targets(text), report) {
            return .change(record: target.record, field: target.field)
        }
        _ = try condition.get()
        return .condition(text)
    }

    private func known(
        _ targets: [BlameTarget], _ report: @escaping Report
    ) throws -> BlameTarget? {
        for target in targets {
            guard let writes = index.writes(of: nil, record: target.record) else {
                return try history(report).known(targets)
            }
            if !writes.isEmpty || index.start.existing(target.record) != nil { return target }
        }
        return nil
    }

    /// The nearest event after or before another one at which a search stops.
    /// - Throws: `CancellationError`, and read errors.
    func event(
        _ direction: Direction, from sequence: UInt64, at stop: Stop,
        _ report: @escaping Report = { _ in }
    ) throws -> Found {
        var found = Found()
        if case .change(let record, let field) = stop,
            let writes = index.writes(of: field, record: record)
        {
            let candidates = writes.filter {
                direction == .forward ? $0 > sequence : $0 < sequence
            }
            try look(direction, through: candidates, for: stop, &found, report)
            return found
        }
        let isCandidate = try candidates(for: stop)
        var place = sequence
        while found.event == nil, let range = range(direction, from: place) {
            try Task.checkCancellation()
            report("at \(place)")
            let summaries = try history.summaries(in: range)
            var candidates: [UInt64] = []
            while let summary = try summaries.next() {
                if isCandidate(summary) { candidates.append(summary.sequence) }
            }
            try look(direction, through: candidates, for: stop, &found, report)
            place = direction == .forward ? range.upperBound : range.lowerBound
        }
        return found
    }

    /// Looks at events that may be the one.
    /// - Parameter candidates: in log order.
    private func look(
        _ direction: Direction, through candidates: [UInt64], for stop: Stop, _ found: inout Found,
        _ report: Report
    ) throws {
        for event in direction == .forward ? candidates : candidates.reversed() {
            try Task.checkCancellation()
            report("at \(event)")
            do {
                guard try isStop(event, stop) else { continue }
                return found.event = event
            } catch let error as EventStoreError where error.isDamage {
                found.unknownCount += 1
            }
        }
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

    /// Tells events that may be the one, by what is in them.
    private func candidates(for stop: Stop) throws -> (EventSummary) -> Bool {
        switch stop {
        case .condition(let text):
            return try EventCondition(parsing: text, now: WallClock.microseconds()).holds
        case .change(let record, _):
            return { $0.records.contains(record) }
        }
    }

    private func isStop(_ event: UInt64, _ stop: Stop) throws -> Bool {
        guard case .change(let record, let field) = stop else { return true }
        return try changes(by: event).contains {
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
