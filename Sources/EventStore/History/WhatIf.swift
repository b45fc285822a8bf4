@_spi(Rooms) package import RelayRecords

/// A different course that a history might have taken.
package struct HistoryChange: Sendable {
    /// Events that did not happen. Skipping a mutation also skips what ended it.
    package var skipped: Set<UInt64>
    /// Writes that happen right after an event, in this order.
    package var inserted: [UInt64: [WriteSet]]
    /// Pairs of events that swap places; for a mutation this means its response.
    package var exchanged: [(UInt64, UInt64)]

    package init(
        skipped: Set<UInt64> = [], inserted: [UInt64: [WriteSet]] = [:],
        exchanged: [(UInt64, UInt64)] = []
    ) {
        self.skipped = skipped
        self.inserted = inserted
        self.exchanged = exchanged
    }
}

extension History {
    /// What would be different now if the history had taken another course.
    ///
    /// Folds the log again, in memory, as it was and as it would have been. Later events write what they
    /// wrote: a record that one of them changes is created even if its creation is skipped.
    /// - Returns: before is the actual state, after the hypothetical one.
    /// - Throws: `outOfRange` for an event that does not exist or has nothing to exchange, and for skipping
    ///   the first event of a log, without which there is nothing; `cancelled`.
    package func whatIf(_ change: HistoryChange) throws(EventStoreError) -> [FieldDifference] {
        guard let start = try start(of: change) else { return [] }
        if start <= last {
            try source.allowance?.check(last - start + 1, of: HistoryAllowance.eventUnits)
        }
        let replay = try replay(at: start - 1)
        var course = AlternativeCourse(
            on: replay.snapshot, change, writes: try exchangedWrites(change))
        while let step = try replay.step() {
            try Replay.watch(step.event.sequence - start, of: last - start, watch)
            do throws(FoldError) {
                try course.fold(step.event)
            } catch {
                throw .unfoldable(error)
            }
        }
        return replay.snapshot.differences(to: course.snapshot)
    }

    /// What would be different now if some events had not happened.
    package func whatIf(
        skipping skipped: Set<UInt64>
    ) throws(EventStoreError) -> [FieldDifference] {
        try whatIf(HistoryChange(skipped: skipped))
    }

    /// The first event that a change concerns; nil if it concerns none.
    /// - Throws: `outOfRange` for an event that does not exist, and for skipping the first event of a log.
    package func start(of change: HistoryChange) throws(EventStoreError) -> UInt64? {
        if change.skipped.contains(first), extent != nil {
            throw .outOfRange("Event \(first) begins the log: nothing can be without it.")
        }
        let places =
            change.skipped.union(change.inserted.keys)
            .union(change.exchanged.flatMap { [$0.0, $0.1] }).sorted()
        for place in places where extent?.contains(place) != true {
            throw .outOfRange(place, extent)
        }
        return places.first
    }

    /// The write sets of exchanged events, by the event that now makes the writes.
    private func exchangedWrites(
        _ change: HistoryChange
    ) throws(EventStoreError) -> [UInt64: WriteSet] {
        var writes: [UInt64: WriteSet] = [:]
        for (one, other) in change.exchanged {
            let (mine, theirs) = (try effect(of: one), try effect(of: other))
            writes[mine.sequence] = theirs.writes
            writes[theirs.sequence] = mine.writes
        }
        return writes
    }

    /// The event that writes what another one started, and what it writes.
    package struct Effect: Sendable {
        package let sequence: UInt64
        package let writes: WriteSet
        /// Nil for a local update.
        package let response: MutationResponse?
    }

    package func effect(of sequence: UInt64) throws(EventStoreError) -> Effect {
        let events = try events(in: sequence...max(sequence, last))
        while let event = try events.next() {
            switch event.body {
            case .response(let response)
            where [event.sequence, response.mutation].contains(sequence):
                return Effect(
                    sequence: event.sequence, writes: response.writes, response: response)
            case .update(let update) where event.sequence == sequence:
                return Effect(sequence: sequence, writes: update.writes, response: nil)
            case .mutation where event.sequence == sequence:
                continue
            default:
                guard event.sequence > sequence else {
                    throw .outOfRange("Event \(sequence) writes nothing that another could.")
                }
            }
        }
        throw .outOfRange("Mutation \(sequence) has no response that wrote anything.")
    }
}

/// A state on the course that a history did not take.
private struct AlternativeCourse {
    private(set) var snapshot: Snapshot
    private let change: HistoryChange
    /// Replacement writes, by event.
    private let writes: [UInt64: WriteSet]
    private var skippedMutations: Set<UInt64> = []

    init(on snapshot: Snapshot, _ change: HistoryChange, writes: [UInt64: WriteSet]) {
        self.snapshot = snapshot
        self.change = change
        self.writes = writes
    }

    /// Folds an event as it would have been, and then what would have come right after it.
    mutating func fold(_ event: Event) throws(FoldError) {
        var event = event
        event.body = body(of: event)
        var changes = ChangeSet()
        try snapshot.fold(event, changes: &changes)
        for writes in change.inserted[event.sequence] ?? [] {
            snapshot.apply(writes, changes: &changes)
        }
    }

    private mutating func body(of event: Event) -> EventBody {
        if change.skipped.contains(event.sequence) || endsSkippedMutation(event.body) {
            if case .mutation = event.body { skippedMutations.insert(event.sequence) }
            // Keeps the sequence without any effect.
            return .unknown(kind: 0, payload: [])
        }
        guard let writes = writes[event.sequence] else { return event.body }
        switch event.body {
        case .response(var response):
            response.writes = writes
            return .response(response)
        case .update(var update):
            update.writes = writes
            return .update(update)
        case let body:
            return body
        }
    }

    private func endsSkippedMutation(_ body: EventBody) -> Bool {
        switch body {
        case .response(let response): skippedMutations.contains(response.mutation)
        case .revocation(let revocation): skippedMutations.contains(revocation.mutation)
        default: false
        }
    }
}
