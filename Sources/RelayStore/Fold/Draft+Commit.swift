/// A mutation that was carried out on a draft: its two events, and the state after them.
package struct MutationCommit: Sendable {
    package var intent: MutationIntent
    package var response: MutationResponse
    /// The state after the response.
    package var snapshot: Snapshot
    package let changes: ChangeSet

    /// The sequence of the response.
    package var sequence: UInt64 { snapshot.sequence }

    /// Keeps what the client was answered, for the case that it asks again.
    package mutating func keep(answer: [UInt8]) {
        guard let id = intent.mutationID else { return }
        response.answer = answer
        snapshot.ledger.record(id, .init(sequence: sequence, bytes: answer))
    }
}

extension Draft {
    /// Ends the draft: the mutation that wrote it becomes the next two events.
    ///
    /// The writes are in the draft's snapshot already; what is left is what the fold of the two events does
    /// besides. Debug builds fold them too, and compare.
    package func commit(_ intent: MutationIntent, result: DataID?) -> MutationCommit {
        let mutation = snapshot.sequence + 1
        var snapshot = snapshot
        snapshot.sequence = mutation + 1
        let response = MutationResponse(mutation: mutation, writes: writeSet, result: result)
        let commit = MutationCommit(
            intent: intent, response: response, snapshot: snapshot, changes: changes)
        assert(isReplay(of: commit), "events \(mutation) and \(mutation + 1) fold to another state")
        return commit
    }

    private func isReplay(of commit: MutationCommit) -> Bool {
        var replayed = base
        var changes = ChangeSet()
        do throws(FoldError) {
            for body in [EventBody.mutation(commit.intent), .response(commit.response)] {
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
