import Console
import EventLog
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// Shows event after event and what each changed; on a terminal, at the user's pace.
struct SteppedReplay {
    private let output: LineOutput
    /// A query that is answered after every event.
    private let request: GraphQLRequest?
    private let json: Bool
    private let waitsForEnter = StandardStream.areBothTerminals

    init(_ output: LineOutput, _ request: GraphQLRequest?, json: Bool) {
        self.output = output
        self.request = request
        self.json = json
    }

    /// Continues after damage with the next state that a checkpoint holds.
    /// - Parameter start: the event after which to begin.
    func run(through history: History, from start: UInt64) throws {
        if waitsForEnter { complain("Enter shows the next event; q and Enter, or Ctrl-D, ends.") }
        var start = start
        while let last = try go(through: history, from: start) {
            start = try history.nextState(after: last)
        }
    }

    /// - Returns: the last event before damage; nil at the end.
    private func go(through history: History, from start: UInt64) throws -> UInt64? {
        guard start < history.last else { return nil }
        let replay = try history.replay(at: start)
        let summaries = try history.summaries(in: start + 1...history.last)
        var before = replay.snapshot
        var answers = request.map(PastAnswers.init)
        while true {
            // Read before the question: where there is no next event to be shown, Enter would show none.
            let next = Result { () throws(EventStoreError) in try replay.step() }
            if case .failure(let error) = next, error.code == .log(.damaged) {
                return replay.snapshot.sequence
            }
            guard let step = try next.get(), let summary = try summaries.next() else { return nil }
            guard !waitsForEnter || isToGoOn() else { return nil }
            let changes = before.differences(to: replay.snapshot, of: step.changes)
            let answer = try answers?.next(&replay.snapshot)
            before = replay.snapshot
            try show(summary, changes, try answer.map { try JSONValue(parsing: $0.bytes) })
        }
    }

    private func isToGoOn() -> Bool {
        guard let line = readLine() else { return false }
        return !["q", "quit"].contains(line)
    }

    private func show(
        _ summary: EventSummary, _ changes: [FieldDifference], _ answer: JSONValue?
    ) throws {
        if json {
            var object = summary.json.object ?? [:]
            object["changes"] = .array(changes.map(\.json))
            if let answer { object["result"] = answer }
            try output.write(JSONValue.object(object).text)
        } else {
            try output.write(summary.line)
            for change in changes { try output.write("    " + change.line) }
            if let answer { try output.write("    " + answer.text) }
        }
        if waitsForEnter { try output.flush() }
    }
}
