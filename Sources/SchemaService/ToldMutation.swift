package import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords

/// A mutation that subscriptions are told of. What it was given is read once, and its payload made once, however many
/// ask. Not Sendable: it is made where it is told.
package final class ToldMutation {
    package let intent: MutationIntent
    package let response: MutationResponse
    /// The state right after it.
    package let snapshot: Snapshot
    private let service: SchemaService
    private var knownPayload: MutationPayload?
    /// The arguments of the mutation's field.
    private(set) lazy var arguments: JSONObject = intent.arguments.object ?? [:]

    /// - Parameter payload: where it is known.
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
