package import Disk
package import EventLog
@_spi(Rooms) package import RelayRecords

/// The past of a store, read only from its directory, or from a journal in memory.
///
/// Never writes and takes no lock: it works on a copy, and on a directory that a server is writing to. Its
/// extent is fixed when it is opened, so that one command sees one history.
///
///     let history = try History("relay-data")
///     let before = try history.snapshot(at: 412)
package struct History: Sendable {
    /// Empty if it is in memory only.
    package let directory: String
    /// The first event that is kept, or the next one if there is none.
    package let first: UInt64
    /// The last event, even if it is no longer kept; 0 if there never was one.
    package private(set) var last: UInt64
    /// The damage that ends the history before the end of the log: the effect of later events cannot be
    /// known.
    package let damage: LogDamage?
    /// The last event that can be read, which may be after the damage.
    package private(set) var lastReadable: UInt64
    /// The damage skipped by reading events so far.
    package let damages = DamageNotes()
    /// Called occasionally with the progress of reading: the events read so far, and the total.
    package var watch: Watch?
    /// Whether events that damage hides are an error where they are met; otherwise they are left out, and noted in
    /// ``damages``.
    var endsAtDamage = false
    private(set) var source: HistorySource

    package typealias Watch = @Sendable (_ done: UInt64, _ total: UInt64) -> Void

    /// - Throws: `log(notFound)`, `log(futureVersion)`, `log(damaged)`, `log(inputOutput)`.
    package init(
        _ directory: String, fileSystem: any FileSystem = POSIXFileSystem()
    ) throws(EventStoreError) {
        self.directory = directory
        let reader = try onLog { () throws(LogError) in
            try EventLogReader(directory, fileSystem: fileSystem)
        }
        source = HistorySource(reader)
        first = try source.firstSequence()
        (last, damage) = try onLog { () throws(LogError) in try reader.lastInOrder() }
        if let damage {
            damages.note([damage])
            lastReadable = try onLog { () throws(LogError) in try reader.lastBehindDamage() }
        } else {
            lastReadable = last
        }
    }

    /// The history of a journal, given its reader: nothing has to be searched for.
    /// - Parameter last: the last durable event.
    init(
        _ directory: String, _ reader: EventLogReader, through last: UInt64
    ) throws(EventStoreError) {
        self.directory = directory
        source = HistorySource(reader)
        first = try source.firstSequence()
        self.last = last
        lastReadable = last
        damage = nil
    }

    /// The history of a journal in memory, up to its present end.
    package init(_ journal: InMemoryJournal) {
        directory = ""
        source = HistorySource(journal)
        first = 1
        last = journal.last
        lastReadable = last
        damage = nil
    }

    /// The same history, of which only so much is read; beyond that its functions throw `limitExceeded`, or
    /// `cancelled` when the allowance is given up. Nothing is left out: where damage hides an event they throw
    /// `log(damaged)`.
    /// - Parameter kept: states to start from.
    package func within(_ allowance: HistoryAllowance, from kept: PassedStates? = nil) -> History {
        var history = self
        history.source.allowance = allowance
        history.source.kept = kept
        history.endsAtDamage = true
        return history
    }

    /// The beginning of the history, through an event.
    package func beginning(through sequence: UInt64) -> History {
        var history = self
        history.last = min(last, sequence)
        history.lastReadable = min(lastReadable, sequence)
        return history
    }

    /// The log's files.
    /// - Throws: `log(notFound)` if it is in memory only.
    var reader: EventLogReader {
        get throws(EventStoreError) {
            guard let reader = source.reader else { throw .onlyInMemory }
            return reader
        }
    }

    /// The kept events; nil if there are none.
    package var extent: ClosedRange<UInt64>? { first <= last ? first...last : nil }

    /// The range of readable events, which may contain damage.
    package var readable: ClosedRange<UInt64>? {
        first <= lastReadable ? first...lastReadable : nil
    }

    /// Nil if it is in memory only.
    package var metadata: LogMetadata? { source.reader?.metadata }

    /// The first event whose state can be rebuilt: 1, or that of the checkpoint with which a compacted log
    /// begins.
    package var firstState: UInt64 {
        get throws(EventStoreError) {
            if first == 1 { return min(1, last) }
            return try Replay(fromEarliest: source, through: lastReadable).snapshot.sequence
        }
    }

    /// Where to continue after damage: the first event after a given one for which a checkpoint holds the
    /// state. Damage is noted in ``damages``.
    /// - Throws: `log(damaged)` if there is none.
    package func nextState(after sequence: UInt64) throws(EventStoreError) -> UInt64 {
        _ = try events(in: sequence + 1...sequence + 1).next()
        for place in try source.checkpoints() where place > sequence && place <= lastReadable {
            let restored = try source.restore(through: place, takesOlderFold: first > 1)
            if restored.snapshot?.sequence == place { return place }
        }
        guard let damage = damages.all.last else { throw .missing(sequence + 1) }
        throw .notRebuildable(sequence + 1, after: sequence, damage)
    }

    // MARK: Events

    /// One event.
    /// - Throws: `outOfRange`, `log(damaged)` if it cannot be read, and read errors.
    package func event(_ sequence: UInt64) throws(EventStoreError) -> Event {
        let event = try events(in: sequence...sequence).next()
        guard let event, event.sequence == sequence else { throw notThere(sequence) }
        return event
    }

    /// Why reading did not find an event.
    func notThere(_ sequence: UInt64) -> EventStoreError {
        if let damage = damages.all.last { return .unreadable(sequence, damage) }
        return .outOfRange(sequence, readable)
    }

    /// Why reading went by some events.
    func passedOver(_ lost: ClosedRange<UInt64>) -> EventStoreError {
        let known = damages.all
        guard
            let damage = known.last(where: { $0.sequence ?? .max <= lost.upperBound }) ?? known.last
        else { return .missing(lost.lowerBound) }
        // Reading may have begun within the damage.
        let first = min(damage.sequence ?? lost.lowerBound, lost.lowerBound)
        return .unreadable(first...lost.upperBound, damage)
    }

    /// Events in log order. Damage is skipped, and noted in ``damages``; or it is an error, as ``endsAtDamage`` says.
    /// - Throws: `outOfRange` if the first of them does not exist.
    package func events(
        in range: ClosedRange<UInt64>
    ) throws(EventStoreError) -> EventIterator {
        EventIterator(try skippingCursor(in: range), in: range.lowerBound, of: self)
    }

    func skippingCursor(
        in range: ClosedRange<UInt64>
    ) throws(EventStoreError) -> HistoryCursor {
        guard let readable, readable.contains(range.lowerBound) else {
            throw .outOfRange(range.lowerBound, readable)
        }
        let cursor = try source.events(from: range.lowerBound, skippingDamage: true)
        cursor.through = min(range.upperBound, lastReadable)
        return cursor
    }

    /// Only the times of events, without reading their contents.
    func times(in range: ClosedRange<UInt64>) throws(EventStoreError) -> TimeIterator {
        TimeIterator(try cursor(in: range))
    }

    func cursor(in range: ClosedRange<UInt64>) throws(EventStoreError) -> HistoryCursor {
        let cursor = try source.events(from: range.lowerBound)
        cursor.through = min(range.upperBound, last)
        return cursor
    }

    /// Events from a sequence on, including those appended after the history was opened: at the end it
    /// returns nil, and continues when called again.
    package func events(following sequence: UInt64) throws(EventStoreError) -> EventIterator {
        EventIterator(try source.events(from: sequence))
    }

    // MARK: States

    /// The newest state, folded from the earliest one that can be rebuilt, without using later checkpoints.
    package func refolded() throws(EventStoreError) -> Snapshot {
        let replay = try Replay(fromEarliest: source, through: last)
        try replay.advance(to: last)
        return replay.snapshot
    }

    /// The state after an event; 0 is the state before all events.
    /// - Throws: `outOfRange`, `notAHistory`, and read errors.
    package func snapshot(
        at sequence: UInt64, indexes: [IndexDefinition] = []
    ) throws(EventStoreError) -> Snapshot {
        try replay(at: sequence, indexes: indexes).snapshot
    }

    /// The state after an event, from which to step event by event.
    package func replay(
        at sequence: UInt64, indexes: [IndexDefinition] = []
    ) throws(EventStoreError) -> Replay {
        guard sequence <= lastReadable else { throw .outOfRange(sequence, readable) }
        let replay = try Replay(source, near: sequence, through: lastReadable, indexes: indexes)
        replay.watch = watch
        try replay.advance(to: sequence)
        return replay
    }
}

