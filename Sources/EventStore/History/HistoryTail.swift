@_spi(Rooms) package import RelayRecords

/// The newest commits of a history, each with the state after it: what a server that has just started knows
/// of the time before.
package struct HistoryTail: Sendable {
    /// A mutation that was carried out.
    package struct Commit: CommitWithState {
        package let intent: MutationIntent
        package let response: MutationResponse
        /// The state right after it.
        package let snapshot: Snapshot
        package let changes: ChangeSet
    }

    package private(set) var commits: NewestCommits<Commit>
    /// The events behind the base that have brought another schema, rising.
    package private(set) var schemaChanges: [UInt64] = []

    /// How long a tail may be.
    package struct Limits: Sendable {
        /// The newest events, of which the commits are wanted.
        package var events: UInt64
        /// What the commits have written, at most. The newest is kept whatever its size.
        package var bytes: Int

        package init(events: UInt64, bytes: Int) {
            self.events = events
            self.bytes = bytes
        }

        package static let none = Limits(events: 0, bytes: 0)
    }

    /// Folds what is left of a history.
    init(_ replay: Replay, through last: UInt64, limits: Limits) throws(EventStoreError) {
        // The first event is none of them: before it there are neither records nor a schema.
        try replay.advance(to: max(last - min(limits.events, last), min(1, last)))
        commits = NewestCommits(
            after: replay.snapshot, countLimit: .max, byteLimit: limits.bytes)
        if limits.events == 0 { return }
        while replay.snapshot.sequence < last {
            guard let step = try replay.step() else { throw .missing(replay.snapshot.sequence + 1) }
            if case .schema = step.event.body { schemaChanges.append(step.event.sequence) }
            guard case .response(let response) = step.event.body, let intent = step.intent else {
                continue
            }
            commits.append(
                Commit(
                    intent: intent, response: response, snapshot: replay.snapshot,
                    changes: step.changes))
        }
    }
}
