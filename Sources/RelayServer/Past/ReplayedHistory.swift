import EventLog
package import EventStore
import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords
import SchemaService
import StoreEngine

/// A history that is replayed, event by event, to a service that queries and subscriptions see.
///
/// It ends where an event cannot be read: how the state after damage came about is unknown.
actor ReplayedHistory {
    private let schemaService: SchemaService
    private let events: SummarizedEvents
    private var snapshot: Snapshot
    private var next: (event: Event, summary: EventSummary)?

    /// - Parameters:
    ///   - snapshot: the state at which it begins; its symbols are this history's from now on.
    ///   - schemaService: made of the same symbols.
    init(
        _ history: History, from snapshot: Snapshot, schemaService: SchemaService
    ) throws(EventStoreError) {
        self.schemaService = schemaService
        self.snapshot = snapshot
        events = try SummarizedEvents(history, after: snapshot.sequence)
        next = try Self.event(behind: snapshot.sequence, from: events)
    }

    private static func event(
        behind sequence: UInt64, from events: SummarizedEvents
    ) throws(EventStoreError) -> (event: Event, summary: EventSummary)? {
        do throws(EventStoreError) {
            // Damage is passed over by the reader of events.
            guard let next = try events.next(), next.event.sequence == sequence + 1 else {
                return nil
            }
            return next
        } catch  where error.code == .log(.damaged) {
            return nil
        }
    }

    /// When the next event happened, in microseconds since 1970; nil at the end.
    var nextTime: Int64? { next?.event.timeMicroseconds }

    /// What happened, and what subscriptions get of it.
    struct Step: Sendable {
        let summary: EventSummary
        /// Nil when no record changed and no mutation ended.
        let commit: Commit?
        let snapshot: Snapshot
    }

    /// Lets the next event happen; nil at the end.
    func step() throws -> Step? {
        guard let (event, summary) = next else { return nil }
        var changes = ChangeSet()
        try snapshot.fold(event, changes: &changes)
        next = try Self.event(behind: snapshot.sequence, from: events)
        return Step(
            summary: summary,
            commit: Commit(
                replaying: event, summary.intent, changes, service: schemaService,
                snapshot: snapshot), snapshot: snapshot)
    }

    /// Lets all events up to a time happen, but no more than so many.
    func steps(through time: Int64, limit: Int) throws -> [Step] {
        var steps: [Step] = []
        while steps.count < limit, let nextTime, nextTime <= time, let step = try step() {
            steps.append(step)
        }
        return steps
    }
}

/// The events of a history, each with what a list shows of it. Not Sendable: it moves.
package final class SummarizedEvents {
    private let events: SummaryIterator?

    package init(_ history: History, after sequence: UInt64) throws(EventStoreError) {
        guard sequence < history.last else {
            events = nil
            return
        }
        events = try history.summaries(in: sequence + 1...history.last)
    }

    package func next() throws(EventStoreError) -> (event: Event, summary: EventSummary)? {
        try events?.nextEvent()
    }
}
