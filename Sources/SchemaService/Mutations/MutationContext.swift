import RelayJSON
@_spi(Rooms) public import RelayRecords

/// What a mutation cannot know of itself: it is given from outside, and recorded.
public struct MutationContext: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let timeMicroseconds: Int64
    /// Who asks, as the authentication named them; nil without authentication.
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

    /// The time as fields with `@now` have it: RFC 3339, UTC, milliseconds.
    public var timestampText: String {
        RFC3339.text(microseconds: timeMicroseconds).dropLast(4) + "Z"
    }

    var timestamp: FieldValue { .string(timestampText) }
}
