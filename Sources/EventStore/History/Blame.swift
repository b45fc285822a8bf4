import EventLog
package import RelayStore

/// One write of one field of a record.
package struct BlameEntry: Sendable, Hashable {
    /// What the event did to the field. In the notation of the documentation: `e6`, `e5'`, `e5'/e6`.
    package enum Kind: Sendable, Hashable {
        /// It wrote the field for good.
        case confirmed
        /// It is shown until its mutation ends.
        case optimistic
        /// What an earlier mutation, which has not ended, shows has become something else.
        case rebased
        /// What its mutation showed is shown no more.
        case revoked(reason: String)
    }

    package let sequence: UInt64
    package let timeMicroseconds: Int64
    package let kind: Kind
    /// Nil for the genesis.
    package let operation: String?
    package let mutationID: MutationID?
    package let viewer: String?
    /// The mutation that shows, or showed, the value, of all but confirmed writes.
    package let layer: UInt64?
    /// The storage key, or `__typename` where the record came, went or became of another type.
    package let field: String
    /// Nil when the record or its field was not there. Of confirmed writes the confirmed value, of
    /// others the one that is shown.
    package let before: FieldValue?
    package let after: FieldValue?
    /// The mutations that go on showing another value over a confirmed one, in log order.
    package let layersAbove: [UInt64]
    /// What is shown after the event.
    package let shown: FieldValue?

    /// Not confirmed by this event.
    package var isOptimistic: Bool { kind != .confirmed }
}

/// What is asked who wrote it.
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
    /// included.
    ///
    /// Reads the log once, and folds only the events that touch the record.
    /// - Parameters:
    ///   - targets: the first whose record was ever written is the one that is looked at.
    ///   - showsLayers: also how optimistic values were rebased and revoked.
    /// - Returns: nil when none of the records was ever written.
    package func blame(
        _ targets: [BlameTarget], showsLayers: Bool = false
    ) throws(EventStoreError) -> BlameReport? {
        guard let extent = readable else { return nil }
        // Of what a compacted log no longer has, only a checkpoint right before it can tell.
        let beginning = try reader.checkpoints.restore(
            through: extent.lowerBound - 1, indexes: [])
        var folds = targets.map {
            BlameFold($0, on: beginning.snapshot ?? Snapshot(), showsLayers: showsLayers)
        }
        let events = try TouchingEvents(self, targets.map(\.record), in: extent)
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
        return folds.first(where: \.isRecord).map {
            BlameReport(target: $0.target, entries: $0.entries.reversed())
        }
    }

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
