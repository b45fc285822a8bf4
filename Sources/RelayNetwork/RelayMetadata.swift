public import RelayArtifacts
import RelayJSON
import RelayLink
@_spi(Rooms) import RelayStore

/// What a program may request from a Relay server beyond GraphQL; passed as `CacheConfig.metadata`.
public struct RelayMetadata: Sendable {
    /// Live stream: show what waiting mutations of others are expected to do. `Environment.othersOptimisticRecords` says of
    /// which records that is.
    public var showsOptimistic = false
    /// Mutation: the expected result; shown to others while the server's handler waits.
    public var optimisticResponse: VariableData?
    /// Query: the state to read, as the sequence of an event or an RFC 3339 time. The result is written to
    /// the store like any other response, so use a separate environment for the past.
    public var at: String?

    /// No requests.
    public init() {}
}

extension OperationRequest {
    /// - Parameters:
    ///   - transactionID: names a mutation if it is `CLIENT:N`.
    ///   - ids: names mutations that do not have a name yet.
    ///   - showsOptimistic: whether a live stream shows what is expected, also without its metadata.
    init(
        _ request: RequestParameters, variables: VariableData, metadata: RelayMetadata?,
        transactionID: String?, _ ids: MutationIDs, showsOptimistic: Bool
    ) {
        var mutationID: String?
        if request.operationKind == .mutation {
            mutationID = transactionID.flatMap { MutationID($0) == nil ? nil : $0 } ?? ids.next()
        }
        var metadata = metadata ?? RelayMetadata()
        if showsOptimistic, request.operationKind == .subscription || request.isLive == true {
            metadata.showsOptimistic = true
        }
        self.init(request, variables: variables, relay: metadata.members, mutationID: mutationID)
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
