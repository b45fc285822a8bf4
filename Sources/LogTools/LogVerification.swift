package import EventLog

/// The result of `verify`.
package struct LogVerification: Sendable {
    package let segments: Int
    package let frames: UInt64
    package let events: UInt64
    /// The total uncompressed size of all segments.
    package let byteCount: UInt64
    /// The first and last event; nil for a log without events.
    package let sequences: ClosedRange<UInt64>?
    /// The log's head. Its hash identifies the history.
    package let head: LogHead
    /// In log order, then checkpoints. Empty if the log is as it was written.
    package let damages: [LogDamage]
    /// Bytes of an unfinished write at the end, which opening the log would cut off.
    package let tornBytes: UInt64
    package let checkpoints: [CheckpointFinding]
    /// The last event up to which it is certain that none is missing at the end.
    package let certainThrough: UInt64
    /// A sentence for each thing that the directory cannot reveal, or that was not checked.
    package let unknowns: [String]

    package var isIntact: Bool { damages.isEmpty }
}

extension EventLogReader {
    /// Checks every byte of the log: checksums, chain hashes, gaps, the links between segments, whether the
    /// log begins and ends where META says, and its checkpoints. Changes nothing. Segments are checked in
    /// parallel, so a large log uses all processors.
    ///
    /// - Parameters:
    ///   - progress: called occasionally, by one thread at a time, with the bytes checked and the total bytes
    ///     of all segment files.
    ///   - judge: decides whether a start can use a checkpoint.
    /// - Throws: `inputOutput`, `damaged` if there are no segments at all; other damage is in the result.
    package func verify(
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in },
        judge: CheckpointJudge = { _ in .usable }
    ) throws(LogError) -> LogVerification {
        var beginning = try beginning(known: metadata)
        for _ in 1..<Self.examinations {
            let examination = Result { () throws(LogError) in
                try LogExamination(
                    directory, beginning.metadata, judge: judge, progress: progress)
            }
            let now = try self.beginning(known: beginning.metadata)
            if now.isSame(as: beginning) { return LogVerification(try examination.get()) }
            beginning = now
        }
        return LogVerification(
            try LogExamination(directory, beginning.metadata, judge: judge, progress: progress))
    }

    /// The maximum number of examinations while a server moves the log's beginning; the last one counts.
    private static let examinations = 8

    /// Where a log currently begins. A server that drops what it no longer needs moves it, and a reader that
    /// reads META and the segments in between finds that they do not match.
    private struct Beginning {
        let metadata: LogMetadata
        let firstSegment: UInt64?

        func isSame(as other: Beginning) -> Bool {
            metadata.beginning == other.metadata.beginning && firstSegment == other.firstSegment
        }
    }

    private func beginning(known: LogMetadata) throws(LogError) -> Beginning {
        Beginning(
            metadata: try directory.metadata() ?? known,
            firstSegment: try directory.firstSequences().first)
    }
}

extension LogVerification {
    init(_ examination: LogExamination) {
        let segments = examination.segments
        self.segments = segments.count
        frames = segments.reduce(0) { $0 + $1.frames }
        events = segments.reduce(0) { $0 + $1.events }
        byteCount = segments.reduce(0) { $0 + $1.byteCount }
        head = examination.head
        let first = examination.firstSequence
        sequences = head.sequence >= first ? first...head.sequence : nil
        damages = examination.damages
        tornBytes = segments.last?.tornTail.map { $0.upperBound - $0.lowerBound } ?? 0
        checkpoints = examination.checkpoints
        certainThrough = examination.certainThrough
        unknowns = examination.unknowns
    }
}

extension LogExamination {
    /// Whether META records which event was the last. Events before it may still be missing.
    var isEndCertain: Bool {
        guard let reached = metadata.reached else { return false }
        return reached.isClosed && reached.sequence >= head.sequence
    }

    /// The last event that is recorded as written outside its own segment.
    fileprivate var certainThrough: UInt64 {
        let checkpoint = checkpoints.last { !$0.isDamaged && $0.sequence <= head.sequence }
        return max(metadata.reached?.sequence ?? 0, checkpoint?.sequence ?? 0)
    }

    /// What cannot be determined.
    fileprivate var unknowns: [String] {
        var unknowns: [String] = []
        if metadata.beginning == nil, firstSequence > 1 {
            unknowns.append(
                "Whether the events before \(firstSequence) were dropped on purpose: version 1.0 of "
                    + "the format does not say.")
        }
        if !isEndCertain {
            unknowns.append(
                "Whether there were events after \(head.sequence): the log is open, or was not "
                    + "closed properly. "
                    + (certainThrough == 0
                        ? "No event is recorded anywhere else."
                        : "That it had events up to \(certainThrough) is recorded."))
        }
        // If the checkpoint is damaged or gone, that is reported as damage.
        if let (mark, base) = laterBase,
            let first = checkpoints.first(where: { $0.sequence == mark.sequence }), !first.isDamaged
        {
            unknowns.append(
                "What the states before event \(base.sequence) were: the checkpoint at event "
                    + "\(mark.sequence), with which the log begins, cannot be used.")
        }
        for checkpoint in checkpoints {
            guard case .otherVersion(let version) = checkpoint.verdict else { continue }
            unknowns.append(
                "What the checkpoint at event \(checkpoint.sequence) holds: version \(version) of "
                    + "the fold made it.")
        }
        return unknowns
    }
}

extension SegmentExamination {
    /// What is wrong between this segment and the one before it.
    func breaks(after previous: SegmentExamination) -> [LogDamage] {
        // Damage inside is more informative than pieces around it that do not meet.
        guard damages.isEmpty, wrapperDamages.isEmpty, previous.damages.isEmpty else { return [] }
        var reason: String?
        if header.previousFirstSequence != previous.header.firstSequence {
            reason =
                SegmentFault.predecessor(
                    expected: header.previousFirstSequence,
                    found: previous.header.firstSequence
                ).sentence
        } else if header.firstSequence != previous.end.sequence + 1 {
            let expected = previous.end.sequence + 1
            reason =
                FrameFault.missing(
                    min(expected, header.firstSequence)..<header.firstSequence
                ).sentence
        } else if header.previousChain != previous.end.hash {
            reason = FrameFault.chain.sentence
        } else if header.epoch < previous.end.epoch {
            reason =
                FrameFault.epoch(atLeast: previous.end.epoch, found: header.epoch).sentence
        }
        return reason.map {
            [
                LogDamage(
                    file: path, offset: 0, length: nil, sequence: header.firstSequence, reason: $0)
            ]
        } ?? []
    }
}
