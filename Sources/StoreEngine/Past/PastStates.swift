@_spi(Rooms) import RelayRecords

/// Steps through the past of a journal, event by event, on its own state.
struct PastReplay {
    private(set) var snapshot: Snapshot
    /// Events read and folded so far, including those that led to the starting state.
    private(set) var readEvents = 0
    private var events: AsyncThrowingStream<Event, any Error>.Iterator

    /// Thrown when more events would have to be folded than the budget allows.
    struct TooFar: Error {
        let events: UInt64
    }

    /// Starts with the state after an event.
    /// - Parameters:
    ///   - indexes: the indexes that the state must have.
    ///   - near: a state to start from, unless the journal has a later one; nobody else may advance it.
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

    /// Continues from a state that an earlier replay reached; nobody else may advance it.
    init(
        _ journal: any EventJournal, from snapshot: Snapshot, to sequence: UInt64
    ) async throws {
        self.snapshot = snapshot
        events = journal.events(from: snapshot.sequence + 1).makeAsyncIterator()
        while self.snapshot.sequence < sequence { _ = try await step() }
    }

    /// One event, with the intent of the mutation that it ends.
    struct Step {
        let event: Event
        let intent: MutationIntent?
    }

    /// Folds the next event, which must exist.
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
