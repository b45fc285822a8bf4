package import EventLog

/// What `repair` would do, or has done. Nothing that was readable before is gone: see ``copies``.
package struct RepairReport: Sendable, Equatable {
    /// What is wrong with the log; empty if nothing has to be done.
    package let damages: [LogDamage]
    /// The first readable event of the repaired log, or the next one if there is none.
    package let firstSequence: UInt64
    /// The repaired log's last event.
    package let lastSequence: UInt64
    /// The checkpoint whose state the repaired log begins with; nil if it begins with event 1.
    package let checkpoint: UInt64?
    /// Events whose effect is lost.
    package let lost: ClosedRange<UInt64>?
    /// Events that keep their effect but can no longer be read.
    package let forgotten: ClosedRange<UInt64>?
    /// What the other goal would keep, if that differs; nil if nothing has to be repaired.
    package let alternative: Alternative?
    /// Whether it is recorded that nothing followed the last known event.
    package let isEndCertain: Bool
    /// Files that are rewritten, from good frames or from what is left.
    package let rebuilt: [String]
    /// The files that hold the bytes no longer part of the log.
    package let copies: [String]
    /// The new epoch; nil if nothing has to be repaired.
    package let epoch: UInt32?
    /// Nothing has been done yet.
    package let isPlan: Bool

    /// What the other goal would keep.
    package struct Alternative: Sendable, Equatable {
        package let goal: RepairGoal
        package let firstSequence: UInt64
        package let lastSequence: UInt64
        package let checkpoint: UInt64?
    }

    /// The first damage.
    package var damage: LogDamage? { damages.first }

    /// One sentence for each thing worth reporting.
    package var sentences: [String] {
        guard let epoch else { return ["The log is not damaged; nothing was changed."] }
        var sentences = damages.map { "Damage: \($0)." }
        sentences.append(isPlan ? "Would keep \(keeps)." : "Kept \(keeps).")
        if let lost {
            let verb = isPlan ? "would be lost" : Self.isOrAre(lost) + " lost"
            sentences.append("\(Self.name(lost)) \(verb), with what they changed.")
        }
        if let forgotten {
            let verb = isPlan ? "could" : "can"
            sentences.append(
                "\(Self.name(forgotten)) \(verb) no longer be read; what they changed stays.")
        }
        if lost == nil, forgotten == nil { sentences.append("No event is lost.") }
        if isPlan, let alternative {
            let keeps = Self.keeps(
                alternative.firstSequence, alternative.lastSequence, alternative.checkpoint)
            sentences.append("With --keep \(alternative.goal.rawValue) it would keep \(keeps).")
        }
        if !isEndCertain {
            sentences.append(
                "Whether there were events after \(lost?.upperBound ?? lastSequence) is unknown: "
                    + "the log was not closed properly.")
        }
        sentences += rebuilt.map { isPlan ? "Would rewrite \($0)." : "Rewrote \($0)." }
        if !copies.isEmpty {
            let place = copies.joined(separator: ", ")
            sentences.append(
                isPlan
                    ? "What is removed would be kept in \(place)."
                    : "What was removed is kept in \(place).")
        }
        sentences.append(isPlan ? "The epoch would be \(epoch)." : "The epoch is now \(epoch).")
        if isPlan { sentences.append("Nothing was changed.") }
        return sentences
    }

    private var keeps: String { Self.keeps(firstSequence, lastSequence, checkpoint) }

    private static func keeps(_ first: UInt64, _ last: UInt64, _ checkpoint: UInt64?) -> String {
        let events = "events \(first) to \(last)"
        guard let checkpoint else { return first <= last ? events : "no event" }
        let state = "the state after event \(checkpoint), which a checkpoint holds"
        return first <= last ? "\(events), and \(state)" : "\(state), and no event"
    }

    private static func name(_ events: ClosedRange<UInt64>) -> String {
        events.count == 1
            ? "Event \(events.lowerBound)"
            : "Events \(events.lowerBound) to \(events.upperBound)"
    }

    private static func isOrAre(_ events: ClosedRange<UInt64>) -> String {
        events.count == 1 ? "is" : "are"
    }
}

extension RepairReport {
    /// - Parameters:
    ///   - copies: what was set aside; for a plan, what would be.
    ///   - isPlan: nothing has been done yet.
    init(_ plan: RepairPlan, copies: [String], isPlan: Bool) {
        let directory = plan.examination.directory
        let isRepair = plan.changesAnything
        damages = plan.damages
        firstSequence = plan.firstSequence
        lastSequence = plan.lastSequence
        checkpoint = plan.base?.sequence
        lost =
            plan.lastKnown > plan.lastSequence ? plan.lastSequence + 1...plan.lastKnown : nil
        let begun =
            plan.examination.metadata.beginning?.sequence
            ?? plan.examination.segments.first?.header.firstSequence ?? 1
        forgotten = begun < plan.firstSequence ? begun...plan.firstSequence - 1 : nil
        alternative = isRepair ? plan.alternative : nil
        let reached = plan.examination.metadata.reached
        isEndCertain = (reached?.isClosed ?? false) && reached?.sequence == plan.lastKnown
        rebuilt =
            (plan.rebuildsMetadata ? [directory.metadataPath] : [])
            + plan.rewritten.map { directory.segmentPath($0.header.firstSequence) }
        self.copies = copies
        epoch = isRepair ? plan.newMetadata.epoch : nil
        self.isPlan = isPlan
    }
}
