package import GraphQLExecution
import GraphQLLanguage
import RelayJSON
package import RelayStore

/// A schema, served from a journal: queries, mutations and subscriptions, whatever brings them here.
///
/// Queries run on the durable head, on the concurrent pool; mutations go through the one writer;
/// subscriptions through the publisher.
package final class GraphQLService: Sendable {
    private let schemaService: SchemaService
    private let operations: OperationCache
    private let durable: DurableHead
    private let writer: MutationWriter
    private let publisher: Publisher
    private let storeID: String
    private let epoch: UInt64
    private let mutationRefusal: String?
    package let counters = ServiceCounters()

    package struct Limits: Sendable {
        /// Mutations that may wait for the writer; beyond that they are refused.
        package var waitingMutations = 65_536
        package var document = DocumentLimits()

        package init() {}
    }

    /// - Parameters:
    ///   - journal: holds everything up to `snapshot`, which is all of it.
    ///   - storeID: names the store in cursors.
    ///   - persisted: the documents that requests may name instead of sending them.
    ///   - mutationRefusal: why all mutations are refused, where they are.
    ///   - onDurable: hears of every durable state, in order; on the journal's thread.
    ///   - deliver: takes what subscriptions are told, in order.
    package init(
        _ schemaService: SchemaService, journal: any EventJournal, storeID: String,
        snapshot: Snapshot, inputs: EngineInputs, limits: Limits = .init(),
        persisted: PersistedOperations = .init(), mutationRefusal: String? = nil,
        onDurable: @escaping @Sendable (Snapshot) -> Void = { _ in },
        deliver: @escaping @Sendable ([Delivery]) -> Void
    ) {
        self.schemaService = schemaService
        self.storeID = storeID
        self.mutationRefusal = mutationRefusal
        epoch = journal.epoch
        operations = OperationCache(
            schema: schemaService.executable, limits: limits.document, persisted: persisted)
        durable = DurableHead(snapshot)
        let publisher = Publisher(
            schemaService, storeID: storeID, epoch: journal.epoch, snapshot: snapshot,
            deliver: { [counters] deliveries in
                counters.count(\.deliveries, deliveries.count)
                deliver(deliveries)
            })
        self.publisher = publisher
        writer = MutationWriter(
            MutationRunner(
                service: schemaService, storeID: storeID, epoch: journal.epoch, inputs: inputs),
            journal: journal, durable: durable, queueLimit: limits.waitingMutations,
            publish: { [counters] commits in
                counters.count(\.publications)
                if let last = commits.last { onDurable(last.snapshot) }
                publisher.post(.commits(commits))
            })
    }

    /// Moves on with commits that are durable without this service's doing, in log order: queries and
    /// subscriptions see what follows from them. Only for a service that refuses mutations.
    /// - Parameter head: the state after the last of them, which may have later events folded in that
    ///   change no record.
    func publish(_ commits: [Commit], head: Snapshot) {
        durable.advance(to: head)
        if commits.isEmpty { return }
        counters.count(\.publications)
        publisher.post(.commits(commits))
    }

    /// Commits, and changes of what is subscribed, that the publisher has not come to.
    var unpublishedCount: Int { publisher.waitingCount }

    /// Everything durable, as of now.
    package var snapshot: Snapshot { durable.snapshot }

    package var subscriptionCounts: (subscriptions: Int, groups: Int) { publisher.counts }

    /// Mutations that wait for the writer.
    package var waitingMutations: Int { writer.waitingCount }

    /// The request's operation, if its document was seen before and the request keeps within the limits.
    package func findPrepared(_ request: GraphQLRequest) -> PreparedOperation? {
        guard request.asksForNoMoreThanIsServed else { return nil }
        return operations.find(request, storedRecords: durable.snapshot.recordCount)
    }

    /// Finds and prepares a request's operation: cheap when its document was seen before.
    /// - Throws: what is wrong with the document, or `LIMIT_EXCEEDED`; nothing has been executed.
    package func prepare(_ request: GraphQLRequest) throws(ExecutionErrors) -> PreparedOperation {
        do throws(ExecutionErrors) {
            try request.refuseUnknownPromises()
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

    /// Runs a query or a mutation.
    /// - Parameter answer: called once, on any thread; for a mutation after it is durable.
    package func execute(
        _ operation: PreparedOperation, _ request: GraphQLRequest,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        switch operation.kind {
        case .query:
            counters.count(\.queries)
            answer(query(operation, request))
        case .mutation:
            counters.count(\.mutations)
            mutate(operation, request, answer: answer)
        case .subscription:
            let message = "A subscription has many results; this request can only carry one."
            answer(.refused([ExecutionError(message, code: .badUserInput)]))
        }
    }

    /// Starts a subscription; what it is told comes through the service's `deliver`.
    package func subscribe(
        _ operation: PreparedOperation, _ request: GraphQLRequest, sink: any SubscriptionSink
    ) throws(ExecutionErrors) {
        let variables = try operation.coerce(request.variables)
        publisher.post(
            .subscribe(.init(operation: operation, variables: variables, sink: sink)))
        counters.count(\.subscriptions)
    }

    /// Ends a subscription. What is on its way may still arrive.
    package func unsubscribe(_ sink: any SubscriptionSink) { publisher.post(.unsubscribe(sink)) }

    private func query(_ operation: PreparedOperation, _ request: GraphQLRequest) -> Outcome {
        let variables: CoercedVariables
        do throws(ExecutionErrors) {
            variables = try operation.coerce(request.variables)
        } catch {
            return .refused(error.errors)
        }
        let snapshot = durable.snapshot
        var execution = Execution(
            operation.plan(for: variables), variables: variables, on: snapshot,
            schema: schemaService.executable)
        let bytes = execution.response(isOpen: true)
        return .executed(
            Response(
                open: bytes, hasErrors: !execution.errors.isEmpty,
                cursor: StreamCursor(
                    storeID: storeID, epoch: epoch, sequence: snapshot.sequence)))
    }

    private func mutate(
        _ operation: PreparedOperation, _ request: GraphQLRequest,
        answer: @escaping @Sendable (Outcome) -> Void
    ) {
        if let mutationRefusal {
            return answer(.refused([ExecutionError(mutationRefusal, code: .forbidden)]))
        }
        var mutationID: MutationID?
        if let text = request.extensions["relay"]?["mutationId"]?.string {
            guard let id = MutationID(text) else {
                let message = """
                    "\(text)" is no mutation id: it must be CLIENT:N, N being a whole number.
                    """
                answer(.refused([ExecutionError(message, code: .badUserInput)]))
                return
            }
            // Scoped to the viewer, so that nobody is answered what another was.
            mutationID = MutationID(
                client: request.viewer.map { "\($0)/\(id.client)" } ?? id.client, number: id.number)
        }
        let isTaken = writer.post(
            MutationRequest(
                operation: operation, variables: request.variables, mutationID: mutationID,
                viewer: request.viewer, answer: answer))
        if !isTaken {
            let message = "Too many mutations wait for the writer; this one was not carried out."
            answer(.refused([ExecutionError(message, code: .limitExceeded)]))
        }
    }
}

extension GraphQLRequest {
    /// What `extensions.relay` may ask for and this server does not do yet. To pass over one of them would
    /// be a wrong answer: the present for the past, a gap for a resumed stream.
    private static let unserved = ["at", "resume", "records", "optimistic"]

    fileprivate var asksForNoMoreThanIsServed: Bool {
        guard let relay = extensions["relay"]?.object else { return true }
        return Self.unserved.allSatisfy { relay[$0] == nil || relay[$0] == false }
    }

    fileprivate func refuseUnknownPromises() throws(ExecutionErrors) {
        if asksForNoMoreThanIsServed { return }
        let asked = Self.unserved.filter { extensions["relay"]?[$0] != nil }
        let names = asked.map { "\"\($0)\"" }.joined(separator: ", ")
        let message = "extensions.relay: \(names) is not served by this version."
        throw ExecutionErrors(errors: [ExecutionError(message, code: .badUserInput)])
    }
}
