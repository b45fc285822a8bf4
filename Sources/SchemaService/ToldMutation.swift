package import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// A mutation as reported to subscriptions. Its arguments are read once and its payload is made once, however
/// many use them. Not Sendable: it stays where it was created.
package final class ToldMutation {
    package let intent: MutationIntent
    package let response: MutationResponse
    /// The state right after the mutation.
    package let snapshot: Snapshot
    private let service: SchemaService
    private var knownPayload: MutationPayload?
    /// The arguments of the mutation's field.
    private(set) lazy var arguments: JSONObject = intent.arguments.object ?? [:]

    /// - Parameter payload: if known.
    package init(
        _ intent: MutationIntent, _ response: MutationResponse, in snapshot: Snapshot,
        _ service: SchemaService, payload: MutationPayload? = nil
    ) {
        self.intent = intent
        self.response = response
        self.snapshot = snapshot
        self.service = service
        knownPayload = payload
    }

    var payload: MutationPayload {
        if let knownPayload { return knownPayload }
        let payload = service.payload(of: intent, response, in: snapshot)
        knownPayload = payload
        return payload
    }
}
