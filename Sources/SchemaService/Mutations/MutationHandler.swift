package import GraphQLExecution
package import RelayJSON
@_spi(Rooms) public import RelayRecords

/// Does what a root field of the mutation type asks for.
///
/// The directives of a schema compile into handlers; a Swift program can put its own in their place.
package protocol MutationHandler: Sendable {
    /// Runs on the newest state, under the store's writer.
    ///
    /// Deterministic but for what the context brings: no clock and no chance of its own.
    /// - Parameters:
    ///   - arguments: the root field's, coerced.
    ///   - draft: what is written here is committed, or discarded if the body throws.
    func run(
        arguments: JSONObject, draft: inout Draft, context: MutationContext
    ) throws(ExecutionError) -> MutationOutcome

    /// The payload of a mutation that is in the log.
    /// - Parameter snapshot: the state right after the response.
    func payload(
        for intent: MutationIntent, response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload
}

/// What a mutation did.
package struct MutationOutcome: Sendable, Hashable {
    /// The record that was made, changed or deleted; goes to the log.
    package let result: DataID?
    package let payload: MutationPayload
}

/// What a mutation cannot know of itself: it is given from outside, and recorded.
public struct MutationContext: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let timeMicroseconds: Int64
    /// The viewer, as named by the authentication; nil without authentication.
    public let viewer: String?
    /// `CLIENT:N`, if the client has given the mutation a name. It is carried out once under this name.
    public let mutationID: String?
    /// Makes the id of a new record of a type; never the same one twice.
    public let makeID: @Sendable (_ type: String) -> DataID

    package init(
        timeMicroseconds: Int64, viewer: String? = nil, mutationID: String? = nil,
        makeID: @escaping @Sendable (_ type: String) -> DataID = GlobalID.random
    ) {
        self.timeMicroseconds = timeMicroseconds
        self.viewer = viewer
        self.mutationID = mutationID
        self.makeID = makeID
    }
}
