@_spi(Rooms) package import RelayRecords

/// What a list of events shows of one.
package struct EventSummary: Sendable, Hashable {
    package let sequence: UInt64
    package let timeMicroseconds: Int64
    /// `genesis`, `schema`, `mutation`, `response`, `revocation`, `update`, or `unknown 77`.
    package let kind: String
    /// The operation's name, or the root field of one without; a response and a revocation have
    /// that of their mutation, an update its own name.
    package let operation: String?
    /// What was asked for; of a response and a revocation what their mutation asked for.
    package let intent: MutationIntent?
    /// The mutation that a response or a revocation ends.
    package let ends: UInt64?
    /// Why a mutation was revoked.
    package let reason: String?
    /// The ids of the records that the event's write set touches, in its order.
    package let records: [String]

    /// That of the mutation, also for its response and revocation.
    package var mutationID: MutationID? { intent?.mutationID }
    /// The viewer who sent the mutation.
    package var viewer: String? { intent?.viewer }
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
    package func next() throws(EventStoreError) -> EventSummary? { try nextEvent()?.summary }

    /// The next event, whole and as a summary; nil at the end.
    package func nextEvent() throws(EventStoreError) -> (event: Event, summary: EventSummary)? {
        guard let event = try events.next() else { return nil }
        return (event, try summary(of: event))
    }

    private func summary(of event: Event) throws(EventStoreError) -> EventSummary {
        switch event.body {
        case .mutation(let intent):
            open[event.sequence] = intent
            return summary(event, of: intent, intent.optimistic)
        case .response(let response):
            let intent = try end(response.mutation)
            return summary(event, of: intent, response.writes, ends: response.mutation)
        case .revocation(let revocation):
            let intent = try end(revocation.mutation)
            return summary(
                event, of: intent, ends: revocation.mutation, reason: revocation.reason)
        case .genesis(_, let seed):
            return summary(event, seed)
        case .update(let update):
            return summary(event, update.writes, operation: update.name)
        case .schema, .unknown:
            return summary(event)
        }
    }

    /// What a mutation asked for. It may have begun before the first event of this list.
    private func end(_ mutation: UInt64) throws(EventStoreError) -> MutationIntent? {
        if let intent = open.removeValue(forKey: mutation) { return intent }
        return try history.intent(of: mutation)
    }

    private func summary(
        _ event: Event, of intent: MutationIntent? = nil, _ writes: WriteSet? = nil,
        operation: String? = nil, ends: UInt64? = nil, reason: String? = nil
    ) -> EventSummary {
        EventSummary(
            sequence: event.sequence, timeMicroseconds: event.timeMicroseconds,
            kind: event.body.kindName, operation: operation ?? intent?.operation, intent: intent,
            ends: ends, reason: reason, records: writes?.recordIDs ?? [])
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

    /// The summary of one event.
    /// - Throws: as ``event(_:)``.
    package func summary(of sequence: UInt64) throws(EventStoreError) -> EventSummary {
        let summary = try summaries(in: sequence...sequence).next()
        guard let summary, summary.sequence == sequence else { throw notThere(sequence) }
        return summary
    }

    /// Summaries of events from a sequence on, also of those that are appended later: at the end it returns
    /// nil, and continues when it is called again.
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
