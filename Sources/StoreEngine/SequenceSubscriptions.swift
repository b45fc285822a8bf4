import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Threads

/// Subscriptions fed by a sequence from Swift code. Each has its own task, which asks for the next element
/// once the previous one has been taken by the subscriber.
///
/// A cancelled subscription keeps its slot until its task has ended, because the program's code may run on
/// for a while. So the number of tasks is bounded, whatever clients do.
final class SequenceSubscriptions: Sendable {
    private let service: SchemaService
    private let identity: StoreIdentity
    private let durable: DurableHead
    private let deliver: @Sendable ([Delivery]) -> Void
    private let engineTasks: EngineTasks
    private let limit: Int
    /// By sink. A task removes itself when it has ended, and is removed no other way.
    private let tasks = Lock<[ObjectIdentifier: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - limit: on subscriptions whose tasks are running; beyond it, new ones are refused.
    ///   - deliver: takes the deliveries, in order for each subscriber.
    init(
        _ service: SchemaService, _ identity: StoreIdentity, durable: DurableHead,
        limit: Int, tasks: EngineTasks, deliver: @escaping @Sendable ([Delivery]) -> Void
    ) {
        engineTasks = tasks
        self.limit = limit
        self.service = service
        self.identity = identity
        self.durable = durable
        self.deliver = deliver
    }

    /// Starts a subscription, if it is of this kind.
    /// - Throws: if there are too many.
    func start(_ request: PreparedSubscription) throws(ExecutionErrors) -> Bool {
        guard request.operation.kind == .subscription else { return false }
        let plan = request.operation.plan(for: request.variables)
        guard let field = plan.root.fields.first,
            case .sequence(let handler)? = service.subscriptions[field.name]
        else { return false }
        let isTaken = tasks.withLock { tasks in
            guard tasks.count < limit else { return false }
            // Done under the lock, so that a task that ends at once finds its own entry.
            tasks[ObjectIdentifier(request.sink)] = engineTasks.start {
                await self.run(handler, plan, request)
                _ = self.tasks.withLock {
                    $0.removeValue(forKey: ObjectIdentifier(request.sink))
                }
            }
            return true
        }
        guard isTaken else {
            let message = "Too many subscriptions of this kind are open; try again later."
            throw ExecutionErrors(errors: [ExecutionError(message, code: .overloaded)])
        }
        // If the sink was stopped before this point, `stop` found no task to cancel.
        if !request.sink.isWanted { _ = stop(request.sink) }
        return true
    }

    /// Ends a subscription, if it is of this kind, by cancelling its sequence's task.
    func stop(_ sink: any SubscriptionSink) -> Bool {
        guard let task = tasks.withLock({ $0[ObjectIdentifier(sink)] }) else { return false }
        task.cancel()
        return true
    }

    private func run(
        _ handler: SubscriptionHandler, _ plan: Plan, _ request: PreparedSubscription
    ) async {
        let end: Delivery.Event
        if case .resume = request.request.start {
            // A sequence from Swift code has no position in the log to resume from.
            let notes = RelayNotes(
                cursor: identity.cursor(durable.snapshot.sequence), recovered: false)
            deliver([
                Delivery(sink: request.sink, event: .next(Response(notes))),
                Delivery(sink: request.sink, event: .caughtUp),
            ])
        }
        do {
            try await handler.run(try context(plan, request)) { value in
                try Task.checkCancellation()
                self.tell(value, plan, request)
                await Room().wait(for: request.sink)
                try Task.checkCancellation()
            }
            end = .completed
        } catch {
            end = .failed([ExecutionError(thrown: error).at(plan.root.fields.first)])
        }
        if Task.isCancelled { return }
        deliver([Delivery(sink: request.sink, event: end)])
    }

    private func context(
        _ plan: Plan, _ prepared: PreparedSubscription
    ) throws(ExecutionError) -> SubscriptionContext {
        let snapshot = durable.snapshot
        var execution = Execution(
            plan, variables: prepared.variables, on: snapshot, schema: service.executable)
        return SubscriptionContext(
            arguments: VariableData(try execution.rootArguments(0)), viewer: prepared.viewer,
            records: SnapshotReader(snapshot: snapshot))
    }

    private func tell(_ value: JSONValue, _ plan: Plan, _ prepared: PreparedSubscription) {
        let snapshot = durable.snapshot
        var execution = Execution(
            plan, variables: prepared.variables, on: snapshot, schema: service.executable,
            viewer: prepared.viewer)
        let response = Response(
            execution.result(source: .value(value)),
            RelayNotes(cursor: identity.cursor(snapshot.sequence)))
        deliver([Delivery(sink: prepared.sink, event: .next(response))])
    }
}

/// Waits until a subscriber has room for another result, or its subscription ends.
private final class Room: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Void, Never>)
        case done
    }

    private let state = Lock(State.open)

    func wait(for sink: any SubscriptionSink) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if case .done = state { return true }
                    state = .waiting(continuation)
                    return false
                }
                if isDone { return continuation.resume() }
                sink.whenDrained { self.finish() }
            }
        } onCancel: {
            finish()
        }
    }

    private func finish() {
        let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .done }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume()
    }
}
