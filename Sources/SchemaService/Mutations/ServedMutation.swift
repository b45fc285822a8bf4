package import GraphQLExecution
import GraphQLLanguage
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

    var inputs: InputRecords {
        switch self {
        case .atOnce(let mutation): mutation.inputs
        case .waiting(let mutation): mutation.inputs
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
    let inputs: InputRecords
    let payload: PayloadSource

    init(
        checks: [MutationCheck], body: Body, inputs: InputRecords, payload: PayloadSource
    ) {
        self.checks = checks
        self.inputs = inputs
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
        let named = try inputs.arguments(naming: arguments, draft.snapshot, access)
        try checks.run(named, context, on: draft.snapshot)
        let input = named.mutationInput
        let result: DataID?
        switch body {
        case .directive(let mutation):
            // Some rules look at what was written. A refused mutation leaves its draft untouched.
            var written = draft
            result = try mutation.write(input, to: &written, context, access)
            draft = written
        case .swift(let body, let writes):
            var written = draft
            result = try written.run(body, VariableData(named), context, writes.types.schema)
            // In an order in which nothing tells of what is hidden.
            try access.checkVisibility(ofWhatIsWrittenIn: written)
            try writes.check(written, access)
            try access.check(written)
            try writes.checkUniqueness(written)
            draft = written
        }
        return MutationOutcome(
            arguments: named, result: result,
            payload: payload.payload(input, result: result, in: draft.snapshot))
    }
}

/// A mutation that waits before it can be carried out.
package struct WaitingMutation: Sendable {
    package let checks: [MutationCheck]
    package let prepare: WaitingBody
    package let payload: PayloadSource
    let inputs: InputRecords
    let writes: HandlerWriteCheck

    /// The arguments for everything that follows: with ids in place of unique values.
    /// - Throws: `NOT_FOUND` if the input names a record that does not exist for whoever sends it. What `prepare` does
    ///   outside is not undone.
    package func arguments(
        naming arguments: JSONObject, on snapshot: Snapshot, _ access: MutationAccess
    ) throws(ExecutionError) -> JSONObject {
        try inputs.arguments(naming: arguments, snapshot, access)
    }

    /// The mutation to carry out once `prepare` has returned a body. Its checks have already run.
    package func finish(_ body: @escaping MutationBody) -> AtOnceMutation {
        AtOnceMutation(checks: [], body: .swift(body, writes), inputs: inputs, payload: payload)
    }
}

/// The outcome of a mutation.
package struct MutationOutcome: Sendable, Hashable {
    /// With ids in place of unique values; recorded in the log, so that they name the same records for ever.
    package let arguments: JSONObject
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
    /// Runs Swift code. If it throws, nothing is written.
    fileprivate mutating func run(
        _ body: MutationBody, _ arguments: VariableData, _ context: MutationContext,
        _ schema: Schema
    ) throws(ExecutionError) -> DataID? {
        let proxy = DraftProxy(
            self, connections: LinkListConnections(schema: schema),
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
        self = proxy.draft
        return result
    }
}

extension JSONObject {
    /// The fields of the `input` argument or, if a mutation has none, all arguments.
    package var mutationInput: JSONObject { self["input"]?.object ?? self }
}
