public import RelayArtifacts

/// What a program may ask a Relay server for beyond GraphQL; given as `CacheConfig.metadata`.
public struct RelayMetadata: Sendable {
    /// Stream: entries of others that are not confirmed are shown.
    public var showsOptimistic = false
    /// Mutation: what the client expects; shown to others while the server's handler waits.
    public var optimisticResponse: VariableData?
    /// Query: the state to be read, as the sequence of an event or an RFC 3339 time. What comes is written
    /// to the store as every response is, so give the past an environment of its own.
    public var at: String?

    /// Nothing is asked for.
    public init() {}
}
