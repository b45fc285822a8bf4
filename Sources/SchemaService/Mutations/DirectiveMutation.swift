import GraphQLExecution
import RelayJSON
@_spi(Rooms) import RelayRecords

/// A mutation that a directive of the schema describes.
///
/// What is wrong with an input is found before anything is written, so a refused mutation leaves its
/// draft untouched.
protocol DirectiveMutation: MutationHandler {
    var payload: PayloadSource { get }

    /// Does it, and gives the id of the record that was made, changed or deleted.
    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext
    ) throws(ExecutionError) -> DataID
}

extension DirectiveMutation {
    package func run(
        arguments: JSONObject, draft: inout Draft, context: MutationContext
    ) throws(ExecutionError) -> MutationOutcome {
        let input = arguments.mutationInput
        let result = try write(input, to: &draft, context)
        return MutationOutcome(
            result: result, payload: payload.payload(input, result: result, in: draft.snapshot))
    }

    package func payload(
        for intent: MutationIntent, response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        payload.payload(
            (intent.arguments.object ?? [:]).mutationInput, result: response.result, in: snapshot)
    }
}

/// How the payload of a mutation is filled that something else carries out.
struct PayloadHolder: DirectiveMutation {
    let payload: PayloadSource

    func write(
        _ input: JSONObject, to draft: inout Draft, _ context: MutationContext
    ) throws(ExecutionError) -> DataID {
        throw ExecutionError("The mutation is carried out elsewhere.")
    }
}

extension MutationContext {
    /// The time as fields with `@now` have it: RFC 3339, UTC, milliseconds.
    public var timestampText: String {
        RFC3339.text(microseconds: timeMicroseconds).dropLast(4) + "Z"
    }

    var timestamp: FieldValue { .string(timestampText) }
}
