package import GraphQLExecution
import RelayArtifacts
package import RelayJSON
@_spi(Rooms) package import RelayRecords

/// What a root field of the mutation type does on one store: what its directive says, or the Swift code
/// registered in its place.
package enum ServedMutation: Sendable {
    case atOnce(AtOnceMutation)
    case waiting(WaitingMutation)

    var payload: PayloadSource {
        switch self {
        case .atOnce(let mutation): mutation.payload
        case .waiting(let mutation): mutation.payload
        }
    }
}

/// A mutation carried out in one turn of the writer. A class, because it is looked up for each mutation.
package final class AtOnceMutation: Sendable {
    enum Body: Sendable {
        case directive(any DirectiveMutation)
        case swift(MutationBody, HandlerWriteCheck)
    }

    private let checks: [MutationCheck]
    private let body: Body
    let payload: PayloadSource

    init(checks: [MutationCheck], body: Body, payload: PayloadSource) {
        self.checks = checks
        self.body = body
        self.payload = payload
    }

    /// Whether it is implemented by a program's Swift code rather than a directive.
    package var isByProgram: Bool {
        if case .swift = body { true } else { false }
    }

    /// Runs on the newest state, under the store's writer.
    ///
    /// Deterministic apart from the context: it uses no clock and no randomness of its own.
    /// - Parameters:
    ///   - arguments: the coerced arguments of the root field.
    ///   - access: on the draft's state.
    ///   - draft: what is written here is committed or, after a throw, discarded.
    package func run(
        arguments: JSONObject, draft: inout Draft, context: MutationContext,
        access: MutationAccess
    ) throws(ExecutionError) -> MutationOutcome {
        try checks.run(arguments, context, on: draft.snapshot)
        let input = arguments.mutationInput
        let result: DataID?
        switch body {
        case .directive(let mutation):
            // Some rules look at what was written. A refused mutation leaves its draft untouched.
            var written = draft
            result = try mutation.write(input, to: &written, context, access)
            draft = written
        case .swift(let body, let writes):
            let named =
                try payload.parent?.naming(in: arguments, draft.snapshot, access) ?? arguments
            result = try draft.run(body, VariableData(named), context, checkedBy: writes)
            try access.check(draft)
        }
        return MutationOutcome(
            result: result, payload: payload.payload(input, result: result, in: draft.snapshot))
    }
}

/// A mutation that waits before it can be carried out.
package struct WaitingMutation: Sendable {
    package let checks: [MutationCheck]
    package let prepare: WaitingBody
    package let payload: PayloadSource
    let writes: HandlerWriteCheck

    /// The mutation to carry out once `prepare` has returned a body. Its checks have already run.
    package func finish(_ body: @escaping MutationBody) -> AtOnceMutation {
        AtOnceMutation(checks: [], body: .swift(body, writes), payload: payload)
    }
}

/// The outcome of a mutation.
package struct MutationOutcome: Sendable, Hashable {
    /// The record that was created, changed or deleted; recorded in the log.
    package let result: DataID?
    package let payload: MutationPayload
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

extension Draft {
    /// Runs Swift code. If it throws, or wrote something that the schema does not allow, nothing is written.
    fileprivate mutating func run(
        _ body: MutationBody, _ arguments: VariableData, _ context: MutationContext,
        checkedBy writes: HandlerWriteCheck
    ) throws(ExecutionError) -> DataID? {
        let proxy = DraftProxy(
            self, connections: LinkListConnections(schema: writes.types.schema),
            makeID: { context.makeID($0) })
        defer { proxy.end() }
        let result: DataID?
        do {
            var records: any RecordSourceProxy = proxy
            result = try body(&records, arguments, context)
        } catch {
            throw ExecutionError(thrown: error)
        }
        if let failure = proxy.failure { throw ExecutionError(thrown: failure) }
        try writes.check(proxy.draft)
        self = proxy.draft
        return result
    }
}

extension RecordFinder {
    /// The arguments with the record's id in place of any unique value that named it.
    /// - Throws: `NOT_FOUND` if there is no such record.
    fileprivate func naming(
        in arguments: JSONObject, _ snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> JSONObject {
        var fields = arguments.mutationInput
        guard let record = try record(in: fields, snapshot, access) else { return arguments }
        fields[input] = .string(snapshot.dataID(record).rawValue)
        guard arguments["input"]?.object != nil else { return fields }
        var arguments = arguments
        arguments["input"] = .object(fields)
        return arguments
    }
}

extension JSONObject {
    /// The fields of the `input` argument or, if a mutation has none, all arguments.
    package var mutationInput: JSONObject { self["input"]?.object ?? self }
}
