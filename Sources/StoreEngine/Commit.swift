import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords
package import SchemaService
import Threads

/// One durable mutation, as reported to subscriptions.
package struct Commit: Sendable {
    let mutation: MutationCommit
    let payload: MutationPayload
    /// The mutation had to wait: its intent was already in the log, and only the response is new.
    let hasWaited: Bool

    package var intent: MutationIntent { mutation.intent }
    package var response: MutationResponse { mutation.response }
    /// The state right after the mutation.
    package var snapshot: Snapshot { mutation.snapshot }
    var changes: ChangeSet { mutation.changes }

    init(_ mutation: MutationCommit, _ payload: MutationPayload, hasWaited: Bool = false) {
        self.mutation = mutation
        self.payload = payload
        self.hasWaited = hasWaited
    }

    /// What a service learns from a replayed event; nil when no record changed and no mutation ended.
    /// - Parameters:
    ///   - intent: of the mutation that the event ends.
    ///   - snapshot: the state right after the event.
    package init?(
        replaying event: Event, _ intent: MutationIntent?, _ changes: ChangeSet,
        service: SchemaService, snapshot: Snapshot
    ) {
        if case .response(let response) = event.body, let intent {
            self.init(
                MutationCommit(
                    intent: intent, response: response, snapshot: snapshot, changes: changes),
                service.payload(of: intent, response, in: snapshot))
            return
        }
        if changes.isEmpty { return nil }
        // Not a mutation: only subscriptions that watch the records see it.
        self.init(
            MutationCommit(
                intent: MutationIntent(field: "", arguments: [:]),
                response: MutationResponse(mutation: 0, writes: .empty, result: nil),
                snapshot: snapshot, changes: changes),
            MutationPayload())
    }
}

/// A durable change that subscriptions are told of.
package enum Publication: Sendable {
    /// A mutation was carried out.
    case commit(Commit)
    /// A mutation is waiting for its handler. The result its client expects is in the intent.
    case began(PendingMutation, Snapshot)
    /// A mutation that was waiting ended without any effect.
    case revoked(Revocation, Snapshot)
    /// Another server has appended what changes no record, such as a new schema.
    case passed(Snapshot)

    /// The state right after it.
    package var snapshot: Snapshot {
        switch self {
        case .commit(let commit): commit.snapshot
        case .began(_, let snapshot), .revoked(_, let snapshot), .passed(let snapshot):
            snapshot
        }
    }

    /// Approximate memory that it takes until it is published.
    var byteCount: Int {
        switch self {
        case .commit(let commit): commit.mutation.byteCount + commit.payload.byteCount
        case .began(let pending, _): pending.intent.byteCount
        case .revoked(let revocation, _): 512 + revocation.reason.utf8.count
        case .passed: 512
        }
    }

    var commit: Commit? {
        if case .commit(let commit) = self { commit } else { nil }
    }
}

extension MutationPayload {
    /// The parts of the payload whose length is unbounded.
    fileprivate var byteCount: Int {
        (deletedID?.utf8.count ?? 0) + (clientMutationID?.approximateByteCount ?? 0)
    }
}

/// A publication, with the state expected beyond it.
struct Step: Sendable {
    enum Expectation: Sendable {
        /// The records with the expected effects of waiting mutations; nil when no waiting mutation states
        /// any.
        case current(ExpectedState?)
        /// A later step of the same append carries it.
        case later
    }

    let publication: Publication
    var expected = Expectation.current(nil)
}

/// The state with the optimistic entries of all waiting mutations on top, in log order.
struct ExpectedState: Sendable {
    let snapshot: Snapshot
    /// The changes that the entries make.
    let changes: ChangeSet

    /// Applies the entries of a state. Only the store's writer may call this, because entries contain new
    /// names.
    init?(of state: Snapshot) {
        var snapshot = state
        var changes = ChangeSet()
        var hasEntries = false
        for pending in state.pending {
            guard let writes = pending.intent.optimistic else { continue }
            snapshot.apply(writes, changes: &changes)
            hasEntries = true
        }
        guard hasEntries else { return nil }
        self.snapshot = snapshot
        self.changes = changes
    }
}
