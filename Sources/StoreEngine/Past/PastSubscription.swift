import GraphQLExecution
import GraphQLLanguage
package import RelayJSON
@_spi(Rooms) package import RelayRecords
import SchemaService
import Threads

/// A subscription to the past of a log. It is notified of each event as a subscriber would have been when it
/// happened.
///
/// The server's own ``SubscriptionTable`` decides, with this one subscriber. Each event is handled under the
/// schema in force at the time. Not Sendable, because it is stateful.
package final class PastSubscription {
    /// The state after the last event that was followed.
    package private(set) var snapshot: Snapshot
    /// Why the document cannot be executed under the schema in force; nil when it can.
    package private(set) var refusal: String?
    let request: GraphQLRequest
    private let documents: DocumentLimits
    private let sink = PastSink()
    private(set) var service: SchemaService
    /// Nil while the document cannot be executed.
    private(set) var subscriber: Subscriber?
    /// The changes made by the last event.
    private(set) var lastChanges = ChangeSet()

    struct Subscriber {
        let plan: Plan
        let variables: CoercedVariables
        var table: SubscriptionTable
    }

    private static let identity = StoreIdentity(storeID: "", epoch: 0, earliest: 0)

    /// Subscribes in a state.
    /// - Parameters:
    ///   - state: this subscription owns its symbols from now on.
    ///   - request: a subscription, a live query, or any other query, which is then followed like a live
    ///     query.
    /// - Throws: `PastSubscriptionRefusal` if the document can never be followed; otherwise what is wrong
    ///   with the schema.
    package init(
        _ state: Snapshot, _ request: GraphQLRequest, documents: DocumentLimits = DocumentLimits()
    ) throws {
        self.request = request
        self.documents = documents
        let schema = try ServiceSchema(reading: state.schema)
        snapshot = state.indexed(by: schema.indexes)
        service = SchemaService(schema, symbols: snapshot.symbols)
        try subscribe()
    }

    /// The result that a subscriber is sent at once; nil for a subscription that waits for events.
    package func takeFirstResult() -> JSONObject? { sink.take().last }

    /// Folds the next event.
    /// - Parameter intent: of the mutation that the event ends.
    /// - Returns: what a subscriber would have been sent.
    package func follow(_ event: Event, endingMutation intent: MutationIntent?) throws
        -> [JSONObject]
    {
        var changes = ChangeSet()
        try snapshot.fold(event, changes: &changes)
        lastChanges = changes
        if case .schema = event.body { return try subscribeAnew() }
        guard
            let commit = Commit(
                replaying: event, intent, changes, service: service, snapshot: snapshot)
        else { return [] }
        subscriber?.table.handle(
            [.step(Step(publication: .commit(commit)))], isBehind: false,
            hand: sink.receive)
        return sink.take()
    }

    /// A server that starts with another schema has no subscribers: they reconnect, and get the new result if
    /// it differs.
    private func subscribeAnew() throws -> [JSONObject] {
        let before = sink.last
        let schema = try ServiceSchema(reading: snapshot.schema)
        snapshot = snapshot.indexed(by: schema.indexes)
        service = SchemaService(schema, symbols: snapshot.symbols)
        try subscribe()
        return sink.take().filter { $0 != before }
    }

    private func subscribe() throws {
        (subscriber, refusal) = (nil, nil)
        do {
            let operation = try OperationCache(schema: service.executable, limits: documents)
                .operation(for: request, storedRecords: snapshot.recordCount)
            let variables = try operation.coerce(request.variables)
            let plan = operation.plan(for: variables)
            if let why = service.reasonNotToFollow(plan) { throw PastSubscriptionRefusal(why) }
            var table = SubscriptionTable(
                service, Self.identity, snapshot: snapshot, recent: RecentCommits(after: snapshot))
            let subscription = PreparedSubscription(
                request: SubscriptionRequest(
                    request: request, sink: sink, sendsRecords: false, showsOptimistic: false,
                    start: .now),
                operation: operation, variables: variables, normalization: nil, ownByteCount: 0)
            table.handle([.subscribe(subscription)], isBehind: false, hand: sink.receive)
            subscriber = Subscriber(plan: plan, variables: variables, table: table)
        } catch let error as ExecutionErrors {
            refusal = error.errors.first?.message ?? "It cannot be executed."
        }
    }
}

/// Why a document cannot be used as a subscription to the past.
package struct PastSubscriptionRefusal: Error, CustomStringConvertible {
    package let description: String

    init(_ message: String) { description = message }
}

/// Keeps what is delivered to it.
private final class PastSink: SubscriptionSink {
    private struct State {
        var waiting: [JSONObject] = []
        var last: JSONObject?
    }

    private let state = Lock(State())

    var last: JSONObject? { state.withLock { $0.last } }

    func take() -> [JSONObject] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    func receive(_ output: SubscriptionTable.Output) {
        for delivery in output.deliveries { receive(delivery) }
    }

    func receive(_ delivery: Delivery) {
        switch delivery.event {
        case .next(let response), .missed(let response), .latest(let response): receive(response)
        case .patch(_, let full): receive(full())
        case .failed(let errors): receive(Response(refused: errors))
        case .began, .caughtUp, .completed: break
        }
    }

    private func receive(_ response: Response) {
        let whole = (try? JSONValue(parsing: response.bytes))?.object ?? [:]
        var result: JSONObject = ["data": whole["data"] ?? .null]
        if let errors = whole["errors"] { result["errors"] = errors }
        state.withLock { state in
            state.waiting.append(result)
            state.last = result
        }
    }
}

extension SchemaService {
    /// Why an operation cannot be used as a subscription to the past; nil when it can.
    fileprivate func reasonNotToFollow(_ plan: Plan) -> String? {
        switch plan.operation {
        case .mutation: return "A mutation cannot be followed; give a subscription or a query."
        case .query: return nil
        case .subscription:
            guard let field = plan.root.fields.first,
                case .sequence? = subscriptions[field.name]
            else { return nil }
            return """
                What "\(field.name)" sends comes from a program's own code, which the log does not have.
                """
        }
    }
}
