import GraphQLExecution
import Logging
import RelayJSON
import RelayStore
import Synchronization

/// Reads from the log what subscriptions have missed, when it is longer ago than what is in memory.
///
/// Those that wait are served together, by one pass over the log from where the first of them stopped:
/// each event is read at its own sequence, by the state that the pass has folded so far. A subscriber that
/// takes nothing leaves the pass, and comes back when there is room for more. At the end of the pass all go to
/// the publisher, which knows the rest.
final class CatchUp: Sendable {
    private struct Waiting: Sendable {
        var request: SubscriptionRequest
        /// Everything up to this event has been told.
        var sequence: UInt64
        /// The sink knows that it goes on.
        var isAnnounced: Bool
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    /// Events told without looking whether the sinks have room for more.
    private static let settleInterval = 32

    private let journal: any EventJournal
    private let identity: StoreIdentity
    private let service: SchemaService
    private let persisted: PersistedOperations
    private let durable: DurableHead
    private let logger: Logger
    private let state = Mutex(State())
    /// Where results go, and requests that are done here.
    private let outputs = Mutex<Outputs?>(nil)

    struct Outputs: Sendable {
        let deliver: @Sendable ([Delivery]) -> Void
        /// Returns when the sinks have taken everything.
        let settle: @Sendable () async -> Void
        let goOn: @Sendable (SubscriptionRequest) -> Void
    }

    init(
        _ service: SchemaService, _ journal: any EventJournal, _ identity: StoreIdentity,
        durable: DurableHead, persisted: PersistedOperations, logger: Logger
    ) {
        self.service = service
        self.journal = journal
        self.identity = identity
        self.durable = durable
        self.persisted = persisted
        self.logger = logger
    }

    /// Says where results go; to be called once, before anything else.
    func connect(_ outputs: Outputs) { self.outputs.withLock { $0 = outputs } }

    /// Takes a subscription that has been told everything up to an event.
    func post(_ request: SubscriptionRequest, behind sequence: UInt64) {
        let isAnnounced = if case .after = request.start { true } else { false }
        post(Waiting(request: request, sequence: sequence, isAnnounced: isAnnounced))
    }

    private func post(_ waiting: Waiting) {
        let starts = state.withLock { state in
            state.waiting.append(waiting)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Task.detached(priority: .utility) { await self.run() } }
    }

    private func run() async {
        while true {
            let batch = state.withLock { state in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isRunning = false }
                return state.waiting
            }
            if batch.isEmpty { return }
            guard let outputs = outputs.withLock({ $0 }) else { return }
            await serve(batch.filter(\.request.sink.isWanted), outputs)
        }
    }

    // MARK: One pass

    private func serve(_ batch: [Waiting], _ outputs: Outputs) async {
        guard let first = batch.map(\.sequence).min() else { return }
        let end = durable.snapshot.sequence
        let replay: PastReplay
        do {
            replay = try await PastReplay(journal, at: first, indexes: service.indexes)
        } catch {
            logger.error("Could not read what subscriptions have missed: \(error)")
            for waiting in batch where !waiting.isAnnounced {
                outputs.goOn(waiting.request.starting(.lost))
            }
            return outputs.deliver(batch.filter(\.isAnnounced).map { Self.broken($0.request) })
        }
        var pass = Pass(service.on(replay.snapshot.symbols), identity, persisted)
        for waiting in batch {
            do throws(ExecutionErrors) {
                try pass.add(waiting.request, behind: waiting.sequence, replay.snapshot)
                if waiting.isAnnounced { continue }
                let notes = RelayNotes(
                    cursor: identity.cursor(waiting.sequence), recovered: true)
                outputs.deliver([
                    Delivery(sink: waiting.request.sink, event: .next(Response(notes)))
                ])
            } catch {
                outputs.deliver([
                    Delivery(sink: waiting.request.sink, event: .failed(error.errors))
                ])
            }
        }
        do {
            try await run(&pass, replay, through: end, outputs)
        } catch {
            logger.error("Could not read on what subscriptions have missed: \(error)")
            outputs.deliver(pass.removeAll(after: 0).map { Self.broken($0.0) })
        }
    }

    /// Ends a stream that cannot be brought up to the present; its last cursor is still good.
    private static func broken(_ request: SubscriptionRequest) -> Delivery {
        let message = "What was missed could not be read from the log; resume it later."
        return Delivery(sink: request.sink, event: .failed([ExecutionError(message)]))
    }

    private func run(
        _ pass: inout Pass, _ start: PastReplay, through end: UInt64, _ outputs: Outputs
    ) async throws {
        var replay = start
        var unsettled = 0
        while replay.snapshot.sequence < end, !pass.isEmpty {
            let step = try await replay.step()
            guard let intent = step.intent, case .response(let response) = step.event.body else {
                continue
            }
            let deliveries = pass.tell(intent, response, replay.snapshot)
            if deliveries.isEmpty { continue }
            outputs.deliver(deliveries)
            unsettled += 1
            if unsettled < Self.settleInterval { continue }
            unsettled = 0
            await outputs.settle()
            for (request, sequence) in pass.removeFull(after: replay.snapshot.sequence) {
                request.sink.whenDrained { [weak self] in
                    self?.post(request, behind: sequence)
                }
            }
        }
        for (request, sequence) in pass.removeAll(after: replay.snapshot.sequence) {
            outputs.goOn(request.starting(.after(sequence)))
        }
    }
}

