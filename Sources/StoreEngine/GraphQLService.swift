package import GraphQLExecution
import GraphQLLanguage
package import Logging
import RelayJSON
@_spi(Rooms) package import RelayRecords
package import SchemaService

/// A schema, served from a journal: queries, mutations and subscriptions, whatever brings them here.
///
/// Queries run on the durable head, on the concurrent pool; mutations go through the one writer;
/// subscriptions through the publisher.
package final class GraphQLService: Sendable {
    private let schemaService: SchemaService
    private let operations: OperationCache
    private let durable: DurableHead
    private let writer: MutationWriter
    private let inProgress: MutationsInProgress
    private let publisher: Publisher
    private let catchUp: CatchUp
    private let sequences: SequenceSubscriptions
    private let recent: RecentCommits
    private let past: PastQueries
    private let identity: StoreIdentity
    private let mutationRefusal: String?
    private let journal: any EventJournal
    private let tasks: EngineTasks
    private let deliver: @Sendable ([Delivery]) -> Void
    package let counters = ServiceCounters()
    /// Whether mutations can be made durable.
    package let health: StorageHealth

    package struct Limits: Sendable {
        /// Mutations that may be in progress, not answered yet; beyond that they are refused.
        package var waitingMutations = 65_536
        /// Bytes of requests of mutations in progress; beyond that others are refused.
        package var waitingMutationBytes = 256 << 20
        /// Mutations that may wait for their handlers at a time; beyond that they are refused.
        package var waitingHandlers = 1_024
        /// Bytes that one mutation may write, including its arguments; beyond that it is refused. A message of the
        /// greatest usual size, without a variable that is used again and again, leads to a fifth of it.
        package var mutationBytes = 64 << 20
        /// Bytes of events on their way to the disk, and of the answers that wait for them, beyond which the writer takes no
        /// turn; far below what a journal
        /// takes, so that it hardly ever has to refuse something.
        package var inFlightBytes = 4 << 20
        /// Mutations in one turn of the writer; the bound on how long the first of them waits for the last.
        package var turnMutations = 256
        /// Commits of which subscriptions have not been told beyond which the writer takes no turn.
        package var unpublishedCommits = 8_192
        /// Bytes of such commits beyond which the writer takes no turn.
        package var unpublishedBytes = 64 << 20
        /// Results on their way to connections beyond which telling waits.
        package var undeliveredResults = 131_072
        /// Bytes of such results beyond which telling waits. One that many get counts once.
        package var undeliveredResultBytes = 64 << 20
        package var document = DocumentLimits()
        /// Events that may be folded to answer one query from the past.
        package var pastEvents = 500_000
        /// Commits kept in memory for subscriptions that were away.
        package var recentCommits = 4_096
        /// Events that may be folded for subscriptions that were away for longer, to their cursor and behind it;
        /// beyond that the cursor is too old.
        package var resumeEvents = 1_000_000
        /// A state in memory is gone on from when it is no further away than so many events, about as many as
        /// there are between two checkpoints; else the journal is asked whether it has a later one.
        package var nearEvents = 50_000
        /// Bytes that subscriptions and live queries may keep, about: plans, and of live ones their last results and what
        /// these were read from. The one that would keep more ends.
        package var subscriptionBytes = 1 << 30
        /// Subscriptions that may wait to begin, with the commits that stand before them; beyond that they are
        /// refused.
        package var beginningSubscriptions = 65_536
        /// Subscriptions that may wait to be told what they have missed; beyond that those that resume are refused.
        package var resumingSubscriptions = 65_536
        /// Subscriptions to sequences of Swift code that may be open; beyond that they are refused.
        package var sequenceSubscriptions = 65_536

        package init() {}
    }

    /// - Parameters:
    ///   - journal: holds everything up to `snapshot`, which is all of it.
    ///   - storeID: names the store in cursors.
    ///   - tail: the newest commits that led to the snapshot, for subscriptions that were away.
    ///   - persisted: the documents that requests may name instead of sending them.
    ///   - mutationRefusal: why all mutations are refused, where they are.
    ///   - onDurable: hears of every durable state, in order; on the journal's thread.
    ///   - deliver: takes what subscriptions are told; what one of them is told, in order.
    ///   - settle: returns when everything that was handed to `deliver` has been taken by the sinks.
    package init(
        _ schemaService: SchemaService, journal: any EventJournal, storeID: String,
        snapshot: Snapshot, tail: HistoryTail? = nil, inputs: EngineInputs,
        limits: Limits = .init(),
        persisted: PersistedOperations = .init(), mutationRefusal: String? = nil,
        logger: Logger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() },
        onDurable: @escaping @Sendable (Snapshot) -> Void = { _ in },
        deliver: @escaping @Sendable ([Delivery]) -> Void,
        settle: @escaping @Sendable () async -> Void = {}
    ) {
        self.schemaService = schemaService
        health = StorageHealth(logger: logger, tasks: inputs.tasks) { await journal.hasRoom() }
        self.journal = journal
        tasks = inputs.tasks
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
        // A text was measured when it was sent, and the operator's own may be longer.
        var documents = limits.document
        documents.bytes = .max
        past = PastQueries(
            journal, identity,
            limits: .init(events: limits.pastEvents, documents: documents),
            computedFields: schemaService.computedFields, tasks: inputs.tasks, logger: logger)
        let counted: @Sendable ([Delivery]) -> Void = { [counters] deliveries in
            counters.count(\.deliveries, deliveries.count)
            deliver(deliveries)
        }
        catchUp = CatchUp(
            schemaService, journal, identity, durable: durable, recent: recent,
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
                goOn: { [weak publisher] request in publisher?.post(.subscribe(request)) }))
        self.publisher = publisher
        self.deliver = counted
        sequences = SequenceSubscriptions(
            schemaService, identity, durable: durable, limit: limits.sequenceSubscriptions,
            tasks: inputs.tasks, deliver: counted)
        inProgress = MutationsInProgress(
            countLimit: limits.waitingMutations, byteLimit: limits.waitingMutationBytes)
        writer = MutationWriter(
            MutationRunner(
                service: schemaService, storeID: storeID, epoch: journal.epoch, inputs: inputs,
                waitingHandlers: limits.waitingHandlers,
                bounds: MutationBounds(writtenBytes: limits.mutationBytes),
                isRefusedByStorage: { [health] in health.refusesMutation() }),
            journal: journal, durable: durable, inProgress: inProgress, limits: limits,
            hasRoom: { [health] in publisher.hasRoom && health.admitsTurn() },
            publish: { [counters] steps in
                counters.count(\.publications)
                counters.count(\.commits, steps.count { $0.publication.commit != nil })
                if let last = steps.last { onDurable(last.publication.snapshot) }
                publisher.post(steps)
            },
            onFailure: { [health] in health.note($0, refusals: $1) })
        health.whenTried { [weak writer] in writer?.goOn() }
        publisher.whenRoom { [weak writer] in writer?.goOn() }
    }

    /// Moves on with commits that are durable without this service's doing, in log order: queries and
    /// subscriptions see what follows from them. Only for a service that refuses mutations.
    /// - Parameter head: the state after the last of them, which may have later events folded in that
    ///   change no record.
    package func publish(_ commits: [Commit], head: Snapshot) {
        durable.advance(to: head)
        if commits.isEmpty { return }
        counters.count(\.publications)
        publisher.post(commits.map { Step(publication: .commit($0)) })
    }

    /// Commits, and changes of what is subscribed, that the publisher has not come to.
    package var unpublishedCount: Int { publisher.waitingCount }

    /// Commits of which subscriptions have not been told.
    package var unpublishedCommits: Int { publisher.waitingStepCount }

    /// A state from which the next start has the newest commits at hand again: that before the first of them.
    package var snapshotForNextStart: Snapshot { recent.base }

    /// Everything durable, as of now.
    package var snapshot: Snapshot { durable.snapshot }

    package var subscriptionCounts: (subscriptions: Int, groups: Int) {
        let figures = publisher.figures
        return (figures.subscriptions, figures.groups)
    }

    /// About what subscriptions and live queries keep in memory.
    package var subscriptionByteCount: Int { publisher.figures.byteCount }

    /// Executions of subscriptions, and those that were saved because several ask the same.
    package var subscriptionExecutions: (run: Int, saved: Int) { publisher.figures.executions }

    /// Events that are durable, and of which subscriptions have not been told.
    package var deliveryLag: UInt64 {
        let told = publisher.deliveredThrough
        let durable = snapshot.sequence
        return durable > told ? durable - told : 0
    }

    /// What carrying out mutations and folding what they wrote has taken so far.
    package var foldTime: Duration { writer.foldTime }

    /// A cursor: everything up to it that concerns subscriptions has been handed to `deliver`.
    package var deliveredCursor: String { identity.cursor(publisher.deliveredThrough).text }

    /// Mutations that wait for the writer.
    package var waitingMutations: Int { writer.waitingCount }

    /// The request's operation, if its document was seen before and the request keeps within the limits.
    package func findPrepared(_ request: GraphQLRequest) -> PreparedOperation? {
        operations.find(request, storedRecords: durable.snapshot.recordCount)
    }

    /// Mutations that are under way are finished, and no others are taken.
    package var isStopping: Bool { inProgress.isClosed }

    /// Takes no more mutations; returns when those that were taken are answered, or it is too late for that.
    package func finishMutations(within time: Duration) async {
        inProgress.close()
        let deadline = ContinuousClock.now + time
        while !inProgress.isEmpty, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Why no mutations should be sent here; nil when they are welcome. While the disk is full it is tried.
    package func unreadiness() async -> String? {
        if isStopping { return "The server is stopping." }
        if health.isFrozen { return "The log has stopped: a write or a sync has failed." }
        await health.tryRoom()
        guard health.reason != nil else { return nil }
        return "The disk is full: mutations are refused until there is room."
    }

    /// Finds and prepares a request's operation: cheap when its document was seen before.
    /// - Throws: what is wrong with the document, or `LIMIT_EXCEEDED`; nothing has been executed.
    package func prepare(_ request: GraphQLRequest) throws(ExecutionErrors) -> PreparedOperation {
        do throws(ExecutionErrors) {
            return try operations.operation(
                for: request, storedRecords: durable.snapshot.recordCount)
        } catch {
            counters.count(\.refusals)
            throw error
        }
    }

    /// Those of the persisted documents that cannot be executed, by their ids, and why.
    package func persistedMistakes() -> [(id: String, error: ExecutionError)] {
        operations.persistedMistakes()
    }

    /// What a request asks for beyond GraphQL.
    /// - Throws: what is of the wrong kind, or does not go with the operation.
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

    /// Does the work that grows with the request, so that handing it over is quick.
    /// - Throws: what is wrong with its extensions, or with a stream's variables.
    package func ready(
        _ operation: PreparedOperation, _ request: GraphQLRequest
    ) throws(ExecutionErrors) -> ReadyRequest {
        let relay = try extensions(of: request, operation)
        var ready = ReadyRequest(operation: operation, request: request, relay: relay)
        if operation.isStream, relay.explain == nil {
            ready.variables = try operation.coerce(request.variables)
        }
        if operation.kind == .mutation { ready.byteCount = request.approximateByteCount }
        return ready
    }

    /// Runs a query or a mutation.
    /// - Parameter answer: called once, on any thread; for a mutation after it is durable.
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
        let (operation, request) = (ready.operation, ready.request)
        do throws(ExecutionErrors) {
            switch operation.kind {
            case .query:
                counters.count(\.queries)
                if let sequence = ready.relay.explain {
                    explain(request, sequence, answer)
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

    /// Starts a subscription; what it is told comes through the service's `deliver`.
    package func subscribe(
        _ operation: PreparedOperation, _ request: GraphQLRequest, sink: any SubscriptionSink
    ) throws(ExecutionErrors) {
        try subscribe(try ready(operation, request), sink: sink)
    }

    package func subscribe(_ ready: ReadyRequest, sink: any SubscriptionSink)
        throws(ExecutionErrors)
    {
        let (request, relay) = (ready.request, ready.relay)
        if let sequence = relay.explain {
            return explain(request, sequence) { [deliver] outcome in
                deliver(outcome.deliveries(to: sink))
            }
        }
        let subscription = SubscriptionRequest(
            operation: ready.operation, variables: ready.variables, request: withText(request),
            sink: sink, sendsRecords: relay.sendsRecords, showsOptimistic: relay.showsOptimistic,
            start: relay.resume.map { .resume($0) } ?? .now)
        if try !sequences.start(subscription), !publisher.subscribe(subscription) {
            counters.count(\.refusals)
            let message = "Too many subscriptions are waiting to begin; try again later."
            throw ExecutionErrors(errors: [ExecutionError(message, code: .overloaded)])
        }
        counters.count(\.subscriptions)
    }

    /// Ends a subscription. What is on its way may still arrive.
    package func unsubscribe(_ sink: any SubscriptionSink) {
        if sequences.stop(sink) { return }
        catchUp.forget(sink)
        publisher.post(.unsubscribe(sink))
    }

    private func query(
        _ operation: PreparedOperation, _ request: GraphQLRequest, on snapshot: Snapshot,
        at sequence: UInt64
    ) throws(ExecutionErrors) -> Outcome {
        let variables = try operation.coerce(request.variables)
        var execution = Execution(
            operation.plan(for: variables), variables: variables, on: snapshot,
            schema: schemaService.executable, viewer: request.viewer)
        return .executed(
            Response(execution.result(), RelayNotes(cursor: identity.cursor(sequence))))
    }

    /// Answers a query from the past: at once when it names a state that is in memory.
    private func answer(
        _ operation: PreparedOperation, _ request: GraphQLRequest, at point: RelayExtensions.Point,
        _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        past.answer(
            withText(request), at: point, through: durable.snapshot.sequence,
            fromMemory: { [self] sequence in
                answerFromMemory(operation, request, at: sequence)
            }, answer: answer)
    }

    /// Runs a query on a state that is in memory; nil when none is, or it is one under another schema.
    private func answerFromMemory(
        _ operation: PreparedOperation, _ request: GraphQLRequest, at sequence: UInt64
    ) -> Outcome? {
        guard let snapshot = recent.snapshot(at: sequence),
            snapshot.schema == schemaService.schemaText
        else { return nil }
        do throws(ExecutionErrors) {
            return try query(operation, request, on: snapshot, at: sequence)
        } catch {
            return .refused(error.errors)
        }
    }

    /// The request with its document's text, whatever becomes of the name that it gave.
    private func withText(_ request: GraphQLRequest) -> GraphQLRequest {
        var request = request
        request.query = operations.text(of: request) ?? request.query
        request.documentID = nil
        return request
    }

    /// Says why a subscriber with this document was, or was not, told of an event.
    private func explain(
        _ request: GraphQLRequest, _ sequence: UInt64,
        _ answer: @escaping @Sendable (Outcome) -> Void
    ) {
        counters.count(\.queries)
        past.explain(
            withText(request), sequence, through: durable.snapshot.sequence, answer: answer)
    }

    private func mutate(
        _ ready: ReadyRequest, answer: @escaping @Sendable (Outcome) -> Void
    ) {
        if let mutationRefusal {
            return answer(.refused([ExecutionError(mutationRefusal, code: .forbidden)]))
        }
        let refusal = writer.post(
            MutationRequest(
                operation: ready.operation, variables: ready.request.variables,
                mutationID: ready.relay.mutationID, viewer: ready.request.viewer,
                optimisticResponse: ready.relay.optimisticResponse.map(JSONValue.object),
                answer: answer), byteCount: ready.byteCount)
        switch refusal {
        case nil: break
        case .closed?: answer(.stopping)
        case .full?:
            let message = "Too many mutations are in progress; this one was not carried out."
            answer(.refused([ExecutionError(message, code: .overloaded)]))
        }
    }
}

/// A request whose document is prepared and whose own members have been read, however long they are.
package struct ReadyRequest: Sendable {
    package let operation: PreparedOperation
    package let request: GraphQLRequest
    fileprivate let relay: RelayExtensions
    /// A stream's. Others have theirs coerced where they are carried out.
    fileprivate var variables = CoercedVariables.none
    /// A mutation's, about what it takes in memory.
    fileprivate var byteCount = 0
}

extension Outcome {
    /// One result, and the end, for a sink that was to get many.
    fileprivate func deliveries(to sink: any SubscriptionSink) -> [Delivery] {
        if case .refused(let errors) = self {
            return [Delivery(sink: sink, event: .failed(errors))]
        }
        return [
            Delivery(sink: sink, event: .next(response)), Delivery(sink: sink, event: .completed),
        ]
    }
}
