import EventLog
@_spi(Rooms) package import RelayRecords

/// A state that moves through the history, event by event.
///
/// Snapshots taken along the way do not change; keep some to go back. Not Sendable, because it is stateful
/// and is the writer of its snapshots' symbols.
package final class Replay {
    /// The state after the last folded event. Indexes may be added to it; later events maintain them.
    package var snapshot: Snapshot
    /// A sentence for each checkpoint that could not be used.
    let ignoredCheckpoints: [String]
    /// Called occasionally with the progress of ``advance(to:)``.
    var watch: History.Watch?
    private let events: HistoryCursor
    /// Takes states that are passed.
    private let kept: PassedStates?

    /// The event up to which read bytes are not counted.
    var mark: UInt64 = 0
    private var bytesThroughMark: UInt64 = 0

    /// Bytes of events read so far after the mark; all of them if no mark is set.
    var readBytes: UInt64 { events.byteCount - bytesThroughMark }

    /// Events between two calls of a ``History/watch``.
    static let watchInterval: UInt64 = 1_024

    /// Called for each event of a long way: now and then says how far it has come, and ends it when its task is
    /// cancelled.
    static func watch(
        _ done: UInt64, of total: UInt64, _ watch: History.Watch?
    ) throws(EventStoreError) {
        guard done.isMultiple(of: watchInterval) else { return }
        if Task.isCancelled { throw .cancelled }
        watch?(done, total)
    }

    /// Starts with the nearest state at or before an event that needs no folding.
    /// - Parameter last: the last event to fold.
    convenience init(
        _ source: HistorySource, near sequence: UInt64, through last: UInt64,
        indexes: [IndexDefinition]
    ) throws(EventStoreError) {
        let first = try source.firstSequence()
        let restored = try source.restore(
            through: sequence, indexes: indexes, takesOlderFold: first > 1)
        let snapshot = restored.snapshot ?? Snapshot(indexes: indexes)
        guard snapshot.sequence + 1 >= first else {
            throw .notRebuildable(sequence, firstKept: first)
        }
        try self.init(
            source, from: snapshot, through: last, ignoredCheckpoints: restored.ignored)
    }

    /// Starts with the earliest state that can be rebuilt: the empty one or, in a compacted log, that of the
    /// oldest usable checkpoint.
    convenience init(
        fromEarliest source: HistorySource, through last: UInt64
    ) throws(EventStoreError) {
        let (first, checkpoints) = (try source.firstSequence(), try source.checkpoints())
        if first == 1 {
            try self.init(source, near: 0, through: last, indexes: [])
            return
        }
        let starts = checkpoints.filter { $0 + 1 >= first && $0 <= last }
        for start in starts {
            let restored = try source.restore(through: start, takesOlderFold: true)
            guard let snapshot = restored.snapshot, snapshot.sequence == start else { continue }
            try self.init(
                source, from: snapshot, through: last, ignoredCheckpoints: restored.ignored)
            return
        }
        throw .notRebuildable(starts.first ?? first - 1, firstKept: first)
    }

    /// Continues from a state.
    init(
        _ source: HistorySource, from snapshot: Snapshot, through last: UInt64,
        ignoredCheckpoints: [String] = []
    ) throws(EventStoreError) {
        self.snapshot = snapshot
        self.ignoredCheckpoints = ignoredCheckpoints
        kept = source.kept
        events = try source.events(from: snapshot.sequence + 1)
        events.through = last
    }

    /// An event, and what it changed.
    package struct Step {
        package let event: Event
        package let changes: ChangeSet
        /// For a response, the mutation that it ends.
        package let intent: MutationIntent?
    }

    /// Folds the next event; nil at the end.
    package func step() throws(EventStoreError) -> Step? {
        guard let event = try events.nextEvent() else { return nil }
        var intent: MutationIntent?
        if case .response(let response) = event.body {
            intent = snapshot.pending.first { $0.sequence == response.mutation }?.intent
        }
        var changes = ChangeSet()
        try fold(event, changes: &changes)
        return Step(event: event, changes: changes, intent: intent)
    }

    /// Folds everything up to an event; does nothing if the state is at or past it.
    /// - Throws: read errors, and `cancelled`.
    package func advance(to sequence: UInt64) throws(EventStoreError) {
        var changes = ChangeSet()
        var keptBytes = events.byteCount
        let start = snapshot.sequence
        if start < sequence { try events.check(decoding: sequence - start) }
        while snapshot.sequence < sequence {
            try Self.watch(snapshot.sequence - start, of: sequence - start, watch)
            guard let event = try nextEvent(towards: sequence) else {
                throw .missing(snapshot.sequence + 1)
            }
            try fold(event, changes: &changes)
            if snapshot.sequence.isMultiple(of: SpacedStates.firstSpacing) {
                kept?.keep(snapshot, bytes: events.byteCount - keptBytes)
                keptBytes = events.byteCount
            }
            // Not needed here; kept small instead of being recreated for each event.
            if changes.fields.count > 1_024 { changes = ChangeSet() }
        }
        kept?.keep(snapshot, bytes: events.byteCount - keptBytes)
    }

    /// After damage nothing can be known: no later state follows from the events before it.
    private func nextEvent(towards sequence: UInt64) throws(EventStoreError) -> Event? {
        do throws(EventStoreError) {
            return try events.nextEvent()
        } catch {
            guard let damage = (error.cause as? LogError)?.damage else { throw error }
            throw .notRebuildable(sequence, after: snapshot.sequence, damage)
        }
    }

    private func fold(_ event: Event, changes: inout ChangeSet) throws(EventStoreError) {
        do throws(FoldError) {
            try snapshot.fold(event, changes: &changes)
        } catch {
            throw .unfoldable(error)
        }
        if event.sequence == mark { bytesThroughMark = events.byteCount }
    }
}
