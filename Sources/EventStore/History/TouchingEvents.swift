import EventLog
@_spi(Rooms) package import RelayRecords

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The events of a history whose bytes contain one of several ids, and the intents of their mutations.
///
/// Nearly all events are skipped without being decoded, so finding out what happened to a few records is much
/// cheaper than a fold. An event that contains the id but does not write the record is also returned. Not
/// Sendable, because it is stateful.
final class TouchingEvents {
    /// How many mutations are remembered undecoded. Nearly always the last one is needed, by its response.
    static let memory = 64

    /// Return every event that can end or change an optimistic entry, whatever it contains.
    var givesAllEnds = false
    private let history: History
    private let ids: [[UInt8]]
    private let cursor: HistoryCursor
    private var expected: UInt64
    private let last: UInt64
    /// The first events that could not be read, if others came after them.
    private var gap: ClosedRange<UInt64>?
    private let total: UInt64
    private var done: UInt64 = 0
    /// The most recent mutations, as a ring buffer.
    private(set) var mutations: [(sequence: UInt64, payload: [UInt8])] = []
    private var mutationCount = 0

    init(
        _ history: History, _ ids: [String], in range: ClosedRange<UInt64>
    ) throws(EventStoreError) {
        self.history = history
        self.ids = ids.map { Array($0.utf8) }
        cursor = try history.skippingCursor(in: range)
        expected = range.lowerBound
        last = range.upperBound
        total = range.upperBound - range.lowerBound
        try cursor.check(passing: total)
    }

    /// The first event hidden by damage; known at the end.
    var lost: UInt64? { (gap ?? missingEnd)?.lowerBound }

    private var missingEnd: ClosedRange<UInt64>? { expected <= last ? expected...last : nil }

    private enum Found {
        case passed
        case event(Result<Event, EventStoreError>)
    }

    /// The next such event; nil at the end.
    func next() throws(EventStoreError) -> Event? {
        while true {
            done += 1
            try Replay.watch(done, of: total, history.watch)
            let found = try cursor.next { sequence, kind, time, payload in
                look(sequence, kind, time, payload)
            }
            if !cursor.damages.isEmpty { history.damages.note(cursor.damages) }
            if history.endsAtDamage, let gap = gap ?? (found == nil ? missingEnd : nil) {
                throw history.passedOver(gap)
            }
            switch found {
            case nil: return nil
            case .passed: continue
            case .event(let event): return try event.get()
            }
        }
    }

    private func look(
        _ sequence: UInt64, _ kind: UInt8, _ time: Int64, _ payload: UnsafeRawBufferPointer
    ) -> Found {
        if sequence > expected, gap == nil { gap = expected...sequence - 1 }
        expected = sequence + 1
        if kind == EventKind.mutation.rawValue {
            remember(sequence, payload)
        } else if givesAllEnds {
            return .event(.reading(sequence, kind, time, payload))
        }
        return isTouched(payload) ? .event(.reading(sequence, kind, time, payload)) : .passed
    }

    private func remember(_ mutation: UInt64, _ payload: UnsafeRawBufferPointer) {
        let entry = (mutation, [UInt8](payload))
        if mutations.count < Self.memory {
            mutations.append(entry)
        } else {
            mutations[mutationCount % Self.memory] = entry
        }
        mutationCount += 1
    }

    private func isTouched(_ payload: UnsafeRawBufferPointer) -> Bool {
        ids.contains { id in id.withUnsafeBytes { payload.hasPiece($0) } }
    }

    /// The intent of a mutation; nil if it can no longer be read.
    func intent(of mutation: UInt64) throws(EventStoreError) -> MutationIntent? {
        if let payload = mutations.first(where: { $0.sequence == mutation })?.payload {
            let body = payload.withUnsafeBytes {
                Result<Event, EventStoreError>.reading(
                    mutation, EventKind.mutation.rawValue, 0, $0)
            }
            guard case .mutation(let intent) = try body.get().body else { return nil }
            return intent
        }
        return try history.intent(of: mutation)
    }
}

