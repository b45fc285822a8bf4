import RelayJSON
@_spi(Rooms) public import RelayRecords

/// External inputs of a mutation, which are recorded.
public struct MutationContext: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let timeMicroseconds: Int64
    /// The viewer, as named by the authentication; nil without authentication.
    public let viewer: String?
    /// `CLIENT:N`, if the client gave the mutation an id. It is carried out once under this id.
    public let mutationID: String?
    /// Makes the id of a new record of a type; never returns the same one twice.
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

    /// The time in the form of `@now` fields: RFC 3339, UTC, milliseconds.
    public var timestampText: String {
        RFC3339.text(microseconds: timeMicroseconds).dropLast(4) + "Z"
    }

    var timestamp: FieldValue { .string(timestampText) }
}
