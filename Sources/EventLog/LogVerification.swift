/// What `verify` found.
package struct LogVerification: Sendable {
    package let segments: Int
    package let frames: UInt64
    package let events: UInt64
    /// Of all segments as they were before compression.
    package let byteCount: UInt64
    /// The first and the last event; nil in a log without events.
    package let sequences: ClosedRange<UInt64>?
    /// Where the log stands. Its hash names the history.
    package let head: LogHead
    /// In the order of the log, then of the checkpoints. Empty when the log is as it was written.
    package let damages: [LogDamage]
    /// Bytes of an unfinished write at the end, which opening the log would cut.
    package let tornBytes: UInt64
    package let checkpoints: [CheckpointFinding]
    /// The last event of which it is certain that none before it is missing at the end.
    package let certainThrough: UInt64
    /// A sentence for each thing that nothing in the directory can tell, or that was not looked at.
    package let unknowns: [String]

    package var isIntact: Bool { damages.isEmpty }
}

extension EventLogReader {
    /// Checks every byte of the log: checksums, chain hashes, gaps, how the segments follow each
    /// other, whether the log begins and ends where META says, and its checkpoints. Changes nothing.
    /// Segments are checked side by side, so that a large log takes all processors.
    ///
    /// - Parameters:
    ///   - progress: called now and then, by one thread at a time, with the bytes checked
    ///     and the bytes of all segment files together.
    ///   - judge: says of each checkpoint whether a start can use it.
    /// - Throws: `inputOutput`, `damaged` when there are no segments at all; damage that is found
    ///   is in the result.
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

    /// How often a log is examined at most, while a server moves its beginning: the last examination counts.
    private static let examinations = 8

    /// Where a log begins just now. A server that drops what it needs no more moves it, and who reads META and the
    /// segments meanwhile finds that they do not fit.
    private struct Beginning {
        let metadata: LogMetadata
        let firstSegment: UInt64?

        func isSame(as other: Beginning) -> Bool {
            metadata.beginning == other.metadata.beginning && firstSegment == other.firstSegment
        }
    }

    private func beginning(known: LogMetadata) throws(LogError) -> Beginning {
        Beginning(
            metadata: try directory.metadata() ?? known, firstSegment: try segments().first)
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
    /// Whether META says which event was the last. Others may be missing before that one.
    var isEndCertain: Bool {
        guard let reached = metadata.reached else { return false }
        return reached.isClosed && reached.sequence >= head.sequence
    }

    /// The last event that something outside its own segment says was written.
    fileprivate var certainThrough: UInt64 {
        let checkpoint = checkpoints.last { !$0.isDamaged && $0.sequence <= head.sequence }
        return max(metadata.reached?.sequence ?? 0, checkpoint?.sequence ?? 0)
    }

    /// What cannot be known.
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
        // Where it is damaged or gone, that is said as damage.
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
        // Damage inside says more than that the pieces around it do not meet.
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
