import GraphQLExecution
import GraphQLLanguage
import RelayJSON
@_spi(Rooms) package import RelayRecords
package import SchemaService

/// Carries out mutation operations on a snapshot; knows nothing of the queue or the journal.
package struct MutationRunner: Sendable {
    package let service: SchemaService
    let storeID: String
    let epoch: UInt64
    let inputs: EngineInputs
    private let newIDs: NewRecordIDs
    /// Limit on mutations waiting for their handlers.
    let waitingHandlers: Int
    let bounds: MutationBounds
    /// Whether storage currently refuses new writes.
    let isRefusedByStorage: @Sendable () -> Bool

    package init(
        service: SchemaService, storeID: String, epoch: UInt64, inputs: EngineInputs,
        waitingHandlers: Int = .max, bounds: MutationBounds = MutationBounds(),
        isRefusedByStorage: @escaping @Sendable () -> Bool = { false }
    ) {
        self.service = service
        self.storeID = storeID
        self.epoch = epoch
        self.inputs = inputs
        newIDs = NewRecordIDs(inputs.makeID)
        self.waitingHandlers = waitingHandlers
        self.bounds = bounds
        self.isRefusedByStorage = isRefusedByStorage
    }

    /// What an operation did.
    package struct Run: Sendable {
        let timeMicroseconds: Int64
        /// A commit for each root field that was not refused, or the start or end of a wait.
        package var publications: [Publication] = []
        package let end: End
    }

    /// How far the operation got.
    package enum End: Sendable {
        /// It finished with this outcome.
        case done(Outcome)
        /// The same mutation was carried out before. This is its first answer, from the response with this
        /// sequence.
        case repeats(Outcome, of: UInt64)
        /// The same mutation is waiting for its handler, under the intent with this sequence.
        case joins(UInt64)
        /// It reached the point where its handler waits.
        case waits(OngoingMutation)
    }

    /// Runs an operation's root fields in order (GraphQL §6.2.2), each as its own commit.
    package func run(_ request: MutationRequest, on head: Snapshot) -> Run {
        run(request, on: head, writingAtMost: bounds.writtenBytes)
            ?? Run(timeMicroseconds: inputs.now(), end: .done(.refused([bounds.writesTooMuch])))
    }

    /// Likewise; nil when it would write more than this many bytes, arguments included.
    func run(
        _ request: MutationRequest, on head: Snapshot, writingAtMost byteLimit: Int
    ) -> Run? {
        let time = inputs.now()
        let variables: CoercedVariables
        do throws(ExecutionErrors) {
            variables = try request.operation.coerce(request.variables)
        } catch {
            return Run(timeMicroseconds: time, end: .done(.refused(error.errors)))
        }
        let plan = request.operation.plan(for: variables)
        var execution = execution(plan, request, variables, on: head)
        var request = request
        guard execution.areRootArguments(within: byteLimit) else { return nil }
        if request.mutationID != nil {
            request.fingerprint = MutationFingerprint(
                &execution, for: service.keepingMentionedClaims(of: request.identity))
            if let end = known(request, on: head) {
                // Whoever may not use the mutation any more learns nothing of what it did.
                let refusal = service.refusal(of: plan.root.fields, to: request.identity, on: head)
                if let refusal {
                    return Run(timeMicroseconds: time, end: .done(.refused([refusal])))
                }
                return Run(timeMicroseconds: time, end: end)
            }
        }
        if isRefusedByStorage() {
            return Run(timeMicroseconds: time, end: .done(.refused([.storageFull])))
        }
        if let waiting = plan.root.fields.firstIndex(where: { service.waiting[$0.name] != nil }) {
            return begin(waiting, plan, request, variables, head, time)
        }
        var commits: [(commit: MutationCommit, payload: MutationPayload)] = []
        var byteCount = 0
        var made: [NewRecordIDs.Made] = []
        /// Nothing of the operation remains.
        func takeBack() { for ids in made { ids.giveBack(on: head) } }
        execution.beginRootFields()
        for index in plan.root.fields.indices {
            let value: Result<ObjectValue, ExecutionError>
            let ids = NewRecordIDs.Made(from: newIDs)
            switch runField(index, request, &execution, time, ids) {
            case .success(nil): value = .success(.root)
            case .success(let done?):
                commits.append(done)
                made.append(ids)
                byteCount += done.commit.byteCount
                guard byteCount <= byteLimit else {
                    takeBack()
                    return nil
                }
                execution.move(to: done.commit.snapshot)
                value = .success(.payload(done.payload))
            case .failure(let error): value = .failure(error)
            }
            guard execution.writeRootField(index, value), !execution.isTooLarge else {
                execution.discardData()
                break
            }
        }
        let response = finish(&execution, request)
        if let excess = execution.answerExcess {
            takeBack()
            return Run(timeMicroseconds: time, end: .done(.refused([excess])))
        }
        if let last = commits.indices.last { commits[last].commit.keep(response) }
        return Run(
            timeMicroseconds: time, publications: commits.map { .commit(Commit($0, $1)) },
            end: .done(.executed(response)))
    }

    /// The answer for a mutation that was seen before; nil for a new one.
    private func known(_ request: MutationRequest, on head: Snapshot) -> End? {
        guard let id = request.mutationID else { return nil }
        // Versions before fingerprints compared nothing.
        func isSame(_ first: MutationFingerprint?) -> Bool {
            first.map { request.fingerprint?.asksTheSame(as: $0) ?? false } ?? true
        }
        func hasSameClaims(_ first: MutationFingerprint?) -> Bool {
            first.map { request.fingerprint?.hasSameClaims(as: $0) ?? false } ?? true
        }
        let pending = head.pending.first { $0.intent.isNamed(id, by: request.identity.logged) }
        if let pending {
            guard isSame(pending.intent.fingerprint) else { return Self.reused(id) }
            guard hasSameClaims(pending.intent.fingerprint) else {
                return Self.refusal(
                    .overloaded,
                    """
                    Mutation "\(id)" is being carried out for the same viewer with other claims. \
                    Nothing was done; try again later.
                    """)
            }
            return .joins(pending.sequence)
        }
        switch head.ledger.status(of: id, by: request.identity.logged) {
        case .new:
            return nil
        case .answered(let answer):
            guard isSame(answer.fingerprint) else { return Self.reused(id) }
            guard hasSameClaims(answer.fingerprint) else {
                return refusal(
                    ofApplied: head,
                    """
                    Mutation "\(id)" was applied before, for the same viewer with other claims, so \
                    its answer is not repeated. Nothing was done.
                    """)
            }
            return .repeats(
                .executed(Response(bytes: answer.bytes, hasErrors: false)), of: answer.sequence)
        case .applied:
            return refusal(
                ofApplied: head,
                """
                Mutation "\(id)" was applied before, and its answer is no longer kept. Nothing was \
                done.
                """)
        case .unknown:
            return Self.refusal(
                .mutationIDTooOld,
                """
                The mutation id "\(id)" is so old that it is no longer known whether it was \
                applied. Nothing was done.
                """)
        }
    }

    /// - Parameter head: a state that has what the mutation did.
    private func refusal(ofApplied head: Snapshot, _ message: String) -> End {
        var error = ExecutionError(message, code: .alreadyApplied)
        error.cursor = StreamCursor(storeID: storeID, epoch: epoch, sequence: head.sequence).text
        return .done(.refused([error]))
    }

    private static func reused(_ id: MutationID) -> End {
        refusal(
            .mutationIDReused,
            """
            The mutation id "\(id)" was used before for a mutation with other fields or arguments. \
            Nothing was done; a new mutation needs a new id.
            """)
    }

    private static func refusal(_ code: ErrorCode, _ message: String) -> End {
        .done(.refused([ExecutionError(message, code: code)]))
    }

    /// Runs one root field: nil for `__typename`, otherwise its commit and the source of its payload.
    private func runField(
        _ index: Int, _ request: MutationRequest, _ execution: inout Execution, _ time: Int64,
        _ ids: NewRecordIDs.Made
    ) -> Result<(commit: MutationCommit, payload: MutationPayload)?, ExecutionError> {
        let field = execution.rootField(index)
        guard case .atOnce(let mutation)? = service.mutations[field.name] else {
            return .success(nil)
        }
        do throws(ExecutionError) {
            let access = try service.access(
                of: request.identity, to: field, on: execution.snapshot)
            let arguments = try execution.rootArguments(index)
            var draft = Draft(on: execution.snapshot)
            let outcome = try mutation.run(
                arguments: arguments, draft: &draft,
                context: context(request, time, makeID: ids.next), access: access)
            let intent = intent(request, field.name, outcome.arguments)
            var commit = draft.commit(intent, result: outcome.result)
            commit.response.isByProgram = mutation.isByProgram
            return .success((commit, outcome.payload))
        } catch {
            ids.giveBack(on: execution.snapshot)
            return .failure(error)
        }
    }

    // MARK: Mutations that wait

    /// Records the intent, so that it is in the log before the handler starts.
    private func begin(
        _ index: Int, _ plan: Plan, _ request: MutationRequest, _ variables: CoercedVariables,
        _ head: Snapshot, _ time: Int64
    ) -> Run {
        var execution = execution(plan, request, variables, on: head)
        let field = execution.rootField(index)
        let others = plan.root.fields.filter { service.mutations[$0.name] != nil }
        do throws(ExecutionError) {
            guard others.count == 1, let mutation = service.waiting[field.name] else {
                throw ExecutionError(
                    """
                    Mutation "\(field.name)" waits for its handler, so it must be the only one of \
                    its operation. Nothing was changed.
                    """, code: .badUserInput)
            }
            let access = try service.access(of: request.identity, to: field, on: head)
            let context = context(request, time, makeID: inputs.makeID)
            // What the handler does outside is not undone, so what it is about must be there before it starts.
            let arguments = try mutation.arguments(
                naming: try execution.rootArguments(index), on: head, access)
            guard head.pending.count < waitingHandlers else {
                throw ExecutionError(
                    """
                    \(waitingHandlers) mutations are already waiting for their handlers. Nothing \
                    was changed; try again later.
                    """, code: .overloaded)
            }
            try mutation.checks.run(arguments, context, on: head)
            var intent = intent(request, field.name, arguments)
            intent.optimistic = request.optimisticWrites(
                for: field, arguments, mutation.payload, on: head, access)
            var snapshot = head
            let pending = snapshot.begin(intent)
            return Run(
                timeMicroseconds: time, publications: [.began(pending, snapshot)],
                end: .waits(
                    OngoingMutation(
                        request: request, variables: variables, plan: plan, field: index,
                        arguments: arguments, context: context, mutation: mutation, pending: pending
                    )))
        } catch {
            let told = answer(plan, index, .failure(error), request, variables, on: head)
            return Run(timeMicroseconds: time, end: .done(.executed(told.response)))
        }
    }

    /// Ends a mutation that was waiting, on the newest state: runs its body and turns the writes into the
    /// response, or revokes the intent.
    func end(
        _ ongoing: OngoingMutation, with prepared: Result<MutationBody, ExecutionError>,
        on head: Snapshot
    ) -> Run {
        let time = inputs.now()
        let ids = NewRecordIDs.Made(from: newIDs)
        do throws(ExecutionError) {
            let mutation = ongoing.mutation.finish(try prepared.get())
            var draft = Draft(on: head)
            let context = context(ongoing.request, time, makeID: ids.next)
            // What its client may do can have changed while it waited.
            let access = try service.access(
                of: ongoing.request.identity, to: ongoing.plan.root.fields[ongoing.field], on: head)
            let outcome = try mutation.run(
                arguments: ongoing.arguments, draft: &draft, context: context, access: access)
            var commit = draft.commit(ending: ongoing.pending, result: outcome.result)
            commit.response.isByProgram = mutation.isByProgram
            guard commit.byteCount <= bounds.writtenBytes else { throw bounds.writesTooMuch }
            let told = answer(ongoing, .success(.payload(outcome.payload)), on: commit.snapshot)
            if let excess = told.excess { throw excess }
            commit.keep(told.response)
            return Run(
                timeMicroseconds: time,
                publications: [.commit(Commit(commit, outcome.payload, hasWaited: true))],
                end: .done(.executed(told.response)))
        } catch {
            ids.giveBack(on: head)
            var snapshot = head
            snapshot.revoke(ongoing.pending.sequence)
            return Run(
                timeMicroseconds: time,
                publications: [
                    .revoked(
                        Revocation(mutation: ongoing.pending.sequence, reason: error.message),
                        snapshot)
                ],
                end: .done(.executed(answer(ongoing, .failure(error), on: snapshot).response)))
        }
    }

    private func answer(
        _ ongoing: OngoingMutation, _ result: Result<ObjectValue, ExecutionError>,
        on snapshot: Snapshot
    ) -> (response: Response, excess: ExecutionError?) {
        answer(
            ongoing.plan, ongoing.field, result, ongoing.request, ongoing.variables, on: snapshot)
    }

    /// The answer to an operation whose only mutation ended with this result.
    private func answer(
        _ plan: Plan, _ index: Int, _ result: Result<ObjectValue, ExecutionError>,
        _ request: MutationRequest, _ variables: CoercedVariables, on snapshot: Snapshot
    ) -> (response: Response, excess: ExecutionError?) {
        var execution = execution(plan, request, variables, on: snapshot)
        execution.beginRootFields()
        for place in plan.root.fields.indices {
            guard execution.writeRootField(place, place == index ? result : .success(.root))
            else {
                execution.discardData()
                break
            }
        }
        return (finish(&execution, request), execution.answerExcess)
    }

    // MARK: Parts

    private func execution(
        _ plan: Plan, _ request: MutationRequest, _ variables: CoercedVariables,
        on snapshot: Snapshot
    ) -> Execution {
        Execution(
            plan, variables: variables, on: snapshot, schema: service.executable,
            identity: request.identity)
    }

    private func context(
        _ request: MutationRequest, _ time: Int64,
        makeID: @escaping @Sendable (_ type: String) -> DataID
    ) -> MutationContext {
        MutationContext(
            timeMicroseconds: time, identity: request.identity,
            mutationID: request.mutationID?.description, makeID: makeID)
    }

    private func intent(
        _ request: MutationRequest, _ field: String, _ arguments: JSONObject
    ) -> MutationIntent {
        MutationIntent(
            operationName: request.operation.name, field: field, arguments: .object(arguments),
            mutationID: request.mutationID, viewer: request.identity.logged,
            fingerprint: request.fingerprint)
    }

    private func finish(_ execution: inout Execution, _ request: MutationRequest) -> Response {
        Response(
            open: execution.finish(isOpen: true), hasErrors: !execution.errors.isEmpty,
            RelayNotes(
                cursor: StreamCursor(
                    storeID: storeID, epoch: epoch, sequence: execution.snapshot.sequence),
                mutationID: request.mutationID))
    }
}
