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
    /// The viewer who carried it out, as named by the authentication; nil without authentication.
    public let viewer: String?
    /// The commit's position in the log: later commits have higher sequences.
    public let sequence: UInt64
    /// All records right after this commit, whatever has been committed since.
    public let records: SnapshotReader
}

/// Turns a commit into an event for one subscription; nil if it is not one of its events.
typealias CommitHandler =
    @Sendable (CommitContext, SubscriptionContext) throws -> (any VariableValueConvertible)?

extension CommitContext {
    init(_ told: ToldMutation) {
        mutation = told.intent.field
        variables = VariableData(told.arguments)
        result = told.response.result
        viewer = told.intent.viewer
        sequence = told.snapshot.sequence
        records = SnapshotReader(snapshot: told.snapshot)
    }
}
