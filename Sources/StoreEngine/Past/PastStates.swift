@_spi(Rooms) import RelayRecords

/// Goes through the past of a journal, event by event, on a state of its own.
struct PastReplay {
    private(set) var snapshot: Snapshot
    /// Events that were read and folded so far, also those that led to where it began.
    private(set) var readEvents = 0
    private var events: AsyncThrowingStream<Event, any Error>.Iterator

    /// More events than the budget would have to be folded.
    struct TooFar: Error {
        let events: UInt64
    }

    /// Begins with the state after an event.
    /// - Parameters:
    ///   - indexes: the look-ups that the state shall have.
    ///   - near: a state to begin with, unless the journal has a later one; it must not go on itself.
    ///   - budget: events that may be folded to get there.
    /// - Throws: `TooFar`, or why the journal cannot be read.
    init(
        _ journal: any EventJournal, at sequence: UInt64, indexes: [IndexDefinition],
        orFrom near: Snapshot? = nil, budget: UInt64 = .max
    ) async throws {
        snapshot = try await journal.state(near: sequence, indexes: indexes)
        if let near, near.sequence >= snapshot.sequence { snapshot = near }
        guard sequence - snapshot.sequence <= budget else {
            throw TooFar(events: sequence - snapshot.sequence)
        }
        events = journal.events(from: snapshot.sequence + 1).makeAsyncIterator()
        while snapshot.sequence < sequence { _ = try await step() }
    }

    /// Goes on from a state that an earlier replay has come to, which must not go on itself.
    init(
        _ journal: any EventJournal, from snapshot: Snapshot, to sequence: UInt64
    ) async throws {
        self.snapshot = snapshot
        events = journal.events(from: snapshot.sequence + 1).makeAsyncIterator()
        while self.snapshot.sequence < sequence { _ = try await step() }
    }

    /// One event, with the mutation that it ends.
    struct Step {
        let event: Event
        let intent: MutationIntent?
    }

    /// Folds the next event, which must be there.
    mutating func step() async throws -> Step {
        guard let event = try await events.next() else { throw CancellationError() }
        var intent: MutationIntent?
        if case .response(let response) = event.body {
            intent = snapshot.pending.first { $0.sequence == response.mutation }?.intent
        }
        var changes = ChangeSet()
        try snapshot.fold(event, changes: &changes)
        readEvents += 1
        return Step(event: event, intent: intent)
    }
}
