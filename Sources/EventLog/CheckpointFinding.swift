/// What a fold says of a checkpoint whose bytes are as they were written.
package typealias CheckpointJudge = @Sendable (Checkpoint) -> CheckpointFinding.Verdict

/// A checkpoint that was looked at.
package struct CheckpointFinding: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        /// A start can go on from it.
        case usable
        /// Another version of the fold made it: it is passed over, and nothing is known of it.
        case otherVersion(UInt32)
        /// Its bytes are not what was written, or are no state.
        case damaged(String)
    }

    package let sequence: UInt64
    package let file: String
    /// Nil when it cannot be trusted.
    package let header: Checkpoint.Header?
    package let verdict: Verdict

    package var isUsable: Bool { verdict == .usable }

    package var isDamaged: Bool { if case .damaged = verdict { true } else { false } }

    var damage: LogDamage? {
        guard case .damaged(let reason) = verdict else { return nil }
        return LogDamage(
            file: file, offset: 0, length: nil, sequence: nil,
            reason: "the checkpoint cannot be used: \(reason)")
    }
}