/// Iterates over the events of a log. Not Sendable, because it is stateful.
package final class EventIterator {
    private let cursor: HistoryCursor
    /// Of which these are events; nil if their end is not known.
    private let history: History?
    private let total: UInt64
    private var done: UInt64 = 0
    /// The next one, if none is lost.
    private var expected: UInt64

    init(_ cursor: HistoryCursor) {
        self.cursor = cursor
        history = nil
        (total, expected) = (0, 0)
    }

    /// - Parameter first: where the cursor begins.
    fileprivate init(_ cursor: HistoryCursor, in first: UInt64, of history: History) {
        self.cursor = cursor
        self.history = history
        total = cursor.through - first
        expected = first
    }

    /// Bytes of events read so far.
    var byteCount: UInt64 { cursor.byteCount }

    /// The next event; nil at the end.
    package func next() throws(EventStoreError) -> Event? {
        guard let history else { return try cursor.nextEvent() }
        done += 1
        if done.isMultiple(of: Replay.watchInterval) { history.watch?(done, total) }
        defer { if !cursor.damages.isEmpty { history.damages.note(cursor.damages) } }
        let event = try cursor.nextEvent()
        let behind = event?.sequence ?? cursor.through + 1
        if history.endsAtDamage, behind > expected {
            history.damages.note(cursor.damages)
            throw history.passedOver(expected...behind - 1)
        }
        expected = behind + 1
        return event
    }
}

/// Iterates over the times of events. Not Sendable, because it is stateful.
final class TimeIterator {
    private let cursor: HistoryCursor

    init(_ cursor: HistoryCursor) { self.cursor = cursor }

    func next() throws(EventStoreError) -> (sequence: UInt64, microseconds: Int64)? {
        try cursor.next { sequence, _, microseconds, _ in (sequence, microseconds) }
    }
}

extension EventLogReader {
    /// The last event or, if the newest segment is damaged, the last one before any damage.
    fileprivate func lastInOrder() throws(LogError) -> (sequence: UInt64, damage: LogDamage?) {
        do throws(LogError) {
            return (try head().sequence, nil)
        } catch  where error.damage != nil {
            var last = try firstSequence() - 1
            let frames = try frames()
            do throws(LogError) {
                while let frame = try frames.next() { last = frame.sequences.upperBound }
            } catch  where error.damage != nil {
                return (last, error.damage)
            }
            return (last, error.damage)
        }
    }

    /// The last event in any valid frame.
    fileprivate func lastBehindDamage() throws(LogError) -> UInt64 {
        var last = try firstSequence() - 1
        let frames = try frames(skippingDamage: true)
        while let frame = try frames.next() { last = max(last, frame.sequences.upperBound) }
        return last
    }
}
