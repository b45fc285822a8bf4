public import RelayArtifacts
import RelayJSON
import RelayLink
@_spi(Rooms) import RelayStore

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

extension OperationRequest {
    /// - Parameters:
    ///   - transactionID: names a mutation if it is `CLIENT:N`.
    ///   - ids: names mutations that have no name yet.
    init(
        _ request: RequestParameters, variables: VariableData, metadata: RelayMetadata?,
        transactionID: String?, _ ids: MutationIDs
    ) {
        var mutationID: String?
        if request.operationKind == .mutation {
            mutationID = transactionID.flatMap { MutationID($0) == nil ? nil : $0 } ?? ids.next()
        }
        self.init(
            request, variables: variables, relay: metadata?.members ?? [:],
            mutationID: mutationID)
    }
}

extension RelayMetadata {
    /// The members of `extensions.relay`.
    fileprivate var members: JSONObject {
        var members = JSONObject()
        if showsOptimistic { members["optimistic"] = true }
        if let optimisticResponse {
            members["optimisticResponse"] = .object(optimisticResponse.json)
        }
        if let at { members["at"] = .string(at) }
        return members
    }
}
