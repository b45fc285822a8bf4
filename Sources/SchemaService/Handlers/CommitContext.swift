import GraphQLExecution
public import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayRecords

/// A mutation that has been carried out and is durable, as a subscription that follows commits gets it.
public struct CommitContext: Sendable {
    /// The mutation's field.
    public let mutation: String
    /// The arguments of that field, coerced, defaults included.
    public let variables: VariableData
    /// The record that was made, changed or deleted, as the mutation named it.
    public let result: DataID?
    /// Who carried it out, as the authentication named them; nil without authentication.
    public let viewer: String?
    /// The commit's place in the log: of two commits the later one has the higher.
    public let sequence: UInt64
    /// All records right after this commit, whatever has been committed since.
    public let records: SnapshotReader
}

/// What a program makes of a commit for one subscription; nil if it is not one of its events.
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
