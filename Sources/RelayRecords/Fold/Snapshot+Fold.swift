extension Snapshot {
    /// Folds in the next event. Pure: the result depends on the snapshot and the event alone.
    ///
    /// Only the store's writer may call this.
    /// - Parameter changes: what actually changed in the confirmed records is added to it.
    /// - Throws: ``FoldError`` if the event cannot follow; the snapshot is then unchanged.
    package mutating func fold(_ event: Event, changes: inout ChangeSet) throws(FoldError) {
        guard sequence == 0 || event.sequence == sequence + 1 else {
            throw FoldError(
                sequence: event.sequence, reason: .gap(after: sequence))
        }
        switch event.body {
        case .genesis(let schema, let seed):
            guard sequence == 0 else {
                throw FoldError(sequence: event.sequence, reason: .genesisNotFirst)
            }
            self.schema = schema
            apply(seed, changes: &changes)
        case .schema(let schema):
            self.schema = schema
        case .mutation(let intent):
            pending.append(PendingMutation(sequence: event.sequence, intent: intent))
        case .response(let response):
            let intent = try end(response.mutation, by: event)
            apply(response.writes, changes: &changes)
            note(intent, answered: response.answer ?? [], at: event.sequence)
            rebase(response.rebased)
        case .revocation(let revocation):
            _ = try end(revocation.mutation, by: event)
            rebase(revocation.rebased)
        case .update(let update):
            apply(update.writes, changes: &changes)
            rebase(update.rebased)
            if let mutation = update.interrupted { noteInterruption(of: mutation) }
        case .unknown:
            break
        }
        sequence = event.sequence
    }

    /// Notes that a mutation with an id was applied, and its answer.
    package mutating func note(
        _ intent: MutationIntent, answered answer: [UInt8], at sequence: UInt64
    ) {
        guard let id = intent.mutationID else { return }
        ledger.record(
            id, by: intent.idViewer,
            .init(sequence: sequence, bytes: answer, fingerprint: intent.fingerprint))
    }

    /// Applies what the remaining optimistic entries write now. One that has ended is skipped.
    package mutating func rebase(_ entries: [RebasedEntry]) {
        for entry in entries {
            guard let place = pendingPlace(of: entry.mutation) else { continue }
            pending[place].intent.optimistic = entry.writes
        }
    }

    /// The index of a mutation among the pending ones, which are in log order.
    private func pendingPlace(of mutation: UInt64) -> Int? {
        let place = pending.indices.firstIndex(whereNot: { pending[$0].sequence < mutation })
        return place < pending.count && pending[place].sequence == mutation ? place : nil
    }

    /// A mutation was sent, and its connection ended before the answer arrived. One that has ended is
    /// skipped.
    package mutating func noteInterruption(of mutation: UInt64) {
        guard let place = pendingPlace(of: mutation) else { return }
        pending[place].intent.interruptionCount &+= 1
    }

    private mutating func end(
        _ mutation: UInt64, by event: Event
    ) throws(FoldError) -> MutationIntent {
        guard let place = pendingPlace(of: mutation) else {
            throw FoldError(
                sequence: event.sequence, reason: .endsUnknownMutation(sequence: mutation))
        }
        return pending.remove(at: place).intent
    }
}

/// Why an event cannot be folded: the log is not a history that this build writes.
package struct FoldError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case gap(after: UInt64)
        case genesisNotFirst
        /// A response or revocation names a mutation that has not started, or has ended.
        case endsUnknownMutation(sequence: UInt64)
    }

    package var sequence: UInt64
    package var reason: Reason

    package init(sequence: UInt64, reason: Reason) {
        self.sequence = sequence
        self.reason = reason
    }

    package var description: String {
        let what =
            switch reason {
            case .gap(let after): "the event before it is \(after)"
            case .genesisNotFirst: "a genesis event can only be at the start of a log"
            case .endsUnknownMutation(let mutation):
                "it ends mutation \(mutation), which is not waiting for an answer"
            }
        return "Could not fold event \(sequence): \(what)."
    }
}
