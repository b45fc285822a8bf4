@_spi(Rooms) package import RelayRecords

/// The newest commits of a history, each with the state after it: what a server that has just started knows
/// of the time before.
package struct HistoryTail: Sendable {
    /// A mutation that was carried out.
    package struct Commit: Sendable {
        package let intent: MutationIntent
        package let response: MutationResponse
        /// The state right after it.
        package let snapshot: Snapshot
        package let changes: ChangeSet
    }

    /// The state before the first of them.
    package let base: Snapshot
    /// In log order, all of them behind the base.
    package private(set) var commits: [Commit] = []
    /// The events behind the base that have brought another schema, rising.
    package private(set) var schemaChanges: [UInt64] = []

    /// Folds what is left of a history.
    /// - Parameter eventCount: how many events the tail has at most.
    init(
        _ replay: Replay, through last: UInt64, eventCount: UInt64
    ) throws(EventStoreError) {
        // The first event is none of them: before it there are neither records nor a schema.
        try replay.advance(to: max(last - min(eventCount, last), min(1, last)))
        base = replay.snapshot
        if eventCount == 0 { return }
        while replay.snapshot.sequence < last {
            guard let step = try replay.step() else { throw .missing(replay.snapshot.sequence + 1) }
            if case .schema = step.event.body { schemaChanges.append(step.event.sequence) }
            guard case .response(let response) = step.event.body, let intent = step.intent else {
                continue
            }
            assert(
                (commits.last?.snapshot ?? base).sequence < step.event.sequence,
                "commits are in log order, behind the base")
            commits.append(
                Commit(
                    intent: intent, response: response, snapshot: replay.snapshot,
                    changes: step.changes))
        }
    }
}
