/// A mutation that was carried out on a draft: its two events, and the state after them.
package struct MutationCommit: Sendable {
    package var intent: MutationIntent
    package var response: MutationResponse
    /// The state after the response.
    package var snapshot: Snapshot
    package let changes: ChangeSet

    package init(
        intent: MutationIntent, response: MutationResponse, snapshot: Snapshot, changes: ChangeSet
    ) {
        self.intent = intent
        self.response = response
        self.snapshot = snapshot
        self.changes = changes
    }

    /// The sequence of the response.
    package var sequence: UInt64 { snapshot.sequence }

    /// Keeps the client's answer, in case it asks again.
    package mutating func keep(answer: [UInt8]) {
        guard intent.mutationID != nil else { return }
        response.answer = answer
        snapshot.note(intent, answered: answer, at: sequence)
    }
}

extension Draft {
    /// Ends the draft: the mutation that wrote it becomes the next two events.
    ///
    /// The writes are already in the draft's snapshot; what remains is what folding the two events does
    /// besides. Debug builds also fold them, and compare.
    package func commit(_ intent: MutationIntent, result: DataID?) -> MutationCommit {
        let mutation = snapshot.sequence + 1
        var snapshot = snapshot
        snapshot.sequence = mutation + 1
        snapshot.note(intent, answered: [], at: snapshot.sequence)
        let response = MutationResponse(mutation: mutation, writes: writeSet, result: result)
        let commit = MutationCommit(
            intent: intent, response: response, snapshot: snapshot, changes: changes)
        assert(
            isReplay(of: commit, [.mutation(intent), .response(response)]),
            "events \(mutation) and \(mutation + 1) fold to another state")
        return commit
    }

    /// Ends the draft: what it wrote becomes the response to a mutation that was pending.
    package func commit(ending pending: PendingMutation, result: DataID?) -> MutationCommit {
        var snapshot = snapshot
        snapshot.sequence += 1
        snapshot.pending.removeAll { $0.sequence == pending.sequence }
        snapshot.note(pending.intent, answered: [], at: snapshot.sequence)
        let response = MutationResponse(
            mutation: pending.sequence, writes: writeSet, result: result)
        let commit = MutationCommit(
            intent: pending.intent, response: response, snapshot: snapshot, changes: changes)
        assert(
            isReplay(of: commit, [.response(response)]),
            "event \(snapshot.sequence) folds to another state")
        return commit
    }

    private func isReplay(of commit: MutationCommit, _ bodies: [EventBody]) -> Bool {
        var replayed = base
        var changes = ChangeSet()
        do throws(FoldError) {
            for body in bodies {
                try replayed.fold(
                    Event(sequence: replayed.sequence + 1, timeMicroseconds: 0, body: body),
                    changes: &changes)
            }
        } catch {
            return false
        }
        let touched = Set(self.changes.fields.map(\.record) + self.changes.deleted)
        return replayed.sequence == commit.sequence
            && touched.allSatisfy {
                replayed.recordJSON($0) == commit.snapshot.recordJSON($0)
            }
    }
}

extension Snapshot {
    /// Folds in the intent of a mutation that will be pending. Only the store's writer may call this.
    package mutating func begin(_ intent: MutationIntent) -> PendingMutation {
        sequence += 1
        let mutation = PendingMutation(sequence: sequence, intent: intent)
        pending.append(mutation)
        return mutation
    }

    /// Folds in the revocation of a pending mutation. Only the store's writer may call this.
    package mutating func revoke(_ mutation: UInt64) {
        sequence += 1
        pending.removeAll { $0.sequence == mutation }
    }
}
