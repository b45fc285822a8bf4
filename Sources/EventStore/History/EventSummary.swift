package import RelayStore

/// What a list of events shows of one.
package struct EventSummary: Sendable, Hashable {
    package let sequence: UInt64
    package let timeMicroseconds: Int64
    /// `genesis`, `schema`, `mutation`, `response`, `revocation`, `update`, or `unknown 77`.
    package let kind: String
    /// The operation's name, or the root field of one without; a response and a revocation have
    /// that of their mutation, an update its own name.
    package let operation: String?
    /// That of the mutation, also for its response and revocation.
    package let mutationID: MutationID?
    /// Who asked for the mutation.
    package let viewer: String?
    /// The ids of the records that the event's write set touches, in its order.
    package let records: [String]
}

/// Events of a log as summaries, one after another. Not Sendable: it moves.
package final class SummaryIterator {
    private let history: History
    private let events: EventIterator
    /// Mutations that were passed and have not ended.
    private var open: [UInt64: MutationIntent] = [:]

    fileprivate init(_ history: History, _ events: EventIterator) {
        self.history = history
        self.events = events
    }

    /// The next event; nil at the end.
    package func next() throws(EventStoreError) -> EventSummary? {
        guard let event = try events.next() else { return nil }
        switch event.body {
        case .mutation(let intent):
            open[event.sequence] = intent
            return summary(event, of: intent, intent.optimistic)
        case .response(let response):
            return summary(event, of: try end(response.mutation), response.writes)
        case .revocation(let revocation):
            return summary(event, of: try end(revocation.mutation), nil)
        case .genesis(_, let seed):
            return summary(event, of: nil, seed)
        case .update(let update):
            return summary(event, of: nil, update.writes, operation: update.name)
        case .schema, .unknown:
            return summary(event, of: nil, nil)
        }
    }

    /// What a mutation asked for. It may have begun before the first event of this list.
    private func end(_ mutation: UInt64) throws(EventStoreError) -> MutationIntent? {
        if let intent = open.removeValue(forKey: mutation) { return intent }
        guard history.extent?.contains(mutation) == true,
            case .mutation(let intent) = try history.event(mutation).body
        else { return nil }
        return intent
    }

    private func summary(
        _ event: Event, of intent: MutationIntent?, _ writes: WriteSet?, operation: String? = nil
    ) -> EventSummary {
        EventSummary(
            sequence: event.sequence, timeMicroseconds: event.timeMicroseconds,
            kind: event.body.kindName, operation: operation ?? intent?.operation,
            mutationID: intent?.mutationID, viewer: intent?.viewer,
            records: writes?.recordIDs ?? [])
    }
}

extension History {
    /// Summaries of events, in log order.
    /// - Throws: `outOfRange` when the first of them is not there.
    package func summaries(
        in range: ClosedRange<UInt64>
    ) throws(EventStoreError) -> SummaryIterator {
        SummaryIterator(self, try events(in: range))
    }

    /// Summaries of events from a sequence on, also of those that are appended later: at the end it
    /// gives nil, and goes on when it is asked again.
    package func summaries(
        following sequence: UInt64
    ) throws(EventStoreError) -> SummaryIterator {
        SummaryIterator(self, try events(following: sequence))
    }
}

extension EventBody {
    /// The kind as people see it.
    package var kindName: String {
        EventKind(rawValue: kind)?.name ?? "unknown \(kind)"
    }
}

extension MutationIntent {
    /// The operation's name, or the root field of one without.
    package var operation: String { operationName ?? field }
}
