import EventLog
import EventStore
@_spi(Rooms) import RelayRecords
import Threads

/// Takes the place of a journal where what happens has happened already.
struct ReplayedJournal: EventJournal {
    let history: History
    let played: PlayedSequence

    var epoch: UInt64 { UInt64(history.metadata?.epoch ?? 0) }

    func append(
        _ events: [NewEvent], expecting sequence: UInt64,
        completion: @escaping @Sendable (Result<UInt64, JournalError>) -> Void
    ) {
        completion(
            .failure(JournalError(code: .refused, message: ReplayServer.mutationRefusal)))
    }

    /// The events that have been played by now.
    func events(from sequence: UInt64) -> AsyncThrowingStream<Event, any Error> {
        let events = PlayedEvents(history, from: sequence, through: played.value)
        return AsyncThrowingStream { try await events.next() }
    }

    var earliestState: UInt64 { max(1, history.first) - 1 }

    func state(near sequence: UInt64, indexes: [IndexDefinition]) async throws -> Snapshot {
        try history.snapshot(at: sequence, indexes: indexes)
    }
}

private actor PlayedEvents {
    private let history: History
    private let range: ClosedRange<UInt64>?
    private var events: EventIterator?

    init(_ history: History, from first: UInt64, through last: UInt64) {
        self.history = history
        range = first <= last ? max(1, first)...max(1, last) : nil
    }

    func next() throws -> Event? {
        guard let range else { return nil }
        let events = try self.events ?? history.events(in: range)
        self.events = events
        return try events.next()
    }
}

/// How far a replay has come.
final class PlayedSequence: Sendable {
    private let sequence: Lock<UInt64>

    init(_ sequence: UInt64) { self.sequence = Lock(sequence) }

    var value: UInt64 { sequence.withLock { $0 } }

    func advance(to new: UInt64) { sequence.withLock { $0 = new } }
}
