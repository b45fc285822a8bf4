package import GraphQLExecution
import GraphQLLanguage
package import Logging
import RelayJSON
@_spi(Rooms) package import RelayRecords
package import SchemaService

/// A schema served from a journal: queries, mutations and subscriptions, whatever the transport.
///
/// Queries run on the durable head, on the concurrent pool. Mutations go through the single writer,
/// subscriptions through the publisher.
package final class GraphQLService: Sendable {
    let schemaService: SchemaService
    private let operations: OperationCache
    let durable: DurableHead
    let writer: MutationWriter
    let inProgress: MutationsInProgress
    let publisher: Publisher
    private let catchUp: CatchUp
    private let sequences: SequenceSubscriptions
    let recent: RecentCommits
    private let past: PastQueries
    let identity: StoreIdentity
    let mutationRefusal: String?
    private let journal: any EventJournal
    let tasks: EngineTasks
    private let deliver: @Sendable ([Delivery]) -> Void
    let catchUpTime: Duration
    let leadership: Leadership
    let onDurable: @Sendable (Snapshot) -> Void
    package let counters = ServiceCounters()
    /// Whether mutations can be made durable.
    package let health: StorageHealth

    /// - Parameters:
    ///   - journal: holds everything up to `snapshot`, and nothing after it.
    ///   - storeID: names the store in cursors.
    ///   - tail: the newest commits that led to the snapshot, for subscriptions that were away.
    ///   - persisted: documents that requests may refer to instead of sending them.
    ///   - mutationRefusal: why all mutations are refused, if they are.
    ///   - forwarder: takes mutations while another server appends to the journal; nil if this one does.
    ///   - onDurable: called with every durable state, in order, on the journal's thread.
    ///   - deliver: takes the deliveries for subscriptions; those for one subscription are in order.
    ///   - settle: returns once the sinks have taken everything handed to `deliver`.
    package init(
        _ schemaService: SchemaService, journal: any EventJournal, storeID: String,
        snapshot: Snapshot, tail: HistoryTail? = nil, inputs: EngineInputs,
        limits: Limits = .init(),
        persisted: PersistedOperations = .init(), mutationRefusal: String? = nil,
        forwarder: MutationForwarder? = nil,
        logger: Logger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() },
        onDurable: @escaping @Sendable (Snapshot) -> Void = { _ in },
        deliver: @escaping @Sendable ([Delivery]) -> Void,
        settle: @escaping @Sendable () async -> Void = {}
    ) {
        self.schemaService = schemaService
        let tryRoom: @Sendable () async -> Bool = { await journal.hasRoom() }
        health = StorageHealth(
            logger: logger, tasks: inputs.tasks,
            hasRoom: journal.isTriedByAppends ? nil : tryRoom)
        self.journal = journal
        tasks = inputs.tasks
        catchUpTime = limits.catchUpTime
        leadership = Leadership(following: forwarder)
        self.onDurable = onDurable
        self.mutationRefusal = mutationRefusal
        identity = StoreIdentity(
            storeID: storeID, epoch: journal.epoch, earliest: journal.earliestState)
        operations = OperationCache(
            schema: schemaService.executable, limits: limits.document, persisted: persisted)
        durable = DurableHead(snapshot)
        recent = RecentCommits(
            after: tail.flatMap { $0.commits.kept.isEmpty ? nil : $0.commits.base } ?? snapshot,
            schemaChanges: tail?.schemaChanges ?? [], commitLimit: limits.recentCommits)
        for commit in tail?.commits.kept ?? [] { recent.append(commit) }
        // The document was measured when it was sent, and the operator's own may be longer.
        var documents = limits.document
        documents.bytes = .max
        past = PastQueries(
            journal, identity,
            limits: .init(events: limits.pastEvents, documents: documents),
            computedFields: schemaService.computedFields,
            present: { [durable] in
                PresentState(snapshot: durable.snapshot, service: schemaService)
            }, tasks: inputs.tasks, logger: logger)
        let counted: @Sendable ([Delivery]) -> Void = { [counters] deliveries in
            counters.count(\.deliveries, deliveries.count)
            deliver(deliveries)
        }
        catchUp = CatchUp(
            schemaService, journal, identity, operations, durable: durable, recent: recent,
            documents: documents, limits: limits, tasks: inputs.tasks,
            counters: counters, logger: logger)
        let publisher = Publisher(
            SubscriptionTable(
                schemaService, identity, snapshot: snapshot, recent: recent,
                memoryLimit: limits.subscriptionBytes),
            limits: limits, tasks: inputs.tasks, deliver: counted, settle: settle,
            catchUp: { [catchUp] in catchUp.post($0, behind: $1) })
        catchUp.connect(
            .init(
                deliver: counted, settle: settle,
                goOn: { [weak publisher, operations] request in
                    await publisher?.roomToGoOn()
                    guard request.sink.isWanted else { return }
                    do throws(ExecutionErrors) {
                        publisher?.goOn(try operations.prepare(request))
                    } catch {
                        counted([Delivery(sink: request.sink, event: .failed(error.errors))])
                    }
                }))
        self.publisher = publisher
        self.deliver = counted
        sequences = SequenceSubscriptions(
            schemaService, identity, durable: durable, limits: limits, tasks: inputs.tasks,
            deliver: counted)
        inProgress = MutationsInProgress(
            countLimit: limits.waitingMutations, byteLimit: limits.waitingMutationBytes)
        writer = MutationWriter(
            MutationRunner(
                service: schemaService, storeID: storeID, epoch: journal.epoch, inputs: inputs,
                waitingHandlers: limits.waitingHandlers,
                bounds: MutationBounds(writtenBytes: limits.mutationBytes),
                isRefusedByStorage: { [health] in health.refusesMutation() }),
            journal: journal, durable: durable, inProgress: inProgress, limits: limits,
            isAside: forwarder != nil,
            hasRoom: { [health] in publisher.hasRoom && health.admitsTurn() },
            publish: { [counters, health] steps in
                health.noteAppended()
                counters.count(steps)
                if let last = steps.last { onDurable(last.publication.snapshot) }
                publisher.post(steps)
            },
            onFailure: { [health] in health.note($0, refusals: $1) })
        health.whenTried { [weak writer] in writer?.goOn() }
        publisher.whenRoom { [weak writer] in writer?.goOn() }
    }

    /// Publishes commits that became durable without going through this service, in log order: queries and
    /// subscriptions see their effects. Only for a service that refuses mutations.
    /// - Parameter head: the state after the last commit. It may include later events that change no record.
    package func publish(_ commits: [Commit], head: Snapshot) {
        durable.advance(to: head) {
            if commits.isEmpty { return }
            counters.count(\.publications)
            publisher.post(commits.map { Step(publication: .commit($0)) })
        }
    }

    /// Commits and subscription changes that the publisher has not processed yet.
    package var unpublishedCount: Int { publisher.waitingCount }

    /// Commits not yet published to subscriptions.
    package var unpublishedCommits: Int { publisher.waitingStepCount }

    /// The state before the oldest recent commit. Starting from it, the next run has those commits in memory
    /// again.
    package var snapshotForNextStart: Snapshot { recent.base }

    /// The state after an event, if it is in memory.
    package func recentSnapshot(at sequence: UInt64) -> Snapshot? { recent.snapshot(at: sequence) }

    /// The current durable state.
    package var snapshot: Snapshot { durable.snapshot }

    /// The claims that the schema's rules look at.
    package var mentionedClaims: Set<String> { schemaService.mentionedClaims }

    /// What was hidden and refused by the schema's rules.
    package var accessCounts: AccessRules.Counts { schemaService.access.countsNow }

    package var subscriptionCounts: (subscriptions: Int, groups: Int) {
        let figures = publisher.figures
        return (figures.subscriptions, figures.groups)
    }

    /// Approximate memory kept by subscriptions and live queries.
    package var subscriptionByteCount: Int { publisher.figures.byteCount }

    /// Executions of subscriptions: those run, and those saved because several subscriptions ask the same.
    package var subscriptionExecutions: (run: Int, saved: Int) { publisher.figures.executions }

    /// The groups of equal subscriptions that have taken longest, those first. Blocks while live queries are being executed.
    package func subscriptionGroups(limit: Int) -> [GroupFigures] {
        publisher.groupFigures(limit: limit)
    }

    /// Durable events not yet published to subscriptions.
    package var deliveryLag: UInt64 {
        let told = publisher.deliveredThrough
        let durable = snapshot.sequence
        return durable > told ? durable - told : 0
    }

    /// Total time spent carrying out mutations and folding their writes.
    package var foldTime: Duration { writer.foldTime }

    /// A cursor: everything up to it that concerns subscriptions has been handed to `deliver`.
    package var deliveredCursor: String { identity.cursor(publisher.deliveredThrough).text }

    /// Bytes of missed results that wait for clients without room.
    package var heldResultBytes: Int { catchUp.heldResultBytes }

    /// Passes of resumed subscriptions that wait until fewer subscriptions wait to begin.
    package var passesWithoutRoom: Int { publisher.waitingToGoOn }

    /// Mutations waiting for the writer.
    package var waitingMutations: Int { writer.waitingCount }

    /// The request's operation, if its document was seen before and the request is within the limits.
    package func findPrepared(_ request: GraphQLRequest) -> PreparedOperation? {
        if request.isForwarded { return operations.find(accepted: request) }
        return operations.find(request, storedRecords: knownRecords(to: request.identity))
    }

    /// How many records there are, as far as whoever asks may know: the limit on estimates tells nothing of the others.
    private func knownRecords(to identity: Identity) -> Int {
        schemaService.access.restrict(identity) ? 0 : durable.snapshot.recordCount
    }

    /// Mutations in progress are being finished, and no new ones are accepted.
    package var isStopping: Bool { inProgress.isClosed }

    /// Stops accepting mutations; returns once those already accepted are answered, or when the time is up.
    package func finishMutations(within time: Duration) async {
        inProgress.close()
        let deadline = ContinuousClock.now + time
        while !inProgress.isEmpty, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Why no mutations should be sent here; nil when they are welcome. If the disk was full, tries it again
    /// first.
    package func unreadiness() async -> String? {
        if isStopping { return "The server is stopping." }
        if health.isFrozen { return "The log has stopped: a write or a sync has failed." }
        await health.tryRoom()
        // What another machine's disk says, the cluster's node knows.
        guard health.reason != nil, !journal.isTriedByAppends else { return nil }
        return "The disk is full: mutations are refused until there is room."
    }

    /// Finds and prepares a request's operation: cheap when its document was seen before.
    /// - Throws: what is wrong with the document, or `LIMIT_EXCEEDED`; nothing has been executed.
    package func prepare(_ request: GraphQLRequest) throws(ExecutionErrors) -> PreparedOperation {
        do throws(ExecutionErrors) {
            if request.isForwarded { return try operations.operation(ofAccepted: request) }
            return try operations.operation(
                for: request, storedRecords: knownRecords(to: request.identity))
        } catch {
            counters.count(\.refusals)
            throw error
        }
    }

    /// The persisted documents that cannot be executed, by id, with the reason.
    package func persistedMistakes() -> [(id: String, error: ExecutionError)] {
        operations.persistedMistakes()
    }

    /// Reads what a request asks for beyond GraphQL.
    /// - Throws: if a member has the wrong type, or does not fit the operation.
    private func extensions(
        of request: GraphQLRequest, _ operation: PreparedOperation
    ) throws(ExecutionErrors) -> RelayExtensions {
        do throws(ExecutionError) {
            let relay = try RelayExtensions(request)
            try relay.check(operation)
            return relay
        } catch {
            counters.count(\.refusals)
            throw ExecutionErrors(errors: [error])
        }
    }

    /// Does the work that grows with the size of the request, so that handing it over is quick.
    /// - Throws: what is wrong with its extensions, or with a stream's variables.
    package func ready(
        _ operation: PreparedOperation, _ request: GraphQLRequest
    ) throws(ExecutionErrors) -> ReadyRequest {
        let relay = try extensions(of: request, operation)
        var ready = ReadyRequest(operation: operation, request: request, relay: relay)
        if operation.isStream, relay.explain == nil {
            ready.variables = try operation.coerce(request.variables)
            ready.byteCount =
                request.approximateByteCount + ready.variables.subscriptionByteCount
            if relay.needsRecords {
                let isSequence = sequences.source(of: operation, ready.variables) != nil
                ready.normalization = try operations.normalization(
                    for: withText(request, of: operation), isNeeded: !isSequence)
            }
        }
        if operation.kind == .mutation { ready.byteCount = request.approximateByteCount }
        return ready
    }

    /// Runs a query or a mutation.
    /// - Parameter answer: called once, on any thread; for a mutation, after it is durable.
    package func execute(
        _ operation: PreparedOperation, _ request: GraphQLRequest,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        do throws(ExecutionErrors) {
            execute(try ready(operation, request), answer: answer)
        } catch {
            answer(.refused(error.errors))
        }
    }

    package func execute(_ ready: ReadyRequest, answer: @escaping @Sendable (Outcome) -> Void) {
        wait(for: ready.relay.atLeast) { [self] error in
            if let error { answer(.refused([error])) } else { executeNow(ready, answer) }
        }
    }

    private func executeNow(
        _ ready: ReadyRequest, _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        let (operation, request) = (ready.operation, ready.request)
        do throws(ExecutionErrors) {
            switch operation.kind {
            case .query:
                counters.count(\.queries)
                if let refusal = accessRefusal(of: ready) {
                    answer(.refused([refusal]))
                } else if let sequence = ready.relay.explain {
                    explain(withText(request, of: operation), sequence, answer)
                } else if let point = ready.relay.at {
                    self.answer(operation, request, at: point, answer)
                } else {
                    let snapshot = durable.snapshot
                    answer(try query(operation, request, on: snapshot, at: snapshot.sequence))
                }
            case .mutation:
                counters.count(\.mutations)
                mutate(ready, answer: answer)
            case .subscription:
                let message = "A subscription has many results; this request can only carry one."
                answer(.refused([ExecutionError(message, code: .badUserInput)]))
            }
        } catch {
            answer(.refused(error.errors))
        }
    }

    /// Starts a subscription; its events arrive through the service's `deliver`.
    package func subscribe(
        _ operation: PreparedOperation, _ request: GraphQLRequest, sink: any SubscriptionSink
    ) throws(ExecutionErrors) {
        try subscribe(try ready(operation, request), sink: sink)
    }

    package func subscribe(
        _ ready: ReadyRequest, sink: any SubscriptionSink
    ) throws(ExecutionErrors) {
        guard let cursor = cursorToReach(ready.relay), !isReached(cursor) else {
            return try subscribeNow(ready, sink)
        }
        wait(for: cursor) { [self, deliver] error in
            guard sink.isWanted else { return }
            do throws(ExecutionErrors) {
                if let error { throw ExecutionErrors(errors: [error]) }
                try subscribeNow(ready, sink)
            } catch {
                deliver([Delivery(sink: sink, event: .failed(error.errors))])
            }
        }
    }

    private func subscribeNow(
        _ ready: ReadyRequest, _ sink: any SubscriptionSink
    ) throws(ExecutionErrors) {
        let (request, relay) = (ready.request, ready.relay)
        if let refusal = accessRefusal(of: ready) {
            counters.count(\.refusals)
            throw ExecutionErrors(errors: [refusal])
        }
        if let sequence = relay.explain {
            return explain(withText(request, of: ready.operation), sequence) { [deliver] outcome in
                deliver(outcome.deliveries(to: sink))
            }
        }
        let subscription = PreparedSubscription(
            request: SubscriptionRequest(
                request: withText(request, of: ready.operation), sink: sink,
                sendsRecords: relay.sendsRecords, showsOptimistic: relay.showsOptimistic,
                start: relay.resume.map { .resume($0) } ?? .now),
            operation: ready.operation, variables: ready.variables,
            normalization: ready.normalization, ownByteCount: ready.byteCount)
        if try !sequences.start(subscription), !publisher.subscribe(subscription) {
            counters.count(\.refusals)
            let message = "Too many subscriptions are waiting to begin; try again later."
            throw ExecutionErrors(errors: [ExecutionError(message, code: .overloaded)])
        }
        counters.count(\.subscriptions)
    }

    /// Ends a subscription. Deliveries in flight may still arrive.
    package func unsubscribe(_ sink: any SubscriptionSink) {
        if sequences.stop(sink) { return }
        catchUp.forget(sink)
        publisher.unsubscribe(sink)
    }

    /// Why a stream may not begin; nil if it may.
    private func accessRefusal(of ready: ReadyRequest) -> ExecutionError? {
        let (operation, identity) = (ready.operation, ready.request.identity)
        let access = Access(identity, schemaService.access, on: durable.snapshot)
        guard let access else { return nil }
        if ready.relay.explain != nil { return access.explanationRefusal }
        guard operation.kind == .subscription,
            let field = operation.plan(for: ready.variables).root.fields.first,
            !access.mayUse(field.name, of: .subscription)
        else { return nil }
        return access.refusal(of: field).at(field)
    }

    /// - Parameter present: for a state of the past.
    private func query(
        _ operation: PreparedOperation, _ request: GraphQLRequest, on snapshot: Snapshot,
        at sequence: UInt64, present: Snapshot? = nil
    ) throws(ExecutionErrors) -> Outcome {
        let variables = try operation.coerce(request.variables)
        var execution = Execution(
            operation.plan(for: variables), variables: variables, on: snapshot,
            schema: schemaService.executable, identity: request.identity, present: present)
        return .executed(
            Response(execution.result(), RelayNotes(cursor: identity.cursor(sequence))))
    }

    /// Answers a query of the past: immediately if it names a state that is in memory.
    private func answer(
        _ operation: PreparedOperation, _ request: GraphQLRequest, at point: RelayExtensions.Point,
        _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        past.answer(
            withText(request, of: operation), at: point, through: durable.snapshot.sequence,
            fromMemory: { [self] sequence in
                answerFromMemory(operation, request, at: sequence)
            }, answer: answer)
    }

    /// Runs a query on a state in memory; nil when there is none, or its schema is a different one.
    private func answerFromMemory(
        _ operation: PreparedOperation, _ request: GraphQLRequest, at sequence: UInt64
    ) -> Outcome? {
        guard let snapshot = recent.snapshot(at: sequence),
            snapshot.schema == schemaService.schemaText
        else { return nil }
        do throws(ExecutionErrors) {
            return try query(
                operation, request, on: snapshot, at: sequence, present: durable.snapshot)
        } catch {
            return .refused(error.errors)
        }
    }

    /// The request with the text of its document, so that it no longer depends on the name it gave.
    func withText(
        _ request: GraphQLRequest, of operation: PreparedOperation
    ) -> GraphQLRequest {
        var request = request
        // A registered text may be forgotten by now.
        request.query =
            operations.text(of: request)
            ?? String(decoding: operation.document.source.bytes, as: UTF8.self)
        request.documentID = nil
        return request
    }

    /// Explains why a subscriber with this document was, or was not, notified of an event.
    private func explain(
        _ request: GraphQLRequest, _ sequence: UInt64,
        _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        counters.count(\.queries)
        past.explain(
            request, sequence, through: durable.snapshot.sequence, answer: answer)
    }
}

/// A request whose document is prepared and whose own members have been read, however long they are.
package struct ReadyRequest: Sendable {
    package let operation: PreparedOperation
    package let request: GraphQLRequest
    let relay: RelayExtensions
    /// For a stream only. Other operations coerce theirs when they are executed.
    fileprivate var variables = CoercedVariables.none
    /// For a stream that wants records only.
    fileprivate(set) var normalization: Normalization?
    /// Approximate memory of a mutation's request, and of a stream's with its coerced variables.
    fileprivate(set) var byteCount = 0
}

extension Outcome {
    /// One result and the end, for a sink that expected many results.
    fileprivate func deliveries(to sink: any SubscriptionSink) -> [Delivery] {
        if case .refused(let errors) = self {
            return [Delivery(sink: sink, event: .failed(errors))]
        }
        return [
            Delivery(sink: sink, event: .next(response)), Delivery(sink: sink, event: .completed),
        ]
    }
}
