/// The fold's verdict on a checkpoint whose bytes are intact.
package typealias CheckpointJudge = @Sendable (Checkpoint) -> CheckpointFinding.Verdict

/// A checkpoint that was examined.
package struct CheckpointFinding: Sendable, Equatable {
    package enum Verdict: Sendable, Equatable {
        /// A start can continue from it.
        case usable
        /// Another version of the fold made it: it is skipped, and nothing is known about it.
        case otherVersion(UInt32)
        /// Its bytes are not what was written, or do not encode a state.
        case damaged(String)
    }

    package let sequence: UInt64
    package let file: String
    /// Nil if it cannot be trusted.
    package let header: Checkpoint.Header?
    package let verdict: Verdict

    package var isUsable: Bool { verdict == .usable }

    package var isDamaged: Bool { if case .damaged = verdict { true } else { false } }

    /// The damage to report, if it is damaged.
    package var damage: LogDamage? {
        guard case .damaged(let reason) = verdict else { return nil }
        return LogDamage(
            file: file, offset: 0, length: nil, sequence: nil,
            reason: "the checkpoint cannot be used: \(reason)")
    }
}
