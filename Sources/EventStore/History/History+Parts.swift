package import EventLog
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// Events of a history that can only be left out together: a mutation and what ended it, or a single event.
package struct HistoryPart: Sendable, Hashable {
    package let first: UInt64
    /// The event that ended the mutation.
    package let end: UInt64?
}

/// The part of a history that goes into a copy.
package struct HistorySelection: Sendable {
    package var parts: [HistoryPart]
    /// Records of the first event to keep; nil for all of them.
    package var seed: Set<ExactText>?

    package init(parts: [HistoryPart], seed: Set<ExactText>? = nil) {
        self.parts = parts
        self.seed = seed
    }
}

extension History {
    /// Everything after the first event, in log order.
    /// - Throws: `outOfRange` if the log has lost its beginning, without which parts of it cannot be folded.
    package func parts() throws(EventStoreError) -> [HistoryPart] {
        guard first == 1, let extent else {
            throw .outOfRange(
                "The log begins with event \(first): only a log with its first event has parts.")
        }
        var parts: [HistoryPart] = []
        var places: [UInt64: Int] = [:]
        let events = try events(in: extent)
        while let event = try events.next() {
            switch event.body {
            case .genesis: continue
            case .mutation: places[event.sequence] = parts.count
            default: break
            }
            if let mutation = event.body.endedMutation,
                let place = places.removeValue(forKey: mutation)
            {
                parts[place] = HistoryPart(first: mutation, end: event.sequence)
            } else {
                parts.append(HistoryPart(first: event.sequence, end: nil))
            }
        }
        return parts
    }

    /// The ids of the records that the first event creates, in its order.
    package func seedIDs() throws(EventStoreError) -> [String] {
        guard case .genesis(_, let seed) = try event(first).body else { return [] }
        return seed.recordIDs
    }

    /// Creates a log from the first event and some parts, renumbered. Blocks.
    /// - Parameters:
    ///   - directory: missing or empty.
    ///   - options: how the log is written.
    ///   - rewrite: given each event under its new number, in order; returns the new body.
    /// - Returns: the number of events in the new log.
    /// - Throws: ``EventStoreError``, and what `rewrite` throws.
    @discardableResult
    package func copy(
        _ selection: HistorySelection, to directory: String, options: EventLogOptions,
        rewriting rewrite: (Event) throws -> EventBody = { $0.body }
    ) throws -> UInt64 {
        let wanted =
            ([first] + selection.parts.flatMap { [$0.first] + ($0.end.map { [$0] } ?? []) })
            .sorted()
        let log = try onLog { () throws(LogError) in
            try EventLogWriter.open(directory, options: options)
        }
        defer { log.close() }
        guard log.head.sequence == 0 else { throw EventStoreError.occupied(directory) }
        let events = ChosenEvents(self, wanted)
        var batch = EventBatch()
        var count: UInt64 = 0
        var numbers: [UInt64: UInt64] = [:]
        while let event = try events.next() {
            count += 1
            var body = event.body
            switch body {
            case .genesis(let schema, let seed):
                if let ids = selection.seed { body = .genesis(schema: schema, seed: seed.of(ids)) }
            case .mutation:
                numbers[event.sequence] = count
            case .response(var response):
                response.mutation = numbers.removeValue(forKey: response.mutation) ?? 0
                response.rebased = response.rebased.renumbered(by: numbers)
                body = .response(response)
            case .revocation(var revocation):
                revocation.mutation = numbers.removeValue(forKey: revocation.mutation) ?? 0
                revocation.rebased = revocation.rebased.renumbered(by: numbers)
                body = .revocation(revocation)
            case .update(var update):
                update.rebased = update.rebased.renumbered(by: numbers)
                update.interrupted = update.interrupted.flatMap { numbers[$0] }
                body = .update(update)
            case .schema, .unknown:
                break
            }
            let time = event.timeMicroseconds
            body = try rewrite(Event(sequence: count, timeMicroseconds: time, body: body))
            batch.append(NewEvent(timeMicroseconds: time, body: body))
            guard batch.count == 1_000 || batch.bytes.count > 1 << 20 else { continue }
            try append(&batch, to: log)
        }
        try append(&batch, to: log)
        return count
    }

    private func append(
        _ batch: inout EventBatch, to log: EventLogWriter
    ) throws(EventStoreError) {
        if batch.count == 0 { return }
        try onLog { () throws(LogError) in _ = try log.appendAndWait(batch) }
        batch.removeAll()
    }
}

/// Reads chosen events in order, skipping long stretches between them. Not Sendable, because it is stateful.
private final class ChosenEvents {
    private static let jump: UInt64 = 4_096
    private let history: History
    private var wanted: ArraySlice<UInt64>
    private var events: EventIterator?
    private var place: UInt64 = 0

    init(_ history: History, _ wanted: [UInt64]) {
        self.history = history
        self.wanted = wanted[...]
    }

    func next() throws(EventStoreError) -> Event? {
        guard let sequence = wanted.popFirst() else { return nil }
        if events == nil || sequence - place > Self.jump {
            events = try history.events(in: sequence...history.last)
        }
        while let event = try events?.next() {
            place = event.sequence
            if place == sequence { return event }
        }
        throw .missing(sequence)
    }
}

extension [RebasedEntry] {
    /// The entries of mutations that were copied, under their new numbers.
    fileprivate func renumbered(by numbers: [UInt64: UInt64]) -> [RebasedEntry] {
        compactMap { entry in
            numbers[entry.mutation].map { RebasedEntry(mutation: $0, writes: entry.writes) }
        }
    }
}

extension WriteSet {
    /// The writes of some of the records of a seed, which contains each record once.
    fileprivate func of(_ ids: Set<ExactText>) -> WriteSet {
        var snapshot = Snapshot()
        var changes = ChangeSet()
        snapshot.apply(self, changes: &changes)
        var writer = WriteSetWriter()
        for record in snapshot.recordsInCreationOrder() {
            guard let record = snapshot.recordJSON(record),
                ids.contains(ExactText(record.id.rawValue))
            else { continue }
            writer.write(record.id, type: record.type, fields: record.fields)
        }
        return writer.writeSet
    }
}
