import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// A mutation described by a directive of the schema.
///
/// Mistakes in the input are found before anything is written, so a refused mutation leaves its draft
/// untouched.
protocol DirectiveMutation: Sendable {
    var payload: PayloadSource { get }

    /// Carries out the mutation and returns the id of the record that was created, changed or deleted.
    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext,
        _ access: MutationAccess
    ) throws(ExecutionError) -> DataID
}
