import GraphQLExecution
import GraphQLLanguage
import RelayJSON
import RelayStore
import Synchronization

/// Tells subscriptions what is durable: one commit, one result, in log order.
///
/// One queue takes commits and new subscriptions, so a subscription starts exactly between two commits:
/// what it is told first and what follows have neither gap nor overlap.
final class Publisher: Sendable {
    enum Message: Sendable {
        case commits([Commit])
        case subscribe(Request)
        case unsubscribe(any SubscriptionSink)
    }

    struct Request: Sendable {
        let operation: PreparedOperation
        let variables: CoercedVariables
        let viewer: String?
        let sink: any SubscriptionSink
    }

    private struct State {
        /// The state after the last commit that was told.
        var snapshot: Snapshot
        var groups: [SubscriptionGroup.Key: SubscriptionGroup] = [:]
        var groupsBySink: [ObjectIdentifier: SubscriptionGroup.Key] = [:]
        /// Groups of events by the mutations that they wait for.
        var eventGroups: [String: Set<SubscriptionGroup.Key>] = [:]
        var liveIndex = LiveIndex()
    }

    private let service: SchemaService
    private let storeID: String
    private let epoch: UInt64
    private let deliver: @Sendable ([Delivery]) -> Void
    private let queue = SerialQueue<Message>(limit: .max)  // bounded by commits and connections
    private let state: Mutex<State>

    /// - Parameter deliver: called with what each batch of messages leads to, in order.
    init(
        _ service: SchemaService, storeID: String, epoch: UInt64, snapshot: Snapshot,
        deliver: @escaping @Sendable ([Delivery]) -> Void
    ) {
        self.service = service
        self.storeID = storeID
        self.epoch = epoch
        self.deliver = deliver
        state = Mutex(State(snapshot: snapshot))
    }

    func post(_ message: Message) {
        _ = queue.post(message) { messages in
            var deliveries: [Delivery] = []
            self.state.withLock { state in
                for message in messages { self.handle(message, &state, &deliveries) }
            }
            if !deliveries.isEmpty { self.deliver(deliveries) }
        }
    }

    /// Messages that it has not come to.
    var waitingCount: Int { queue.count }

    /// Subscriptions and groups of equal ones.
    var counts: (subscriptions: Int, groups: Int) {
        state.withLock { ($0.groupsBySink.count, $0.groups.count) }
    }

    private func handle(
        _ message: Message, _ state: inout State, _ deliveries: inout [Delivery]
    ) {
        switch message {
        case .commits(let commits):
            for commit in commits { publish(commit, &state, &deliveries) }
        case .subscribe(let request):
            subscribe(request, &state, &deliveries)
        case .unsubscribe(let sink):
            unsubscribe(sink, &state)
        }
    }

    // MARK: Commits

    private func publish(
        _ commit: Commit, _ state: inout State, _ deliveries: inout [Delivery]
    ) {
        state.snapshot = commit.snapshot
        for key in state.eventGroups[commit.intent.field] ?? [] {
            guard let group = state.groups[key],
                case .events(let events, let arguments) = group.trigger,
                events.matches(arguments, commit.intent, commit.response, in: commit.snapshot)
            else { continue }
            let result = execute(group, on: commit.snapshot, source: .payload(commit.payload))
            tell(group, result.bytes, result.hasErrors, state.snapshot, &deliveries)
        }
        for key in state.liveIndex.candidates(commit.changes, in: commit.snapshot) {
            guard let group = state.groups[key], case .live(let dependencies) = group.trigger,
                dependencies.isTouched(by: commit.changes, in: commit.snapshot)
            else { continue }
            let last = group.lastResult
            let result = refresh(group, &state)
            if result.bytes != last?.bytes {
                tell(group, result.bytes, result.hasErrors, state.snapshot, &deliveries)
            }
        }
    }

    private func tell(
        _ group: SubscriptionGroup, _ bytes: [UInt8], _ hasErrors: Bool, _ snapshot: Snapshot,
        _ deliveries: inout [Delivery]
    ) {
        let response = response(bytes, hasErrors, snapshot)
        for sink in group.sinks.values {
            deliveries.append(Delivery(sink: sink, event: .next(response)))
        }
    }

