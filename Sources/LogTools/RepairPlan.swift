import EventLog

/// What a repair keeps first if it cannot keep both.
package enum RepairGoal: String, CaseIterable, Sendable {
    /// The newest recoverable state: the fewest changes are lost.
    case state
    /// The longest history: the most events remain readable.
    case history
}

/// What has to be done to a damaged log, decided before anything is changed.
///
/// Damage leaves *runs*: consecutive events with none missing. One run becomes the log.
///
/// 1. A run can be kept if its states can be rebuilt: it begins with event 1, or there is a good checkpoint
///    right before it or in it. A good checkpoint can also be kept alone: the log then begins after it,
///    without an event.
/// 2. The run that ends last is kept, so that the fewest events lose their effect; among those, the one with
///    the most events, so that the fewest become unreadable. Or the other way round (``RepairGoal``).
/// 3. Everything not in the run is moved or copied aside. Damaged segments are rewritten from their good
///    frames, META from what is left.
struct RepairPlan: Sendable {
    /// A segment of the repaired log that does not exist in the required form.
    struct Rewrite: Sendable {
        /// The segment that contains the frames; nil for a new one without any.
        let source: SegmentExamination?
        let header: SegmentHeader
        let extents: [Range<UInt64>]

        /// It is named differently from its source, or has none.
        var isNew: Bool { source?.header.firstSequence != header.firstSequence }

        /// Part of the segment is not carried over.
        var losesBytes: Bool {
            source.map { !$0.isWhole } ?? false
        }
    }

    let examination: LogExamination
    let damages: [LogDamage]
    let rebuildsMetadata: Bool
    /// META after the repair.
    private(set) var newMetadata: LogMetadata
    private(set) var rewritten: [Rewrite] = []
    /// First sequences of segments to be moved aside.
    private(set) var removed: [UInt64] = []
    /// Those of them whose names are needed for new segments, in ascending order: they are moved aside first.
    var replaced: [UInt64] {
        let names = Set(rewritten.filter(\.isNew).map(\.header.firstSequence))
        return removed.filter(names.contains)
    }

    /// Checkpoints to be moved aside: damaged ones, and those of lost events.
    private(set) var removedCheckpoints: [String] = []
    /// The first event that stays, or the next one if none does.
    let firstSequence: UInt64
    let lastSequence: UInt64
    /// The last event of which anything is known.
    let lastKnown: UInt64
    /// The state that the log begins with; nil if it begins with event 1.
    let base: CheckpointFinding?
    /// What the other goal would keep, if that differs.
    let alternative: RepairReport.Alternative?

    var changesAnything: Bool { rebuildsMetadata || !damages.isEmpty }

    /// - Throws: `damaged` if nothing can be kept; `conflict` if the log has the last epoch.
    init(
        _ examination: LogExamination, keeping goal: RepairGoal, rebuildsMetadata: Bool
    ) throws(LogError) {
        self.examination = examination
        self.rebuildsMetadata = rebuildsMetadata
        damages = examination.damages
        let runs = LogRun.all(in: examination.segments)
        let candidates = Candidate.all(
            runs, in: examination.segments, examination.checkpoints)
        guard let kept = candidates.best(for: goal) else {
            throw .unrepairable(
                damages.first ?? .allMissing(examination.directory))
        }
        alternative = candidates.alternative(to: kept, for: goal == .state ? .history : .state)
        (firstSequence, lastSequence) = (kept.firstSequence, kept.lastSequence)
        base = firstSequence > 1 ? kept.base : nil
        lastKnown = max(
            lastSequence, runs.map(\.end.sequence).max() ?? 0,
            examination.metadata.reached?.sequence ?? 0,
            examination.checkpoints.last { !$0.isDamaged }?.sequence ?? 0)
        newMetadata = examination.metadata
        let epochs =
            examination.segments.map(\.end.epoch)
            + examination.checkpoints.compactMap(\.header?.epoch) + [newMetadata.epoch]
        if rebuildsMetadata || !damages.isEmpty {
            newMetadata.epoch = try LogMetadata.epoch(
                after: epochs.max() ?? 0, in: examination.directory)
        }
        newMetadata.version = newMetadata.version.raised
        newMetadata.beginning =
            base.map { base in
                LogBeginning(
                    sequence: firstSequence,
                    checkpoint: CheckpointMark(
                        sequence: base.sequence, stateHash: base.header?.stateHash ?? []))
            } ?? .genesis
        let lastSegment = decideSegments(kept)
        newMetadata.reached = LogReach(
            LogHead(sequence: lastSequence, epoch: newMetadata.epoch, hash: lastSegment.chain),
            segment: lastSegment.first, isClosed: true)
        let last = lastSequence
        removedCheckpoints = examination.checkpoints
            .filter { $0.isDamaged || $0.sequence > last }.map(\.file)
    }

    /// - Returns: the last segment of the repaired log, and the chain hash after its last event.
    private mutating func decideSegments(_ kept: Candidate) -> (first: UInt64, chain: ChainHash) {
        guard let run = kept.run else {
            removed = examination.segments.map(\.header.firstSequence)
            let reached = examination.metadata.reached
            let chain = reached?.sequence == lastSequence ? reached?.chain : nil
            let header = SegmentHeader(
                storeID: newMetadata.storeID, epoch: newMetadata.epoch,
                firstSequence: firstSequence, previousFirstSequence: 0,
                previousChain: chain ?? .zero, knowsPreviousChain: chain != nil)
            rewritten = [Rewrite(source: nil, header: header, extents: [])]
            return (firstSequence, chain ?? .zero)
        }
        var previous: UInt64?
        var epoch: UInt32 = 0
        for piece in run.pieces {
            let segment = examination.segments[piece.segment]
            var header = Self.header(of: piece.run, in: segment, behind: previous)
            // Its frames do follow, even if its header says otherwise.
            header.epoch = max(header.epoch, epoch)
            epoch = piece.run.end.epoch
            if header != segment.header || !segment.isWhole {
                rewritten.append(
                    Rewrite(source: segment, header: header, extents: piece.run.extents))
            }
            previous = header.firstSequence
        }
        let names = Set(
            run.pieces.map { examination.segments[$0.segment].header.firstSequence })
        let renamed = Set(rewritten.filter(\.isNew).compactMap(\.source?.header.firstSequence))
        removed = examination.segments.map(\.header.firstSequence).filter {
            !names.contains($0) || renamed.contains($0)
        }
        return (previous ?? firstSequence, run.end.hash)
    }

