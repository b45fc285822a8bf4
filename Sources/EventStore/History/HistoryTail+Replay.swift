@_spi(Rooms) import RelayRecords

extension HistoryTail {
    /// Folds the rest of a history.
    init(_ replay: Replay, through last: UInt64, limits: Limits) throws(EventStoreError) {
        // The first event is excluded: before it there are neither records nor a schema.
        try replay.advance(to: max(last - min(limits.events, last), min(1, last)))
        self.init(after: replay.snapshot, limits: limits)
        if limits.events == 0 { return }
        while replay.snapshot.sequence < last {
            guard let step = try replay.step() else { throw .missing(replay.snapshot.sequence + 1) }
            if case .schema = step.event.body { noteSchemaChange(at: step.event.sequence) }
            guard case .response(let response) = step.event.body, let intent = step.intent else {
                continue
            }
            append(
                MutationCommit(
                    intent: intent, response: response, snapshot: replay.snapshot,
                    changes: step.changes))
        }
    }
}
