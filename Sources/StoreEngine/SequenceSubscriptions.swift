import GraphQLExecution
import GraphQLLanguage
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayRecords
import SchemaService
import Threads

/// Subscriptions that are fed by a sequence of Swift code: one task each, which asks for the next element
/// when the last one has gone to the subscriber.
///
/// A subscription that was stopped keeps its place until its task has ended: the program's code may go on for a while
/// after it was cancelled, and so the tasks are bounded, whatever clients do.
final class SequenceSubscriptions: Sendable {
    private let service: SchemaService
    private let identity: StoreIdentity
    private let durable: DurableHead
    private let deliver: @Sendable ([Delivery]) -> Void
    private let engineTasks: EngineTasks
    private let limit: Int
    /// By sink. A task takes itself out when it has ended, and only then.
    private let tasks = Lock<[ObjectIdentifier: Task<Void, Never>]>([:])

    /// - Parameters:
    ///   - limit: subscriptions whose tasks may run; beyond that they are refused.
    ///   - deliver: takes what subscribers are told, for each of them in order.
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

    /// Starts a subscription, if it is one of these.
    /// - Throws: that there are too many.
    func start(_ request: SubscriptionRequest) throws(ExecutionErrors) -> Bool {
        guard request.operation.kind == .subscription else { return false }
        let plan = request.operation.plan(for: request.variables)
        guard let field = plan.root.fields.first,
            case .sequence(let handler)? = service.subscriptions[field.name]
        else { return false }
        let isTaken = tasks.withLock { tasks in
            guard tasks.count < limit else { return false }
            // Under the lock, so that a task that ends at once finds itself.
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
        // One that has stopped before that has found nothing to stop.
        if !request.sink.isWanted { _ = stop(request.sink) }
        return true
    }

    /// Ends a subscription, if it is one of these: its sequence's task is cancelled.
    func stop(_ sink: any SubscriptionSink) -> Bool {
        guard let task = tasks.withLock({ $0[ObjectIdentifier(sink)] }) else { return false }
        task.cancel()
        return true
    }

    private func run(
        _ handler: SubscriptionHandler, _ plan: Plan, _ request: SubscriptionRequest
    ) async {
        let end: Delivery.Event
        if case .resume = request.start {
            // A sequence of Swift code has no place in the log to go on from.
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
        _ plan: Plan, _ request: SubscriptionRequest
    ) throws(ExecutionError) -> SubscriptionContext {
        let snapshot = durable.snapshot
        var execution = Execution(
            plan, variables: request.variables, on: snapshot, schema: service.executable)
        return SubscriptionContext(
            arguments: VariableData(try execution.rootArguments(0)), viewer: request.request.viewer,
            records: SnapshotReader(snapshot: snapshot))
    }

    private func tell(_ value: JSONValue, _ plan: Plan, _ request: SubscriptionRequest) {
        let snapshot = durable.snapshot
        var execution = Execution(
            plan, variables: request.variables, on: snapshot, schema: service.executable,
            viewer: request.request.viewer)
        let response = Response(
            execution.result(source: .value(value)),
            RelayNotes(cursor: identity.cursor(snapshot.sequence)))
        deliver([Delivery(sink: request.sink, event: .next(response))])
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
