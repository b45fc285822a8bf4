package import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// A mutation that Swift code carries out; its payload is filled by type, as that of a directive is.
struct SwiftMutation: MutationHandler {
    let body: MutationBody
    let payload: PayloadSource
    let writes: HandlerWriteCheck

    func run(
        arguments: JSONObject, draft: inout Draft, context: MutationContext
    ) throws(ExecutionError) -> MutationOutcome {
        let named = try payload.parent?.naming(in: arguments, draft.snapshot) ?? arguments
        let proxy = DraftProxy(
            draft, connections: LinkListConnections(), makeID: { context.makeID($0) })
        defer { proxy.end() }
        let result: DataID?
        do {
            var records: any RecordSourceProxy = proxy
            result = try body(&records, VariableData(named), context)
        } catch {
            throw ExecutionError(thrown: error)
        }
        if let failure = proxy.failure { throw ExecutionError(thrown: failure) }
        try writes.check(proxy.draft)
        draft = proxy.draft
        return MutationOutcome(
            result: result,
            payload: payload.payload(arguments.mutationInput, result: result, in: draft.snapshot))
    }

    func payload(
        for intent: MutationIntent, response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        payload.payload(
            (intent.arguments.object ?? [:]).mutationInput, result: response.result, in: snapshot)
    }
}

/// A mutation that is looked at by Swift code before it is carried out.
struct CheckedMutation: MutationHandler {
    let checks: [MutationCheck]
    let mutation: any MutationHandler

    func run(
        arguments: JSONObject, draft: inout Draft, context: MutationContext
    ) throws(ExecutionError) -> MutationOutcome {
        try checks.run(arguments, context, on: draft.snapshot)
        return try mutation.run(arguments: arguments, draft: &draft, context: context)
    }

    func payload(
        for intent: MutationIntent, response: MutationResponse, in snapshot: Snapshot
    ) -> MutationPayload {
        mutation.payload(for: intent, response: response, in: snapshot)
    }
}

/// A mutation that waits before it can be carried out.
package struct WaitingMutation: Sendable {
    package let checks: [MutationCheck]
    package let prepare: WaitingBody
    package let payload: PayloadSource
    /// What is done with the body that `prepare` gives.
    package let finish: @Sendable (_ body: @escaping MutationBody) -> any MutationHandler
}

extension [MutationCheck] {
    package func run(
        _ arguments: JSONObject, _ context: MutationContext, on snapshot: Snapshot
    ) throws(ExecutionError) {
        for check in self {
            do {
                try check(VariableData(arguments), context, SnapshotReader(snapshot: snapshot))
            } catch {
                throw ExecutionError(thrown: error)
            }
        }
    }
}

extension RecordFinder {
    /// The arguments with the record's id in place of the unique value that may have named it.
    /// - Throws: `NOT_FOUND` when there is no such record.
    fileprivate func naming(
        in arguments: JSONObject, _ snapshot: Snapshot
    ) throws(ExecutionError) -> JSONObject {
        var fields = arguments.mutationInput
        guard let record = try record(in: fields, snapshot) else { return arguments }
        fields[input] = .string(snapshot.dataID(record).rawValue)
        guard arguments["input"]?.object != nil else { return fields }
        var arguments = arguments
        arguments["input"] = .object(fields)
        return arguments
    }
}

extension JSONObject {
    /// The fields of the argument `input`, or, where a mutation has none, all arguments.
    package var mutationInput: JSONObject { self["input"]?.object ?? self }
}
