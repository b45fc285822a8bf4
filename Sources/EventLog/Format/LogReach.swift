import Digests

// What META records about a log's two ends, so that a missing file can be told from one that never existed.

/// The event from which a log is complete. Earlier ones may be gone: they were dropped on purpose.
package struct LogBeginning: Hashable, Sendable {
    package var sequence: UInt64
    /// The checkpoint that made the events before ``sequence`` unnecessary; nil if the log begins with event
    /// 1. Later ones may have replaced it since.
    package var checkpoint: CheckpointMark?

    package init(sequence: UInt64, checkpoint: CheckpointMark?) {
        self.sequence = sequence
        self.checkpoint = checkpoint
    }

    /// A complete log.
    package static let genesis = LogBeginning(sequence: 1, checkpoint: nil)
}

extension LogBeginning {
    var text: String {
        let state = checkpoint.map { mark in
            " checkpoint \(mark.sequence) \(mark.stateHash.withUnsafeBytes { $0.hexadecimal })"
        }
        return "\(sequence)" + (state ?? "")
    }

    /// Parses the format of ``text``.
    init?(_ text: Substring) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let sequence = words.first.flatMap({ LogDirectory.sequence(ofDigits: $0) }) else {
            return nil
        }
        switch words.count {
        case 1: self.init(sequence: sequence, checkpoint: nil)
        case 4 where words[1] == "checkpoint":
            guard let checkpoint = LogDirectory.sequence(ofDigits: words[2]),
                let hash = [UInt8](hexadecimal: words[3]), hash.count <= 32
            else { return nil }
            self.init(
                sequence: sequence,
                checkpoint: CheckpointMark(sequence: checkpoint, stateHash: hash))
        default: return nil
        }
    }
}

/// Identifies a checkpoint by its event and its state hash.
package struct CheckpointMark: Hashable, Sendable {
    package let sequence: UInt64
    package let stateHash: [UInt8]

    package init(sequence: UInt64, stateHash: [UInt8]) {
        self.sequence = sequence
        self.stateHash = stateHash
    }
}

/// The least extent of a log: recorded when a segment is started, and when the log is opened and closed.
/// Everything up to there was on the disk.
package struct LogReach: Hashable, Sendable {
    /// The last event; 0 for none.
    package var sequence: UInt64
    /// The chain hash after it.
    package var chain: ChainHash
    /// The first sequence of the last segment.
    package var segment: UInt64
    /// The log was closed there, so nothing can have followed.
    package var isClosed = false
}

extension LogReach {
    var text: String {
        "\(sequence) \(chain) segment \(segment) \(isClosed ? "closed" : "open")"
    }

    package init(_ head: LogHead, segment: UInt64, isClosed: Bool = false) {
        self.init(
            sequence: head.sequence, chain: head.hash, segment: segment, isClosed: isClosed)
    }

    /// Parses the format of ``text``.
    init?(_ text: Substring) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, words[2] == "segment", ["open", "closed"].contains(words[4]),
            let sequence = UInt64(words[0]),
            sequence <= UInt64(Int64.max), let chain = ChainHash(words[1]),
            let segment = LogDirectory.sequence(ofDigits: words[3])
        else { return nil }
        self.init(
            sequence: sequence, chain: chain, segment: segment, isClosed: words[4] == "closed")
    }
}
