import GraphQLExecution
import RelayJSON
package import RelayStore

/// A request for a mutation operation.
struct MutationRequest: Sendable {
    let operation: PreparedOperation
    let variables: JSONObject
    let mutationID: MutationID?
    let viewer: String?
    /// What the client expects, as `extensions.relay.optimisticResponse` has it; kept while the mutation
    /// waits for its handler.
    var optimisticResponse: JSONValue?
    /// Called once, when everything that the mutation did is durable, or when it did nothing.
    let answer: @Sendable (Outcome) -> Void

    /// The mutation id as the client gave it: the one in the log has its viewer's name before it.
    var clientMutationID: MutationID? {
        guard let id = mutationID, let viewer else { return mutationID }
        let client = id.client.utf8.dropFirst(viewer.utf8.count + 1)
        return MutationID(client: String(decoding: client, as: UTF8.self), number: id.number)
    }
}

/// What the engine takes from the outside world, so that tests can say what it is.
package struct EngineInputs: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    package var now: @Sendable () -> Int64
    /// The id of a new record of a type.
    package var makeID: @Sendable (_ type: String) -> DataID

    package init(
        now: @escaping @Sendable () -> Int64,
        makeID: @escaping @Sendable (_ type: String) -> DataID = GlobalID.random
    ) {
        self.now = now
        self.makeID = makeID
    }
}

/// A mutation whose intent is in the log, and whose handler waits for something.
struct OngoingMutation: Sendable {
    let request: MutationRequest
    let variables: CoercedVariables
    let plan: Plan
    /// Place of the root field in the plan.
    let field: Int
    let arguments: JSONObject
    let context: MutationContext
    let handler: WaitingMutation
    let pending: PendingMutation
}
