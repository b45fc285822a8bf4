import Console
import EventStore
import RelayJSON
@_spi(Rooms) import RelayRecords
import RelayServer
import StoreEngine

/// Shows what a subscriber of a document would have been sent, in one pass: of a query each result that
/// differs from the one before, of a subscription to events each of them.
struct WatchedReplay {
    private let output: LineOutput
    private let request: GraphQLRequest
    private let json: Bool

    init(_ output: LineOutput, _ request: GraphQLRequest, json: Bool) {
        self.output = output
        self.request = request
        self.json = json
    }

    /// Continues after damage with the next state that a checkpoint holds.
    /// - Parameter start: the event after which to begin.
    func run(through history: History, from start: UInt64) throws {
        var subscription = try PastSubscription(history.snapshot(at: start), request)
        var isExecuted = subscription.refusal == nil
        var last = subscription.takeFirstResult()
        if let last { try show(last, in: history, at: start) }
        var events = try SummarizedEvents(history, after: start)
        while let (event, summary) = try events.next() {
            let state = subscription.snapshot.sequence
            if event.sequence > state + 1 {
                let next = try history.nextState(after: state)
                subscription = try PastSubscription(history.snapshot(at: next), request)
                events = try SummarizedEvents(history, after: next)
                if let first = subscription.takeFirstResult(), first != last {
                    try show(first, in: history, at: next)
                    last = first
                }
            } else {
                for result in try subscription.follow(event, endingMutation: summary.intent) {
                    try show(result, at: event.sequence, summary)
                    last = result
                }
            }
            if subscription.refusal == nil { isExecuted = true }
        }
        // A document that every schema refuses is a mistake, not an answer.
        if !isExecuted, let refusal = subscription.refusal {
            throw CommandFailure("The document was refused. \(refusal)")
        }
    }

    private func show(_ result: JSONObject, in history: History, at sequence: UInt64) throws {
        // The event is gone where a compacted log begins with the state after it.
        let isKept = history.readable?.contains(sequence) == true
        let summary = isKept ? try history.summaries(in: sequence...sequence).next() : nil
        try show(result, at: sequence, summary)
    }

    private func show(
        _ result: JSONObject, at sequence: UInt64, _ summary: EventSummary?
    ) throws {
        if json {
            let time = summary.map { RFC3339.text(microseconds: $0.timeMicroseconds) }
            var object = JSONObject(present: [
                "sequence": JSONValue(sequence), "time": JSONValue(time),
                "operation": JSONValue(summary?.operation), "viewer": JSONValue(summary?.viewer),
            ])
            for (key, value) in result { object[key] = value }
            try output.write(JSONValue.object(object).text)
        } else {
            try output.write(summary?.line ?? "\(sequence)")
            try output.write("    " + JSONValue.object(result).text)
        }
    }
}
