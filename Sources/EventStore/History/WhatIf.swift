import RelayStore

extension History {
    /// What would be different today if some events had never been.
    ///
    /// Folds the log once more without them, in memory. With a mutation goes what ended it. Events
    /// that follow write what they wrote: a record that one of them changes comes to be if its
    /// creation is skipped.
    /// - Throws: `outOfRange` for an event that is not there, and for the first of a log, without
    ///   which
    ///   there is nothing.
    package func whatIf(
        skipping skipped: Set<UInt64>
    ) throws(EventStoreError) -> [FieldDifference] {
        guard let firstSkipped = skipped.min(), let lastSkipped = skipped.max() else { return [] }
        guard firstSkipped > first, lastSkipped <= last else {
            let sequence = firstSkipped > first ? lastSkipped : firstSkipped
            throw sequence == first && extent != nil
                ? .outOfRange("Event \(sequence) begins the log: nothing can be without it.")
                : .outOfRange(sequence, extent)
        }
        let replay = try replay(at: firstSkipped - 1)
        var alternative = replay.snapshot
        var skippedMutations: Set<UInt64> = []
        while let step = try replay.step() {
            var event = step.event
            if skipped.contains(event.sequence) || skippedMutations.contains(event.body.ended) {
                if case .mutation = event.body { skippedMutations.insert(event.sequence) }
                event.body = .nothing
            }
            var changes = ChangeSet()
            do throws(FoldError) {
                try alternative.fold(event, changes: &changes)
            } catch {
                throw .unfoldable(error)
            }
        }
        return replay.snapshot.differences(to: alternative)
    }
}

extension EventBody {
    /// An event that takes its place in the sequence and does nothing.
    fileprivate static let nothing = EventBody.unknown(kind: 0, payload: [])

    /// The mutation that a response or revocation ends; 0, which is no event, for any other.
    fileprivate var ended: UInt64 {
        switch self {
        case .response(let response): response.mutation
        case .revocation(let revocation): revocation.mutation
        default: 0
        }
    }
}