extension Result<Event, EventStoreError> {
    static func reading(
        _ sequence: UInt64, _ kind: UInt8, _ time: Int64, _ payload: UnsafeRawBufferPointer
    ) -> Self {
        do throws(MalformedEvent) {
            let body = try EventBody(kind: kind, payload: payload)
            return .success(Event(sequence: sequence, timeMicroseconds: time, body: body))
        } catch {
            return .failure(.unreadable(sequence, error))
        }
    }
}

extension History {
    /// A state in which only some records are correct.
    ///
    /// A record depends only on the writes to that record, so only the events that touch one of them are
    /// folded.
    package func snapshot(
        at sequence: UInt64, of records: [String]
    ) throws(EventStoreError) -> Snapshot {
        guard sequence <= lastReadable else { throw .outOfRange(sequence, readable) }
        let replay = try Replay(source, near: sequence, through: lastReadable, indexes: [])
        return try snapshot(at: sequence, of: records, from: replay.snapshot)
    }

    /// - Parameter near: an earlier state, in which these records are correct.
    func snapshot(
        at sequence: UInt64, of records: [String], from near: Snapshot
    ) throws(EventStoreError) -> Snapshot {
        var snapshot = near
        guard snapshot.sequence < sequence else { return snapshot }
        let events = try TouchingEvents(self, records, in: snapshot.sequence + 1...sequence)
        var changes = ChangeSet()
        while let event = try events.next() {
            if let writes = event.body.confirmedWrites {
                snapshot.apply(writes, changes: &changes)
                if changes.fields.count > 1_024 { changes = ChangeSet() }
            }
        }
        if let lost = events.lost {
            guard let damage = damages.all.last else { throw .missing(lost) }
            throw .notRebuildable(sequence, after: lost - 1, damage)
        }
        snapshot.sequence = sequence
        return snapshot
    }

    /// The changes that an event made to confirmed records.
    package func changes(by sequence: UInt64) throws(EventStoreError) -> [FieldDifference] {
        let change = try change(by: sequence)
        return change.records.flatMap(change.differences)
    }

    /// The same, to be looked at record by record.
    func change(by sequence: UInt64) throws(EventStoreError) -> StateDifference {
        guard let writes = try event(sequence).body.confirmedWrites else {
            return StateDifference(from: Snapshot(), to: Snapshot())
        }
        let before = try snapshot(at: sequence - 1, of: writes.recordIDs)
        var after = before
        var changes = ChangeSet()
        after.apply(writes, changes: &changes)
        return StateDifference(from: before, to: after)
    }

    /// The intent of a mutation; nil if the log no longer has it, or it is damaged.
    package func intent(of mutation: UInt64) throws(EventStoreError) -> MutationIntent? {
        guard readable?.contains(mutation) == true else { return nil }
        do throws(EventStoreError) {
            guard case .mutation(let intent) = try event(mutation).body else { return nil }
            return intent
        } catch {
            if error.code == .log(.damaged) { return nil }
            throw error
        }
    }
}

extension EventBody {
    /// The event's writes to confirmed records.
    package var confirmedWrites: WriteSet? {
        switch self {
        case .genesis(_, let seed): seed
        case .response(let response): response.writes
        case .update(let update): update.writes
        case .schema, .mutation, .revocation, .unknown: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes contain others.
    fileprivate func hasPiece(_ piece: UnsafeRawBufferPointer) -> Bool {
        if piece.isEmpty { return true }
        guard let start = baseAddress, let pieceStart = piece.baseAddress, count >= piece.count
        else { return false }
        var place = start
        let end = start + (count - piece.count + 1)
        while let found = memchr(place, Int32(piece[0]), end - place) {
            if memcmp(found, pieceStart, piece.count) == 0 { return true }
            place = UnsafeRawPointer(found) + 1
            if place >= end { return false }
        }
        return false
    }
}