/// The subscriptions of one pass over the log; equal ones are executed once for each event.
private struct Pass {
    private struct Member {
        var request: SubscriptionRequest
        let sequence: UInt64
    }

    private struct Group {
        let plan: Plan
        let variables: CoercedVariables
        let events: MutationEvents
        let arguments: JSONObject
        /// Of subscriptions that get patches.
        let normalizer: RecordNormalizer?
        var members: [Member] = []
    }

    private let service: SchemaService
    private let identity: StoreIdentity
    private let operations: OperationCache
    private var groups: [SubscriptionGroup.Key: Group] = [:]

    init(
        _ service: SchemaService, _ identity: StoreIdentity, _ persisted: PersistedOperations
    ) {
        self.service = service
        self.identity = identity
        operations = OperationCache(schema: service.executable, persisted: persisted)
    }

    var isEmpty: Bool { groups.values.allSatisfy(\.members.isEmpty) }

    mutating func add(
        _ request: SubscriptionRequest, behind sequence: UInt64, _ snapshot: Snapshot
    ) throws(ExecutionErrors) {
        let operation = try operations.operation(for: request.request, storedRecords: 0)
        let variables = try operation.coerce(request.request.variables)
        let key = SubscriptionGroup.Key(
            operation: ObjectIdentifier(operation), variables: variables,
            viewer: service.looksAtViewer ? request.request.viewer : nil,
            sendsRecords: request.sendsRecords)
        if groups[key] == nil {
            let plan = operation.plan(for: variables)
            guard let events = service.events(of: plan) else { return }
            var execution = Execution(
                plan, variables: variables, on: snapshot, schema: service.executable)
            do throws(ExecutionError) {
                groups[key] = Group(
                    plan: plan, variables: variables, events: events,
                    arguments: try execution.rootArguments(0),
                    // It has been made before, for the same text.
                    normalizer: request.sendsRecords
                        ? try? RecordNormalizer(
                            operation, variables, schema: service.executable.schema) : nil)
            } catch {
                throw ExecutionErrors(errors: [error])
            }
        }
        groups[key]?.members.append(Member(request: request, sequence: sequence))
    }

    /// What everybody is to be told of a mutation.
    /// - Parameter snapshot: the state right after it.
    mutating func tell(
        _ intent: MutationIntent, _ response: MutationResponse, _ snapshot: Snapshot
    ) -> [Delivery] {
        guard let handler = service.mutations[intent.field] else { return [] }
        var deliveries: [Delivery] = []
        for (key, group) in groups {
            let members = group.members.indices.filter {
                group.members[$0].sequence < snapshot.sequence
            }
            guard !members.isEmpty, group.events.mutations.contains(intent.field),
                group.events.matches(group.arguments, intent, response, in: snapshot)
            else { continue }
            let payload = handler.payload(for: intent, response: response, in: snapshot)
            var execution = Execution(
                group.plan, variables: group.variables, on: snapshot, schema: service.executable,
                viewer: key.viewer)
            let bytes = execution.response(source: .payload(payload), isOpen: true)
            let result = ExecutedResult(bytes: bytes, hasErrors: !execution.errors.isEmpty)
            let notes = RelayNotes(cursor: identity.cursor(snapshot.sequence))
            let full = Response(open: bytes, hasErrors: result.hasErrors, notes)
            let patch = group.normalizer.map { Response(eventPatch: result, $0, notes) } ?? full
            for member in members {
                let request = group.members[member].request
                deliveries.append(
                    Delivery(
                        sink: request.sink, event: .next(request.hasHadResult ? patch : full)))
                groups[key]?.members[member].request.hasHadResult = true
            }
        }
        return deliveries
    }

    /// Takes out those for whom enough waits already, and those that are gone.
    /// - Returns: the former, with the event up to which they have been told everything.
    mutating func removeFull(after sequence: UInt64) -> [(SubscriptionRequest, UInt64)] {
        remove(after: sequence) { $0.isFull }.map { ($0.starting(.after($1)), $1) }
    }

    mutating func removeAll(after sequence: UInt64) -> [(SubscriptionRequest, UInt64)] {
        remove(after: sequence) { _ in true }
    }

    private mutating func remove(
        after sequence: UInt64, where isToLeave: (any SubscriptionSink) -> Bool
    ) -> [(SubscriptionRequest, UInt64)] {
        var removed: [(SubscriptionRequest, UInt64)] = []
        for key in groups.keys {
            groups[key]?.members.removeAll { member in
                if !member.request.sink.isWanted { return true }
                guard isToLeave(member.request.sink) else { return false }
                removed.append((member.request, max(member.sequence, sequence)))
                return true
            }
        }
        return removed
    }
}
