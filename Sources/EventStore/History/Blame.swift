import EventLog
@_spi(Rooms) package import RelayRecords

/// One write of one field of a record.
package struct BlameEntry: Sendable, Hashable {
    /// What the event did to the field. In the notation of the documentation: `e6`, `e5'`, `e5'/e6`.
    package enum Kind: Sendable, Hashable {
        /// The field already had its value at the first state that can be rebuilt, in a log whose beginning
        /// was dropped. Either the event that last wrote it is kept, or it is only known after which event
        /// the field had this value.
        case inherited(isWriterKnown: Bool)
        /// The event wrote the field, confirmed.
        case confirmed
        /// The value is shown until its mutation ends.
        case optimistic
        /// The value shown by an earlier mutation, which has not ended, has changed.
        case rebased
        /// The value shown by its mutation is no longer shown.
        case revoked(reason: String)
    }

    /// For an inherited value, its writer if known, otherwise the event after which the field had the value.
    package let sequence: UInt64
    /// Nil for a value whose event is gone.
    package let timeMicroseconds: Int64?
    package let kind: Kind
    /// Nil for the genesis.
    package let operation: String?
    package let mutationID: MutationID?
    package let viewer: String?
    /// The mutation that shows, or showed, the value; nil for confirmed writes.
    package let layer: UInt64?
    /// The storage key, or `__typename` if the record was created, deleted or changed its type.
    package let field: String
    /// For confirmed writes the confirmed value, for others the shown one.
    package let change: FieldChange
    /// The mutations that still show another value on top of a confirmed one, in log order.
    package let layersAbove: [UInt64]
    /// The value that those mutations show after the write; nil if there are none.
    package let shown: FieldChange?

    /// Whether this event did not confirm the value.
    package var isOptimistic: Bool {
        switch kind {
        case .inherited, .confirmed: false
        case .optimistic, .rebased, .revoked: true
        }
    }
}

/// The record or field whose writers to find.
package struct BlameTarget: Sendable, Hashable {
    package let record: String
    /// Nil for all fields.
    package let field: String?

    package init(record: String, field: String? = nil) {
        self.record = record
        self.field = field
    }
}

extension BlameTarget {
    /// All that `RECORD` or `RECORD.field` may mean, the longest record first.
    ///
    /// Ids and storage keys may have dots in them, so what the log knows decides: the first of these whose record
    /// exists, or ever did.
    package static func targets(_ text: String) -> [BlameTarget] {
        [BlameTarget(record: text)]
            + text.indices.dropFirst().reversed().filter { text[$0] == "." }.map { dot in
                BlameTarget(
                    record: String(text[..<dot]), field: String(text[text.index(after: dot)...]))
            }
    }
}

/// Who wrote a record or a field.
package struct BlameReport: Sendable, Hashable {
    package let target: BlameTarget
    /// Newest first.
    package let entries: [BlameEntry]
}

extension History {
    /// Every write of a record or of one of its fields, newest first, including writes of an equal value. If
    /// the log's beginning was dropped, the last entries give the values with which the events begin.
    ///
    /// Reads the log once, and folds only the events that touch the record.
    /// - Parameters:
    ///   - targets: the first one whose record was ever written is used.
    ///   - showsLayers: also show how optimistic values were rebased and revoked.
    /// - Returns: nil if none of the records was ever written.
    package func blame(
        _ targets: [BlameTarget], showsLayers: Bool = false
    ) throws(EventStoreError) -> BlameReport? {
        // The checkpoint that a compacted log begins with stands in for the events it no longer has.
        let base = try beginning()
        var folds = targets.map { BlameFold($0, on: base, showsLayers: showsLayers) }
        if base.sequence > 0 { try noteInherited(&folds, through: base.sequence) }
        try fold(&folds, behind: base.sequence, through: lastReadable)
        return folds.first(where: \.isRecord).map {
            BlameReport(target: $0.target, entries: $0.entries.newestFirst)
        }
    }

    /// The newest part of a blame: since a state that needs no folding, or since the beginning.
    /// - Parameters:
    ///   - last: the last event to look at.
    ///   - count: how many events to look at, at least.
    ///   - limit: on the entries, of which the newest are kept.
    /// - Returns: its entries, and the event before it; 0 if it began with the beginning.
    func blame(
        _ target: BlameTarget, through last: UInt64, atLeast count: UInt64, showsLayers: Bool,
        keeping limit: NewestEntries.Limit
    ) throws(EventStoreError) -> (entries: NewestEntries, start: UInt64) {
        var base: Snapshot?
        if last > count {
            base = try source.restore(through: last - count, takesOlderFold: first > 1).snapshot
        }
        let beginning = try beginning()
        if let known = base, known.sequence <= beginning.sequence { base = nil }
        var folds = [
            BlameFold(
                target, on: base ?? beginning, showsLayers: showsLayers, through: last,
                keeping: limit)
        ]
        var isWhole = base == nil
        if base == nil, beginning.sequence > 0 {
            do throws(EventStoreError) {
                try noteInherited(&folds, through: beginning.sequence)
            } catch  where error.isDamage && beginning.sequence < last {
                // What came after the first state is known all the same.
                isWhole = false
            }
        }
        let start = (base ?? beginning).sequence
        try fold(&folds, behind: start, through: last)
        return (folds[0].entries, isWhole ? 0 : start)
    }

    private func fold(
        _ folds: inout [BlameFold], behind start: UInt64, through last: UInt64
    ) throws(EventStoreError) {
        guard start < last else { return }
        let events = try TouchingEvents(self, folds.map(\.target.record), in: start + 1...last)
        events.givesAllEnds = folds.contains { $0.hasLayers }
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
    }

    /// The first of several targets whose record was ever written and confirmed; nil if none was.
    ///
    /// Reads the log once, at most. What damage hides is not known.
    package func known(_ targets: [BlameTarget]) throws(EventStoreError) -> BlameTarget? {
        let base = try beginning()
        // Those that would be better than what has been found.
        var better = targets.prefix { base.existing($0.record) == nil }
        var found = targets.dropFirst(better.count).first
        guard base.sequence < lastReadable else { return found }
        let events = try TouchingEvents(
            self, targets.map(\.record), in: base.sequence + 1...lastReadable)
        while !better.isEmpty, let event = try events.next() {
            guard let ids = event.body.confirmedWrites?.recordIDs,
                let place = better.firstIndex(where: { ids.contains($0.record) })
            else { continue }
            (found, better) = (better[place], better[..<place])
        }
        return found
    }

    /// The earliest state from which events can be folded: empty, except in a log that begins later than
    /// event 1.
    private func beginning() throws(EventStoreError) -> Snapshot {
        if first == 1 { return Snapshot() }
        return try Replay(fromEarliest: source, through: lastReadable).snapshot
    }

    /// Starts with the contents of a checkpoint. Events before it may still be there: then the last writer is
    /// known, but not the value before it.
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
    /// The mutation that a response or revocation ends.
    var endedMutation: UInt64? {
        switch self {
        case .response(let response): response.mutation
        case .revocation(let revocation): revocation.mutation
        default: nil
        }
    }

    /// What the event turns optimistic entries into.
    var rebased: [RebasedEntry] {
        switch self {
        case .response(let response): response.rebased
        case .revocation(let revocation): revocation.rebased
        case .update(let update): update.rebased
        default: []
        }
    }
}
