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
/// for a while. So the number of tasks is bounded, whatever clients do, and so is what they keep prepared.
final class SequenceSubscriptions: Sendable {
    private let service: SchemaService
    private let identity: StoreIdentity
    private let durable: DurableHead
    private let deliver: @Sendable ([Delivery]) -> Void
    private let engineTasks: EngineTasks
    private let countLimit: Int
    private let byteLimit: Int
    private let running = Lock(Running())

    private struct Running {
        /// By sink. A task removes itself when it has ended, and is removed no other way.
        var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        var memory = SharedMemory()
    }

    /// A subscription with what it keeps. Its request may be large, and is not needed.
    private struct Fed: Sendable {
        let sink: any SubscriptionSink
        let resumes: Bool
        let identity: Identity
        /// Retained so that its identity stays unique. The plan uses its document.
        let operation: PreparedOperation
        let plan: Plan
        let variables: CoercedVariables

        var memoryShare: SharedMemory.Share {
            SharedMemory.Share(
                parts: [operation.documentPart, plan.part],
                ownByteCount: variables.subscriptionByteCount)
        }
    }

    /// - Parameters:
    ///   - limits: on subscriptions whose tasks are running, and on what is prepared for them.
    ///   - deliver: takes the deliveries, in order for each subscriber.
    init(
        _ service: SchemaService, _ identity: StoreIdentity, durable: DurableHead,
        limits: GraphQLService.Limits, tasks: EngineTasks,
        deliver: @escaping @Sendable ([Delivery]) -> Void
    ) {
        engineTasks = tasks
        countLimit = limits.sequenceSubscriptions
        byteLimit = limits.sequenceBytes
        self.service = service
        self.identity = identity
        self.durable = durable
        self.deliver = deliver
    }

    /// Where the elements of a subscription come from; nil if it is not of this kind.
    func source(
        of operation: PreparedOperation, _ variables: CoercedVariables
    ) -> (plan: Plan, handler: SubscriptionHandler)? {
        guard operation.kind == .subscription else { return nil }
        let plan = operation.plan(for: variables)
        guard let field = plan.root.fields.first,
            case .sequence(let handler)? = service.subscriptions[field.name]
        else { return nil }
        return (plan, handler)
    }

    /// Starts a subscription, if it is of this kind.
    /// - Throws: if there are too many.
    func start(_ prepared: PreparedSubscription) throws(ExecutionErrors) -> Bool {
        guard let (plan, handler) = source(of: prepared.operation, prepared.variables) else {
            return false
        }
        let sink = prepared.sink
        let resumes = if case .resume = prepared.request.start { true } else { false }
        let fed = Fed(
            sink: sink, resumes: resumes, identity: prepared.identity,
            operation: prepared.operation,
            plan: plan, variables: prepared.variables)
        let share = fed.memoryShare
        let isTaken = running.withLock { running in
            guard running.tasks.count < countLimit, running.memory.byteCount < byteLimit else {
                return false
            }
            running.memory.add(share)
            // Done under the lock, so that a task that ends at once finds its own entry.
            running.tasks[ObjectIdentifier(sink)] = engineTasks.start {
                await self.run(handler, fed)
                self.running.withLock { running in
                    running.tasks[ObjectIdentifier(sink)] = nil
                    running.memory.remove(share)
                }
            }
            return true
        }
        guard isTaken else {
            let message = "Too many subscriptions of this kind are open; try again later."
            throw ExecutionErrors(errors: [ExecutionError(message, code: .overloaded)])
        }
        // If the sink was stopped before this point, `stop` found no task to cancel.
        if !sink.isWanted { _ = stop(sink) }
        return true
    }

    /// Ends a subscription, if it is of this kind, by cancelling its sequence's task.
    func stop(_ sink: any SubscriptionSink) -> Bool {
        guard let task = running.withLock({ $0.tasks[ObjectIdentifier(sink)] }) else {
            return false
        }
        task.cancel()
        return true
    }

    private func run(_ handler: SubscriptionHandler, _ fed: Fed) async {
        let end: Delivery.Event
        if fed.resumes {
            // A sequence from Swift code has no position in the log to resume from.
            let notes = RelayNotes(
                cursor: identity.cursor(durable.snapshot.sequence), recovered: false)
            deliver([
                Delivery(sink: fed.sink, event: .next(Response(notes))),
                Delivery(sink: fed.sink, event: .caughtUp),
            ])
        }
        do {
            try await handler.run(try context(fed)) { value in
                try Task.checkCancellation()
                self.tell(value, fed)
                await Room().wait(for: fed.sink)
                try Task.checkCancellation()
            }
            end = .completed
        } catch {
            end = .failed([ExecutionError(thrown: error).at(fed.plan.root.fields.first)])
        }
        if Task.isCancelled { return }
        deliver([Delivery(sink: fed.sink, event: end)])
    }

    private func context(_ fed: Fed) throws(ExecutionError) -> SubscriptionContext {
        let snapshot = durable.snapshot
        var execution = Execution(
            fed.plan, variables: fed.variables, on: snapshot, schema: service.executable,
            identity: fed.identity)
        return SubscriptionContext(
            arguments: VariableData(try execution.rootArguments(0)), identity: fed.identity,
            records: SnapshotReader(snapshot: snapshot))
    }

    private func tell(_ value: JSONValue, _ fed: Fed) {
        let snapshot = durable.snapshot
        var execution = Execution(
            fed.plan, variables: fed.variables, on: snapshot, schema: service.executable,
            identity: fed.identity)
        let response = Response(
            execution.result(source: .value(value)),
            RelayNotes(cursor: identity.cursor(snapshot.sequence)))
        deliver([Delivery(sink: fed.sink, event: .next(response))])
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
