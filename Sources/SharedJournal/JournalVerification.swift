package import EventLog

/// What a check of every frame of a journal found.
package struct JournalVerification: Sendable {
    package let history: JournalHistory
    /// The last event that is certain, and the hash of everything up to it.
    package let head: LogHead
    package let term: UInt64
    package let frames: UInt64
    package let byteCount: UInt64
    /// The first thing that is wrong; nil if the journal is as it was written.
    package let damage: SharedJournalError?

    /// The number of events.
    package var events: UInt64 { head.sequence - history.base.head.sequence }
}

extension JournalConnection {
    /// Checks every frame up to the journal's present end: checksums, sequences, chain, terms, and that its row says
    /// what it says; that the checkpoint is there that the journal begins with; and that no node has said that it has
    /// more. Changes nothing.
    ///
    /// - Throws: `noJournal`, `conflict`, `unavailable`, `unknown`; damage is in the result.
    package func verify(
        progress: JournalCopy.Progress = { _, _ in }
    ) throws(SharedJournalError) -> JournalVerification {
        let history = try completeHistory()
        // Before the head, which no node is ahead of.
        let farthest = try nodes().map(\.0).max { $0.sequence < $1.sequence }
        let target = try head(of: history).sequence
        let reader = JournalReader(address, of: history)
        var damage: SharedJournalError?
        do throws(SharedJournalError) {
            if history.checkpoint != nil { _ = try checkpoint(of: history) }
            while reader.head.sequence < target {
                guard try !reader.next(by: self).isEmpty else {
                    throw .damaged(
                        address, event: reader.head.sequence + 1, "it and what follows are gone")
                }
                progress(reader.head.sequence, target)
            }
            if let farthest, farthest.sequence > target {
                throw .damaged(
                    address, event: target + 1,
                    "it ends before it, and the node \(farthest.name) has had event "
                        + "\(farthest.sequence)")
            }
        } catch {
            guard error.code == .damaged else { throw error }
            damage = error
        }
        return JournalVerification(
            history: history, head: reader.head, term: reader.term,
            frames: reader.frameCount, byteCount: reader.byteCount, damage: damage)
    }
}
