import GraphQLExecution
@_spi(Rooms) import RelayRecords
import SchemaService

/// Events that another server has appended to the journal, as this one publishes them.
struct ForeignEvents {
    private(set) var steps: [Step] = []
    /// The state after them.
    private(set) var head: Snapshot
    /// Those that changed the schema.
    private(set) var schemaChanges: [UInt64] = []
    private let service: SchemaService

    /// - Parameters:
    ///   - events: appended together: what a mutation did is among them if it did not wait.
    ///   - snapshot: the state before them; its names have no other writer.
    init(
        _ events: [Event], behind snapshot: Snapshot, service: SchemaService
    ) throws(FoldError) {
        self.service = service
        head = snapshot
        var rest = events[...]
        while let event = rest.popFirst() {
            if case .mutation(let intent) = event.body, let end = rest.first,
                case .response(let response) = end.body, response.mutation == event.sequence
            {
                _ = rest.popFirst()
                var changes = ChangeSet()
                try head.fold(event, changes: &changes)
                try add(end, of: intent)
            } else {
                try add(event, of: ended(by: event))
            }
        }
        // Subscriptions get to the head, whatever led there.
        if let last = events.last, steps.last?.publication.snapshot.sequence != last.sequence {
            steps.append(Step(publication: .passed(head)))
        }
        if let last = steps.indices.last {
            steps[last].expected = .current(ExpectedState(of: head))
        }
    }

    /// The intent of the mutation that waited and is ended by an event.
    private func ended(by event: Event) -> MutationIntent? {
        guard case .response(let response) = event.body else { return nil }
        return head.pending.first { $0.sequence == response.mutation }?.intent
    }

    /// - Parameter intent: of the mutation that the event ends.
    private mutating func add(_ event: Event, of intent: MutationIntent?) throws(FoldError) {
        var changes = ChangeSet()
        try head.fold(event, changes: &changes)
        let publication: Publication?
        switch event.body {
        case .mutation:
            publication = head.pending.last.map { .began($0, head) }
        case .revocation(let revocation):
            publication = .revoked(revocation, head)
        case .schema:
            schemaChanges.append(event.sequence)
            publication = nil
        default:
            publication = Commit(
                replaying: event, intent, changes, service: service, snapshot: head
            ).map { .commit($0) }
        }
        guard let publication else { return }
        steps.append(
            Step(
                publication: publication, expected: head.pending.isEmpty ? .current(nil) : .later))
    }
}
