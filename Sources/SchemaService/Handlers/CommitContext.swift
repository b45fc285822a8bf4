import GraphQLExecution
public import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayRecords

/// A durable mutation, as passed to a subscription that follows commits.
public struct CommitContext: Sendable {
    /// The mutation's field.
    public let mutation: String
    /// The arguments of that field, coerced, defaults included.
    public let variables: VariableData
    /// The record that was created, changed or deleted, as returned by the mutation.
    public let result: DataID?
    /// The viewer who carried it out, as named by the authentication. Nil if nobody did (a client without a token), and
    /// if whoever may do everything did: see ``isUnrestricted``.
    public let viewer: String?
    /// Whoever carried it out might do everything: no authentication was configured, or the client had a token without a
    /// name.
    public let isUnrestricted: Bool
    /// The commit's position in the log: later commits have higher sequences.
    public let sequence: UInt64
    /// All records right after this commit, whatever has been committed since.
    public let records: SnapshotReader

    /// Whether the subscriber has carried it out: the same viewer, or both might do everything. Clients without a token
    /// are no one in particular, so what one of them did is not another's, or its own.
    public func isOwn(of subscription: SubscriptionContext) -> Bool {
        if isUnrestricted || subscription.isUnrestricted {
            return isUnrestricted && subscription.isUnrestricted
        }
        guard let viewer, let subscriber = subscription.viewer else { return false }
        return viewer.isSame(as: subscriber)
    }
}

/// Turns a commit into an event for one subscription; nil if it is not one of its events.
typealias CommitHandler =
    @Sendable (CommitContext, SubscriptionContext) throws -> (any VariableValueConvertible)?

extension CommitContext {
    init(_ told: ToldMutation) {
        mutation = told.intent.field
        variables = VariableData(told.arguments)
        result = told.response.result
        let identity = Identity(logged: told.intent.viewer)
        viewer = identity.viewerID
        isUnrestricted = identity == .unrestricted
        sequence = told.snapshot.sequence
        records = SnapshotReader(snapshot: told.snapshot)
    }
}
