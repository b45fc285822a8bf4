import EventLog
@_spi(Rooms) import RelayRecords

/// Where the events and the states of a history come from: a log's directory, or a journal in memory.
struct HistorySource: Sendable {
    private enum Place {
        case log(EventLogReader)
        case memory(InMemoryJournal)
    }

    private let place: Place
    /// How much may be read; nil for any amount.
    var allowance: HistoryAllowance?
    /// States to start from, if no checkpoint is much nearer.
    var kept: PassedStates?

    init(_ reader: EventLogReader) { place = .log(reader) }

    init(_ journal: InMemoryJournal) { place = .memory(journal) }

    /// Nil if the history is in memory only.
    var reader: EventLogReader? {
        if case .log(let reader) = place { reader } else { nil }
    }

    /// The first event that is kept, or the next one if there is none.
    func firstSequence() throws(EventStoreError) -> UInt64 {
        guard let reader else { return 1 }
        return try onLog { () throws(LogError) in try reader.firstSequence() }
    }

    /// The events with which checkpoints were made.
    func checkpoints() throws(EventStoreError) -> [UInt64] {
        guard let reader else { return [] }
        return try onLog { () throws(LogError) in try reader.checkpoints.sequences() }
    }

    /// The newest state at or before an event that needs no folding.
    func restore(
        through sequence: UInt64, indexes: [IndexDefinition] = [], takesOlderFold: Bool
    ) throws(EventStoreError) -> RestoredState {
        guard let kept, indexes.isEmpty else {
            return try reader?.checkpoints.restore(
                through: sequence, indexes: indexes, takesOlderFold: takesOlderFold)
                ?? RestoredState()
        }
        let newest = try checkpoints().last { $0 <= sequence } ?? 0
        if let near = kept.nearest(through: sequence, checkpoint: newest) {
            return RestoredState(snapshot: near)
        }
        let restored = try reader?.checkpoints.restore(
            through: sequence, indexes: [], takesOlderFold: takesOlderFold)
        if let snapshot = restored?.snapshot { kept.keep(snapshot) }
        return restored ?? RestoredState()
    }

    /// Events from a sequence on, in order.
    func events(
        from sequence: UInt64, skippingDamage: Bool = false
    ) throws(EventStoreError) -> HistoryCursor {
        switch place {
        case .log(let reader):
            let cursor = try onLog { () throws(LogError) in
                try reader.events(from: sequence, skippingDamage: skippingDamage)
            }
            return HistoryCursor(.log(cursor), allowance)
        case .memory(let journal):
            return HistoryCursor(.memory(MemoryCursor(journal, from: sequence)), allowance)
        }
    }

    /// Where an event's bytes are; nil if the history is in memory only.
    func frame(containing sequence: UInt64) throws(EventStoreError) -> FrameInfo? {
        guard let reader else { return nil }
        return try onLog { () throws(LogError) in try reader.frame(containing: sequence) }
    }
}

/// Walks the events of a history, and counts them. Not Sendable, because it is stateful.
final class HistoryCursor {
    fileprivate enum Events {
        case log(EventCursor)
        case memory(MemoryCursor)
    }

    private let events: Events
    private let allowance: HistoryAllowance?

    fileprivate init(_ events: Events, _ allowance: HistoryAllowance?) {
        self.events = events
        self.allowance = allowance
    }

    /// The last event to return.
    var through: UInt64 {
        get {
            switch events {
            case .log(let cursor): cursor.through
            case .memory(let cursor): cursor.through
            }
        }
        set {
            switch events {
            case .log(let cursor): cursor.through = newValue
            case .memory(let cursor): cursor.through = newValue
            }
        }
    }

    /// Bytes of events read so far.
    var byteCount: UInt64 {
        if case .log(let cursor) = events { cursor.byteCount } else { 0 }
    }

    /// What could not be read so far, if damage is skipped.
    var damages: [LogDamage] {
        if case .log(let cursor) = events { cursor.damages } else { [] }
    }

    /// Checks in advance whether so many events may be decoded, or only passed.
    /// - Throws: `limitExceeded`.
    func check(decoding count: UInt64) throws(EventStoreError) {
        try allowance?.check(count, of: HistoryAllowance.eventUnits)
    }

    func check(passing count: UInt64) throws(EventStoreError) {
        try allowance?.check(count, of: HistoryAllowance.passedUnits)
    }

    /// Calls `body` with the next event's sequence, kind, time in microseconds and payload.
    /// - Returns: nil at the end.
    func next<Result>(
        _ body: (UInt64, UInt8, Int64, UnsafeRawBufferPointer) -> Result
    ) throws(EventStoreError) -> Result? {
        try allowance?.spend(HistoryAllowance.passedUnits)
        switch events {
        case .log(let cursor):
            return try onLog { () throws(LogError) in
                try cursor.next { body($0, $1.rawValue, $2, $3) }
            }
        case .memory(let cursor):
            guard let event = cursor.next() else { return nil }
            return event.body.payload.withUnsafeBytes {
                body(event.sequence, event.body.kind, event.timeMicroseconds, $0)
            }
        }
    }

    /// The next event, decoded; nil at the end.
    func nextEvent() throws(EventStoreError) -> Event? {
        try allowance?.spend(HistoryAllowance.eventUnits)
        switch events {
        case .log(let cursor): return try cursor.nextEvent()
        case .memory(let cursor): return cursor.next()
        }
    }
}

/// Walks the events of a journal in memory, some at a time, so that the journal is hardly ever locked.
private final class MemoryCursor {
    private static let batchLength: UInt64 = 128

    var through = UInt64.max
    private let journal: InMemoryJournal
    private var sequence: UInt64
    private var batch: ArraySlice<Event> = []

    init(_ journal: InMemoryJournal, from sequence: UInt64) {
        self.journal = journal
        self.sequence = max(sequence, 1)
    }

    func next() -> Event? {
        guard sequence <= through else { return nil }
        if batch.isEmpty {
            let (end, _) = sequence.addingReportingOverflow(Self.batchLength - 1)
            batch = journal.kept(in: sequence...max(sequence, min(end, through)))
        }
        guard let event = batch.popFirst() else { return nil }
        sequence = event.sequence + 1
        return event
    }
}
