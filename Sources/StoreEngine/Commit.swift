import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords
package import SchemaService
import Threads

/// One mutation that is durable: what subscriptions are told of.
package struct Commit: Sendable {
    let mutation: MutationCommit
    let payload: MutationPayload
    /// The mutation has waited: its intent was in the log before, and only the response comes now.
    let hasWaited: Bool

    package var intent: MutationIntent { mutation.intent }
    package var response: MutationResponse { mutation.response }
    /// The state right after it.
    package var snapshot: Snapshot { mutation.snapshot }
    var changes: ChangeSet { mutation.changes }

    init(_ mutation: MutationCommit, _ payload: MutationPayload, hasWaited: Bool = false) {
        self.mutation = mutation
        self.payload = payload
        self.hasWaited = hasWaited
    }

    /// What a service is told of an event that happens once more; nil when no record changed and no mutation
    /// ended.
    /// - Parameters:
    ///   - intent: of the mutation that it ends.
    ///   - snapshot: the state right after it.
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
        // No mutation: only those who watch the records hear of it.
        self.init(
            MutationCommit(
                intent: MutationIntent(field: "", arguments: [:]),
                response: MutationResponse(mutation: 0, writes: .empty, result: nil),
                snapshot: snapshot, changes: changes),
            MutationPayload())
    }
}

/// Something that has happened to the records, and is durable.
package enum Publication: Sendable {
    /// A mutation was carried out.
    case commit(Commit)
    /// A mutation waits for its handler. What its client expects is in the intent.
    case began(PendingMutation, Snapshot)
    /// A mutation that waited has ended without having done anything.
    case revoked(Revocation, Snapshot)

    /// The state right after it.
    package var snapshot: Snapshot {
        switch self {
        case .commit(let commit): commit.snapshot
        case .began(_, let snapshot), .revoked(_, let snapshot): snapshot
        }
    }

    /// About what it takes to keep it until it is told.
    var byteCount: Int {
        switch self {
        case .commit(let commit): commit.mutation.byteCount + commit.payload.byteCount
        case .began(let pending, _): pending.intent.byteCount
        case .revoked(let revocation, _): 512 + revocation.reason.utf8.count
        }
    }

    var commit: Commit? {
        if case .commit(let commit) = self { commit } else { nil }
    }
}

extension MutationPayload {
    /// What it takes that may be long.
    fileprivate var byteCount: Int {
        (deletedID?.utf8.count ?? 0) + (clientMutationID?.approximateByteCount ?? 0)
    }
}

/// Something that has happened, and what may be expected beyond it.
struct Step: Sendable {
    enum Expectation: Sendable {
        /// The records with what waiting mutations are expected to do; nil when none waits that says.
        case current(ExpectedState?)
        /// It comes with a later step of the same append.
        case later
    }

    let publication: Publication
    var expected = Expectation.current(nil)
}

/// The state with the optimistic entries of all mutations that wait on top, in log order.
struct ExpectedState: Sendable {
    let snapshot: Snapshot
    /// What the entries change.
    let changes: ChangeSet

    /// Applies the entries of a state. Only the store's writer may call this: entries have new names.
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

/// The state that may be seen: all of it is durable.
///
/// Written only by the completion of an append, in log order; read by everyone.
final class DurableHead: Sendable {
    private let state: Lock<Snapshot>

    init(_ snapshot: Snapshot) { state = Lock(snapshot) }

    var snapshot: Snapshot { state.withLock { $0 } }

    func advance(to snapshot: Snapshot) {
        state.withLock { state in
            assert(snapshot.sequence >= state.sequence, "what is durable stays so")
            state = snapshot
        }
    }
}
