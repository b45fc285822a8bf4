import EventLog
@_spi(Rooms) package import RelayRecords

/// One write of one field of a record.
package struct BlameEntry: Sendable, Hashable {
    /// What the event did to the field. In the notation of the documentation: `e6`, `e5'`, `e5'/e6`.
    package enum Kind: Sendable, Hashable {
        /// The field had its value when the states begin that can be rebuilt, in a log whose beginning was
        /// dropped. Either the event that wrote it last is kept, or all that is known is after which event
        /// it was so.
        case inherited(isWriterKnown: Bool)
        /// It wrote the field, confirmed.
        case confirmed
        /// It is shown until its mutation ends.
        case optimistic
        /// What an earlier mutation, which has not ended, shows has become something else.
        case rebased
        /// What its mutation showed is shown no more.
        case revoked(reason: String)
    }

    /// Of an inherited value the event after which it was so.
    package let sequence: UInt64
    /// Nil of a value whose event is gone.
    package let timeMicroseconds: Int64?
    package let kind: Kind
    /// Nil for the genesis.
    package let operation: String?
    package let mutationID: MutationID?
    package let viewer: String?
    /// The mutation that shows, or showed, the value, of all but confirmed writes.
    package let layer: UInt64?
    /// The storage key, or `__typename` where the record was created, deleted or changed its type.
    package let field: String
    /// Of confirmed writes the confirmed value, of others the one that is shown.
    package let change: FieldChange
    /// The mutations that still show another value in place of a confirmed one, in log order.
    package let layersAbove: [UInt64]
    /// What those mutations make of the value after it; nil where there are none.
    package let shown: FieldChange?

    /// Not confirmed by this event.
    package var isOptimistic: Bool {
        switch kind {
        case .inherited, .confirmed: false
        case .optimistic, .rebased, .revoked: true
        }
    }
}

/// What to find the writers of.
package struct BlameTarget: Sendable, Hashable {
    package let record: String
    /// Nil for all fields.
    package let field: String?

    package init(record: String, field: String? = nil) {
        self.record = record
        self.field = field
    }
}

/// Who wrote a record or a field.
package struct BlameReport: Sendable, Hashable {
    package let target: BlameTarget
    /// The newest first.
    package let entries: [BlameEntry]
}

extension History {
    /// Every write of a record or of one of its fields, newest first, writes of an equal value
    /// included. In a log whose beginning was dropped the last entries say with which values the events
    /// begin.
    ///
    /// Reads the log once, and folds only the events that touch the record.
    /// - Parameters:
    ///   - targets: the first whose record was ever written is the one that is looked at.
    ///   - showsLayers: also how optimistic values were rebased and revoked.
    /// - Returns: nil when none of the records was ever written.
    package func blame(
        _ targets: [BlameTarget], showsLayers: Bool = false
    ) throws(EventStoreError) -> BlameReport? {
        // For what a compacted log no longer has, there is the checkpoint that it begins with.
        let base = try beginning()
        var folds = targets.map { BlameFold($0, on: base, showsLayers: showsLayers) }
        if base.sequence > 0 { try noteInherited(&folds, through: base.sequence) }
        guard base.sequence < lastReadable else { return Self.report(folds) }
        let events = try TouchingEvents(
            self, targets.map(\.record), in: base.sequence + 1...lastReadable)
        while let event = try events.next() {
            let ended = event.body.endedMutation
            let intent =
                if let ended { try events.intent(of: ended) } else { nil as MutationIntent? }
            var rebased: [(entry: RebasedEntry, intent: MutationIntent?)] = []
            for entry in event.body.rebased {
                rebased.append((entry, try events.intent(of: entry.mutation)))
            }
            for index in folds.indices { folds[index].read(event, of: intent, rebased) }
            events.givesAllEnds = folds.contains { $0.hasLayers }
        }
        return Self.report(folds)
    }

    private static func report(_ folds: [BlameFold]) -> BlameReport? {
        folds.first(where: \.isRecord).map {
            BlameReport(target: $0.target, entries: $0.entries.reversed())
        }
    }

    /// The earliest state from which events can be folded: nothing, but in a log that begins later than with
    /// event 1.
    private func beginning() throws(EventStoreError) -> Snapshot {
        if first == 1 { return Snapshot() }
        return try Replay(fromEarliest: reader, through: lastReadable).snapshot
    }

    /// Begins with what a checkpoint holds. Events before it may still be there: the last writer is known,
    /// but not what was there before.
    private func noteInherited(
        _ folds: inout [BlameFold], through sequence: UInt64
    ) throws(EventStoreError) {
        var time: Int64?
        if let readable, readable.contains(sequence) {
            let events = try TouchingEvents(
                self, folds.map(\.target.record), in: readable.lowerBound...sequence)
            while let event = try events.next() {
                let ended = event.body.endedMutation
                let intent =
                    if let ended { try events.intent(of: ended) } else { nil as MutationIntent? }
                for index in folds.indices { folds[index].noteWriter(event, of: intent) }
            }
            time = try times(in: sequence...sequence).next()?.microseconds
        }
        for index in folds.indices { folds[index].noteInherited(at: time) }
    }
}

extension History {
    /// Every write of a record or of one of its fields, newest first.
    package func blame(
        _ record: String, field: String? = nil, showsLayers: Bool = false
    ) throws(EventStoreError) -> [BlameEntry] {
        try blame([BlameTarget(record: record, field: field)], showsLayers: showsLayers)?.entries
            ?? []
    }
}

extension EventBody {
    /// The mutation that a response or a revocation ends.
    var endedMutation: UInt64? {
        switch self {
        case .response(let response): response.mutation
        case .revocation(let revocation): revocation.mutation
        default: nil
        }
    }

    /// What optimistic entries have become by the event.
    var rebased: [RebasedEntry] {
        switch self {
        case .response(let response): response.rebased
        case .revocation(let revocation): revocation.rebased
        case .update(let update): update.rebased
        default: []
        }
    }
}
