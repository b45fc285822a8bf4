package import GraphQLExecution
import RelayJSON
@_spi(Rooms) package import RelayRecords

extension Access {
    /// Whether a record was visible right before a mutation.
    func isVisible(_ record: RecordIndex, in before: Snapshot, asBefore after: Snapshot) -> Bool {
        move(to: before)
        defer { move(to: after) }
        return isVisible(record, for: .event)
    }
}

/// A mutation as reported to subscriptions. Its arguments are read once and its payload is made once, however
/// many use them. Not Sendable: it stays where it was created.
package final class ToldMutation {
    package let intent: MutationIntent
    package let response: MutationResponse
    /// The state right before the mutation, if it is known.
    let before: Snapshot?
    /// The state right after the mutation.
    package let snapshot: Snapshot
    private let service: SchemaService
    private var knownPayload: MutationPayload?
    /// The arguments of the mutation's field.
    private(set) lazy var arguments: JSONObject = intent.arguments.object ?? [:]
    /// Those of its state, which may be from before the schema was another one.
    package private(set) lazy var rules: AccessRules = service.access(to: snapshot)

    /// - Parameter payload: if known.
    package init(
        _ intent: MutationIntent, _ response: MutationResponse, from before: Snapshot?,
        in snapshot: Snapshot,
        _ service: SchemaService, payload: MutationPayload? = nil
    ) {
        self.intent = intent
        self.response = response
        self.before = before
        self.snapshot = snapshot
        self.service = service
        knownPayload = payload
    }

    /// Whether the record that the mutation is about may be seen as it was after the mutation or, if it was deleted,
    /// before it; and as it is in the present, if it exists there.
    /// Where only a list has changed, the record that has the list must be visible as well, and the list be readable.
    /// - Parameter access: on the state right after the mutation.
    package func isVisible(to access: Access) -> Bool {
        let changed = service.mutations[intent.field]?.payload.changedList
        if response.result == nil || changed != nil {
            guard let parent = payload.parent else {
                return changed == nil && response.result == nil
            }
            guard access.isVisible(parent, for: .event),
                changed.map({ access.mayRead($0, of: parent) }) ?? true
            else { return false }
        }
        guard let subject = response.result else { return true }
        if let record = snapshot.existing(subject.rawValue) {
            return access.isVisible(record, for: .event)
        }
        guard let before, let record = before.existing(subject.rawValue) else { return false }
        return access.isVisible(record, in: before, asBefore: snapshot)
    }

    var payload: MutationPayload {
        if let knownPayload { return knownPayload }
        let payload = service.payload(of: intent, response, in: snapshot)
        knownPayload = payload
        return payload
    }
}
