import GraphQLExecution
import RelayJSON
import RelayStore
import Synchronization

/// One mutation that is durable: what subscriptions are told of.
struct Commit: Sendable {
    let intent: MutationIntent
    let response: MutationResponse
    let payload: MutationPayload
    /// The state right after it.
    let snapshot: Snapshot
    let changes: ChangeSet

    init(_ commit: MutationCommit, _ payload: MutationPayload) {
        self.init(
            intent: commit.intent, response: commit.response, payload: payload,
            snapshot: commit.snapshot, changes: commit.changes)
    }

    init(
        intent: MutationIntent, response: MutationResponse, payload: MutationPayload,
        snapshot: Snapshot, changes: ChangeSet
    ) {
        self.intent = intent
        self.response = response
        self.payload = payload
        self.snapshot = snapshot
        self.changes = changes
    }
}

/// The state that everybody may see: all of it is durable.
///
/// Written only by the completion of an append, in log order; read by everyone.
final class DurableHead: Sendable {
    private let state: Mutex<Snapshot>

    init(_ snapshot: Snapshot) { state = Mutex(snapshot) }

    var snapshot: Snapshot { state.withLock { $0 } }

    func advance(to snapshot: Snapshot) { state.withLock { $0 = snapshot } }
}
