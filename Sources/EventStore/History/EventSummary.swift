@_spi(Rooms) package import RelayRecords

/// What a list of events shows about one event.
package struct EventSummary: Sendable, Hashable {
    package let sequence: UInt64
    package let timeMicroseconds: Int64
    /// `genesis`, `schema`, `mutation`, `response`, `revocation`, `update`, or `unknown 77`.
    package let kind: String
    /// The operation's name, or its root field if unnamed. A response or revocation has that of its mutation,
    /// an update its own name.
    package let operation: String?
    /// The intent; for a response or revocation, that of its mutation.
    package let intent: MutationIntent?
    /// The mutation that a response or a revocation ends.
    package let ends: UInt64?
    /// Why a mutation was revoked.
    package let reason: String?
    /// The ids of the records that the event's write set touches, in its order.
    package let records: [String]

    /// The mutation's id, also for its response and revocation.
    package var mutationID: MutationID? { intent?.mutationID }
    /// The viewer who sent the mutation.
    package var viewer: String? { intent?.viewer }
}

/// Iterates over the events of a log as summaries. Not Sendable, because it is stateful.
package final class SummaryIterator {
    private let history: History
    private let events: EventIterator
    /// Mutations passed so far that have not ended.
    private var open: [UInt64: MutationIntent] = [:]

    fileprivate init(_ history: History, _ events: EventIterator) {
        self.history = history
        self.events = events
    }

    /// Bytes of events read so far.
    var byteCount: UInt64 { events.byteCount }

    /// The next event; nil at the end.
    package func next() throws(EventStoreError) -> EventSummary? { try nextEvent()?.summary }

    /// The next event, in full and as a summary; nil at the end.
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

    /// The intent of a mutation, which may have started before the first event of this list.
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
    /// - Throws: `outOfRange` if the first of them does not exist.
    package func summaries(
        in range: ClosedRange<UInt64>
    ) throws(EventStoreError) -> SummaryIterator {
        SummaryIterator(self, try events(in: range))
    }

    /// The summary of one event.
    /// - Throws: the same as ``event(_:)``.
    package func summary(of sequence: UInt64) throws(EventStoreError) -> EventSummary {
        let summary = try summaries(in: sequence...sequence).next()
        guard let summary, summary.sequence == sequence else { throw notThere(sequence) }
        return summary
    }

    /// Summaries of events from a sequence on, including those appended later: at the end it returns nil, and
    /// continues when called again.
    package func summaries(
        following sequence: UInt64
    ) throws(EventStoreError) -> SummaryIterator {
        SummaryIterator(self, try events(following: sequence))
    }
}

extension EventBody {
    /// The kind, for people.
    package var kindName: String {
        EventKind(rawValue: kind)?.name ?? "unknown \(kind)"
    }
}

extension MutationIntent {
    /// The operation's name, or its root field if unnamed.
    package var operation: String { operationName ?? field }
}