    private func response(_ bytes: [UInt8], _ hasErrors: Bool, _ snapshot: Snapshot) -> Response {
        Response(
            open: bytes, hasErrors: hasErrors,
            cursor: StreamCursor(storeID: storeID, epoch: epoch, sequence: snapshot.sequence))
    }

    /// Executes a live group anew and takes in what the result depends on.
    private func refresh(
        _ group: SubscriptionGroup, _ state: inout State
    ) -> (bytes: [UInt8], hasErrors: Bool) {
        let result = execute(group, on: state.snapshot, source: nil)
        if case .live(let old) = group.trigger { state.liveIndex.remove(group.key, old) }
        let dependencies = result.dependencies ?? Dependencies()
        group.trigger = .live(dependencies)
        state.liveIndex.insert(group.key, dependencies)
        group.lastResult = (result.bytes, result.hasErrors)
        return (result.bytes, result.hasErrors)
    }

    private func execute(
        _ group: SubscriptionGroup, on snapshot: Snapshot, source: ObjectValue?
    ) -> (bytes: [UInt8], hasErrors: Bool, dependencies: Dependencies?) {
        var execution = Execution(
            group.plan, variables: group.key.variables, on: snapshot, schema: service.executable,
            viewer: group.key.viewer, recordsDependencies: source == nil)
        let bytes = execution.response(source: source, isOpen: true)
        return (bytes, !execution.errors.isEmpty, execution.dependencies)
    }

    // MARK: Subscriptions

    private func subscribe(
        _ request: Request, _ state: inout State, _ deliveries: inout [Delivery]
    ) {
        let key = SubscriptionGroup.Key(
            operation: ObjectIdentifier(request.operation), variables: request.variables,
            viewer: service.looksAtViewer ? request.viewer : nil)
        let group: SubscriptionGroup
        if let known = state.groups[key] {
            group = known
        } else {
            do throws(ExecutionError) {
                group = try makeGroup(key, request, &state)
            } catch {
                deliveries.append(Delivery(sink: request.sink, event: .failed([error])))
                return
            }
        }
        group.sinks[ObjectIdentifier(request.sink)] = request.sink
        state.groupsBySink[ObjectIdentifier(request.sink)] = key
        if let result = group.lastResult {
            let response = response(result.bytes, result.hasErrors, state.snapshot)
            deliveries.append(Delivery(sink: request.sink, event: .next(response)))
        }
    }

    private func makeGroup(
        _ key: SubscriptionGroup.Key, _ request: Request, _ state: inout State
    ) throws(ExecutionError) -> SubscriptionGroup {
        let plan = request.operation.plan(for: request.variables)
        let group = SubscriptionGroup(key, request.operation, plan, .live(Dependencies()))
        if plan.operation == .subscription, let field = plan.root.fields.first,
            case .events(let events)? = service.subscriptions[field.name]
        {
            var execution = Execution(
                plan, variables: request.variables, on: state.snapshot, schema: service.executable)
            group.trigger = .events(events, arguments: try execution.rootArguments(0))
            for mutation in events.mutations {
                state.eventGroups[mutation, default: []].insert(key)
            }
        } else {
            _ = refresh(group, &state)
        }
        state.groups[key] = group
        return group
    }

    private func unsubscribe(_ sink: any SubscriptionSink, _ state: inout State) {
        guard let key = state.groupsBySink.removeValue(forKey: ObjectIdentifier(sink)),
            let group = state.groups[key]
        else { return }
        group.sinks[ObjectIdentifier(sink)] = nil
        guard group.sinks.isEmpty else { return }
        state.groups[key] = nil
        switch group.trigger {
        case .live(let dependencies):
            state.liveIndex.remove(key, dependencies)
        case .events(let events, _):
            for mutation in events.mutations { state.eventGroups[mutation]?.remove(key) }
        }
    }
}
