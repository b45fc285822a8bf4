import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// A mutation that a directive of the schema describes.
///
/// What is wrong with an input is found before anything is written, so a refused mutation leaves its
/// draft untouched.
protocol DirectiveMutation: Sendable {
    var payload: PayloadSource { get }

    /// Does it, and gives the id of the record that was made, changed or deleted.
    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext
    ) throws(ExecutionError) -> DataID
}
