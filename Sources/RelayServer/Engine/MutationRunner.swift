import GraphQLExecution
import GraphQLLanguage
import RelayJSON
package import RelayStore

/// A request for a mutation operation.
struct MutationRequest: Sendable {
    let operation: PreparedOperation
    let variables: JSONObject
    let mutationID: MutationID?
    let viewer: String?
    /// Called once, when everything that the mutation did is durable, or when it did nothing.
    let answer: @Sendable (Outcome) -> Void
}

/// What the engine takes from the outside world, so that tests can say what it is.
package struct EngineInputs: Sendable {
    /// Microseconds since 1970-01-01 00:00 UTC.
    package var now: @Sendable () -> Int64
    /// The id of a new record of a type.
    package var makeID: @Sendable (_ type: String) -> DataID

    package init(
        now: @escaping @Sendable () -> Int64,
        makeID: @escaping @Sendable (_ type: String) -> DataID = GlobalID.random
    ) {
        self.now = now
        self.makeID = makeID
    }
}

/// Carries out mutation operations on a snapshot; knows neither queue nor journal.
struct MutationRunner: Sendable {
    let service: SchemaService
    let storeID: String
    let epoch: UInt64
    let inputs: EngineInputs

    /// What an operation did: a commit for each root field that was not refused, and the answer.
    struct Run: Sendable {
        let timeMicroseconds: Int64
        var commits: [(commit: MutationCommit, payload: MutationPayload)] = []
        let outcome: Outcome
        /// The outcome is that of the response with this sequence, which came to the same mutation.
        var repeats: UInt64?
    }

    /// Runs an operation's root fields one after the other (GraphQL §6.2.2), each a commit of its own.
    func run(_ request: MutationRequest, on head: Snapshot) -> Run {
        let time = inputs.now()
        if let known = known(request, on: head, time) { return known }
        let variables: CoercedVariables
        do throws(ExecutionErrors) {
            variables = try request.operation.coerce(request.variables)
        } catch {
            return Run(timeMicroseconds: time, outcome: .refused(error.errors))
        }
        let plan = request.operation.plan(for: variables)
        var execution = Execution(plan, variables: variables, on: head, schema: service.executable)
        var commits: [(commit: MutationCommit, payload: MutationPayload)] = []
        execution.begin()
        for index in plan.root.fields.indices {
            let result = runField(index, request, &execution, time)
            let value: Result<ObjectValue, ExecutionError>
            switch result {
            case .success(nil): value = .success(.root)
            case .success(let done?):
                commits.append(done)
                execution.snapshot = done.commit.snapshot
                value = .success(.payload(done.payload))
            case .failure(let error): value = .failure(error)
            }
            guard execution.writeRootField(index, value) else {
                execution.discardData()
                break
            }
        }
        let response = Response(
            open: execution.finish(isOpen: true), hasErrors: !execution.errors.isEmpty,
            RelayNotes(
                cursor: StreamCursor(
                    storeID: storeID, epoch: epoch, sequence: execution.snapshot.sequence),
                mutationID: request.mutationID))
        if let last = commits.indices.last { commits[last].commit.keep(answer: response.bytes) }
        return Run(timeMicroseconds: time, commits: commits, outcome: .executed(response))
    }

    /// What a mutation that was applied before is answered; nil for a new one.
    private func known(_ request: MutationRequest, on head: Snapshot, _ time: Int64) -> Run? {
        guard let id = request.mutationID else { return nil }
        switch head.ledger.status(of: id) {
        case .new:
            return nil
        case .answered(let answer):
            return Run(
                timeMicroseconds: time,
                outcome: .executed(Response(bytes: answer.bytes, hasErrors: false)),
                repeats: answer.sequence)
        case .applied:
            let message = """
                Mutation "\(id)" was applied before, and its answer is no longer kept. Nothing \
                was done.
                """
            return Run(
                timeMicroseconds: time,
                outcome: .refused([ExecutionError(message, code: .alreadyApplied)]))
        }
    }

    /// One root field: nil for `__typename`, else its commit and what its payload is filled from.
    private func runField(
        _ index: Int, _ request: MutationRequest, _ execution: inout Execution, _ time: Int64
    ) -> Result<(commit: MutationCommit, payload: MutationPayload)?, ExecutionError> {
        let field = execution.rootField(index)
        guard let handler = service.mutations[field.name] else { return .success(nil) }
        do throws(ExecutionError) {
            let arguments = try execution.rootArguments(index)
            var draft = Draft(on: execution.snapshot)
            let context = MutationContext(
                timeMicroseconds: time, viewer: request.viewer, makeID: inputs.makeID)
            let outcome = try handler.run(arguments: arguments, draft: &draft, context: context)
            let intent = MutationIntent(
                operationName: request.operation.name, field: field.name,
                arguments: .object(arguments), mutationID: request.mutationID,
                viewer: request.viewer)
            return .success((draft.commit(intent, result: outcome.result), outcome.payload))
        } catch {
            return .failure(error)
        }
    }
}
