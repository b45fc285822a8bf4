package import GraphQLExecution
import RelayJSON
@_spi(Rooms) public import RelayRecords

/// External inputs of a mutation, which are recorded.
public struct MutationContext: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let timeMicroseconds: Int64
    /// The viewer, as named by the authentication. Nil for nobody (a client without a token, which may see and do what
    /// the rules let everybody), and for whoever may do everything: see ``isUnrestricted``.
    public let viewer: String?
    /// Everything is allowed: no authentication is configured, or the client has a token without a name.
    public let isUnrestricted: Bool
    /// `CLIENT:N`, if the client gave the mutation an id. It is carried out once under this id.
    public let mutationID: String?
    /// Makes the id of a new record of a type: one that no record has or had. An id of which a mutation that was refused
    /// had made a record may be returned again.
    public let makeID: @Sendable (_ type: String) -> DataID

    package init(
        timeMicroseconds: Int64, identity: Identity = .unrestricted, mutationID: String? = nil,
        makeID: @escaping @Sendable (_ type: String) -> DataID = GlobalID.random
    ) {
        self.timeMicroseconds = timeMicroseconds
        viewer = identity.viewerID
        isUnrestricted = identity == .unrestricted
        self.mutationID = mutationID
        self.makeID = makeID
    }

    /// The time in the form of `@now` fields: RFC 3339, UTC, milliseconds.
    public var timestampText: String {
        RFC3339.text(microseconds: timeMicroseconds).dropLast(4) + "Z"
    }

    var timestamp: FieldValue { .string(timestampText) }
}