    private static func header(
        of run: FrameRun, in segment: SegmentExamination, behind previous: UInt64?
    ) -> SegmentHeader {
        var header = segment.header
        let isWhole = header.firstSequence == run.firstSequence
        header.firstSequence = run.firstSequence
        header.previousFirstSequence = previous ?? (isWhole ? header.previousFirstSequence : 0)
        header.previousChain = run.previousChain ?? .zero
        header.knowsPreviousChain = run.previousChain != nil
        if !isWhole { header.epoch = run.firstEpoch }
        return header
    }
}

/// Consecutive events of a log, across segments.
struct LogRun {
    /// The part of the run in one segment, and that segment's index.
    struct Piece {
        let segment: Int
        let run: FrameRun
    }

    private(set) var pieces: [Piece]

    var firstSequence: UInt64 { pieces[0].run.firstSequence }
    var end: LogHead { pieces[pieces.count - 1].run.end }
    var eventCount: UInt64 { end.sequence + 1 - firstSequence }

    static func all(in segments: [SegmentExamination]) -> [LogRun] {
        var runs: [LogRun] = []
        for (index, segment) in segments.enumerated() {
            for run in segment.runs.isEmpty ? segment.emptyRun : segment.runs {
                let piece = Piece(segment: index, run: run)
                if let last = runs.indices.last, runs[last].continues(with: run) {
                    runs[last].pieces.append(piece)
                } else {
                    runs.append(LogRun(pieces: [piece]))
                }
            }
        }
        return runs
    }

    /// The names of segments are ignored: those of a repair interrupted by a crash do not match yet.
    private func continues(with run: FrameRun) -> Bool {
        run.firstSequence == end.sequence + 1 && run.previousChain == end.hash
            && run.firstEpoch >= end.epoch
    }
}

extension SegmentExamination {
    /// Nothing is wrong with it, and nothing follows its last frame.
    fileprivate var isWhole: Bool {
        damages.isEmpty && wrapperDamages.isEmpty && tornTail == nil
    }

    /// A segment that was started and has no event yet is an empty run.
    fileprivate var emptyRun: [FrameRun] {
        guard damages.isEmpty, events == 0 else { return [] }
        return [
            FrameRun(
                firstSequence: header.firstSequence, extents: [],
                previousChain: header.knowsPreviousChain ? header.previousChain : nil,
                firstEpoch: header.epoch, end: end)
        ]
    }
}

/// A possible outcome of the repair.
private struct Candidate {
    /// Nil for a checkpoint alone.
    let run: LogRun?
    let base: CheckpointFinding?
    /// Its first segment already has the right name.
    private let isNamed: Bool
    let firstSequence: UInt64
    let lastSequence: UInt64

    /// - Parameter segments: those that contain the runs.
    static func all(
        _ runs: [LogRun], in segments: [SegmentExamination], _ checkpoints: [CheckpointFinding]
    ) -> [Candidate] {
        let usable = checkpoints.filter(\.isUsable)
        return runs.compactMap { Candidate($0, in: segments, usable) }
            + usable.compactMap { Candidate($0) }
    }

    /// If two have the same events, one was written by a repair that a crash interrupted.
    func rank(for goal: RepairGoal) -> (UInt64, UInt64, Int) {
        let events = run?.eventCount ?? 0
        return switch goal {
        case .state: (lastSequence, events, isNamed ? 1 : 0)
        case .history: (events, lastSequence, isNamed ? 1 : 0)
        }
    }

    private init?(
        _ run: LogRun, in segments: [SegmentExamination], _ checkpoints: [CheckpointFinding]
    ) {
        isNamed = segments[run.pieces[0].segment].header.firstSequence == run.firstSequence
        (firstSequence, lastSequence) = (run.firstSequence, run.end.sequence)
        let (before, last) = (firstSequence - 1, lastSequence)
        base = checkpoints.first { $0.sequence >= before && $0.sequence <= last }
        guard firstSequence == 1 || base != nil else { return nil }
        self.run = run
    }

    private init?(_ checkpoint: CheckpointFinding) {
        guard checkpoint.sequence < UInt64(Int64.max) else { return nil }
        run = nil
        isNamed = false
        base = checkpoint
        firstSequence = checkpoint.sequence + 1
        lastSequence = checkpoint.sequence
    }
}

extension [Candidate] {
    fileprivate func best(for goal: RepairGoal) -> Candidate? {
        self.max { one, other in one.rank(for: goal) < other.rank(for: goal) }
    }

    fileprivate func alternative(
        to kept: Candidate, for goal: RepairGoal
    ) -> RepairReport.Alternative? {
        guard let other = best(for: goal),
            (other.firstSequence, other.lastSequence) != (kept.firstSequence, kept.lastSequence)
        else { return nil }
        return RepairReport.Alternative(
            goal: goal, firstSequence: other.firstSequence, lastSequence: other.lastSequence,
            checkpoint: other.firstSequence > 1 ? other.base?.sequence : nil)
    }
}
