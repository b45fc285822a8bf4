package import GraphQLExecution
package import RelayJSON
@_spi(Rooms) package import RelayRecords
import SchemaService

/// A request for a mutation operation.
package struct MutationRequest: Sendable {
    let operation: PreparedOperation
    let variables: JSONObject
    let mutationID: MutationID?
    let identity: Identity
    /// What the mutation asks for, if it has a mutation id; set by the runner.
    var fingerprint: MutationFingerprint?
    /// What the client expects, as given in `extensions.relay.optimisticResponse`; kept while the mutation
    /// waits for its handler.
    var optimisticResponse: JSONValue?
    /// Its intent is in the log, and its handler has begun to work.
    var hasIntent = false
    /// It has waited for another request with its id, which may have been carried out.
    var isRepeat = false
    /// Called once, when everything the mutation did is durable, or when it did nothing.
    var answer: @Sendable (Outcome) -> Void

    package init(
        operation: PreparedOperation, variables: JSONObject, mutationID: MutationID?,
        identity: Identity, fingerprint: MutationFingerprint? = nil,
        optimisticResponse: JSONValue? = nil, answer: @escaping @Sendable (Outcome) -> Void
    ) {
        self.operation = operation
        self.variables = variables
        self.mutationID = mutationID
        self.identity = identity
        self.fingerprint = fingerprint
        self.optimisticResponse = optimisticResponse
        self.answer = answer
    }
}

extension MutationRequest {
    /// Answers that another server appends now.
    func overtake() { answer(.overtaken(mayBeDone: isRepeat)) }
}

/// A mutation whose intent is in the log and whose handler is waiting for something.
package struct OngoingMutation: Sendable {
    var request: MutationRequest
    let variables: CoercedVariables
    let plan: Plan
    /// Index of the root field in the plan.
    let field: Int
    /// With ids in place of unique values: what has a value can change while the handler waits.
    let arguments: JSONObject
    let context: MutationContext
    let mutation: WaitingMutation
    let pending: PendingMutation
}
