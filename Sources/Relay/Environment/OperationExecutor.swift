import Foundation
import Publishing
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore

/// A variable of an operation is NaN or infinity, or contains such a number. JSON has neither: it would be
/// sent as null.
public struct NonFiniteVariableError: SentenceError, Hashable, Sendable {
    /// The operation's name.
    public var operation: String

    public var errorDescription: String? {
        "\(operation) was not sent: a variable holds NaN or infinity, which JSON cannot express."
    }
}

/// Carries out one operation once: calls the network, writes responses to the store, and reports them.
///
/// The steps of a mutation (Relay's): optimistic response, optimistic updater; then, when the response
/// arrives, the optimistic changes go and the response and the updater's changes come, all in one step.
/// An error, an end without a response or a cancellation rolls back the optimistic changes.
final class OperationExecutor: @unchecked Sendable {
    // Unchecked: the phase is behind the lock; the rest is constant. Updaters are closures of the program
    // that cross to the network's thread once, under the store's writer.

    let environment: Environment
    let operation: OperationDescriptor
    private let transactionID: String
    /// The server's name for a mutation: the transaction's name, if it has that form.
    private let mutationID: MutationID?
    private let cacheConfig: CacheConfig
    private let optimistic: OptimisticMutation?
    private let updater: SelectorStoreUpdater?
    let unfinished: Unfinished?
    let run: Execution<GraphQLResponse>.Run

    let lock = NSLock()
    private var phase = Phase.begun
    /// For a mutation of this process.
    private var place: Outbox.Place?
    private var isShown = false
    private var eventCount = 0
    /// The environment's tracker knows that it has had a whole response.
    private var isNotedAnswered = false
    /// A response with more parts to come (`@defer`, `@stream`); they need its records.
    var partial: WrittenResponse?
    /// The errors of a response with more parts to come.
    var partialErrors: [JSONValue] = []
    let parts = ResponseParts()
    /// For a stream: whether it has had a response, so that the server has not refused it as a whole.
    var isUnderWay = false
    /// A second response has begun, and is no part of the first: also its parts are of a stream.
    var hasSecondResult = false
    /// A refusal that the server sent in place of a later response, with nothing after it: if the stream ends now, this
    /// is why.
    var lastRefusal: NetworkError?
    private var subscription: AnyCancellable?

    /// A mutation that an earlier process started.
    struct Unfinished {
        let entry: OptimisticEntryID
        /// How often it was interrupted before.
        let interruptionCount: UInt64

        init(_ entry: OptimisticEntryID, _ interruptionCount: UInt64) {
            self.entry = entry
            self.interruptionCount = interruptionCount
        }
    }

    private enum Phase {
        case begun
        /// A mutation without an answer so far.
        case waiting(OptimisticEntryID)
        /// A mutation that was answered, or an operation without an optimistic update.
        case answered
        case ended
    }

    init(
        _ environment: Environment, _ operation: OperationDescriptor, _ cacheConfig: CacheConfig,
        optimistic: OptimisticMutation? = nil, updater: SelectorStoreUpdater? = nil,
        unfinished: Unfinished? = nil, run: Execution<GraphQLResponse>.Run
    ) {
        let transactionID = cacheConfig.transactionID ?? environment.transactions.next()
        var cacheConfig = cacheConfig
        cacheConfig.transactionID = transactionID
        mutationID =
            operation.kind == .mutation
            ? MutationID(transactionID) ?? MutationID(environment.transactions.next()) : nil
        cacheConfig.mutationID = mutationID.map { "\($0)" }
        // A mutation is never answered from a cache.
        if operation.kind == .mutation { cacheConfig.force = true }
        self.environment = environment
        self.operation =
            operation.kind == .mutation
            ? operation.rooted(at: DataID("client:root:" + transactionID)) : operation
        self.transactionID = transactionID
        self.cacheConfig = cacheConfig
        self.optimistic = optimistic
        self.updater = updater
        self.unfinished = unfinished
        self.run = run
    }

    var request: RequestDescriptor { operation.request }

    /// - Returns: what cancels it.
    func begin() -> AnyCancellable {
        environment.tracker.begin(request)
        environment.store.noteSchema(of: request)
        note(.executeStart)
        do {
            guard JSONValue.object(request.variables.json).isFinite else {
                throw NonFiniteVariableError(operation: request.node.params.name)
            }
            if let unfinished {
                enter(.waiting(unfinished.entry))
                send()
            } else if operation.kind == .mutation {
                try show()
                noteShown()
                // Its own updater may have cancelled it.
                if !run.isWanted { cancel() }
                environment.store.tellOfDurability()
            } else {
                enter(.answered)
                send()
            }
        } catch {
            end(.failure(error), reason: "its optimistic update failed")
            return AnyCancellable {}
        }
        return AnyCancellable { [self] in cancel() }
    }

    private func enter(_ first: Phase) { lock.withLock { phase = first } }

    /// Calls the network, unless the operation was cancelled.
    private func send() {
        var cacheConfig = cacheConfig
        cacheConfig.patchable = request.node.patchable
        let isOver = lock.withLock {
            switch phase {
            case .ended: return true
            case .waiting(let entry): cacheConfig.interruptions = interruptions(of: entry)
            case .begun, .answered: break
            }
            return false
        }
        if isOver { return }
        note(.networkStart)
        let publisher = environment.network.responses(
            to: request.node.params, request.variables, cacheConfig)
        let subscription = publisher.sink(
            receiveCompletion: { [self] completion in
                // After everything that came before it.
                switch completion {
                case .finished: ResponseBurst.add(.end(self, nil))
                case .failure(let error): ResponseBurst.add(.end(self, error))
                }
            },
            receiveValue: { [self] in receive($0) })
        lock.withLock { if case .ended = phase {} else { self.subscription = subscription } }
    }

    private func interruptions(of entry: OptimisticEntryID) -> Interruptions {
        // Refused only inside an updater, where no connection ends.
        Interruptions(
            count: unfinished?.interruptionCount ?? 0, isResumed: unfinished != nil
        ) { [weak store = environment.store] in
            try? store?.noteInterruption(of: entry)
        }
    }

    /// The mutation starts in the store with its optimistic update, and gets its place in the outbox: a mutation
    /// started in reaction to it is sent after it.
    private func show() throws {
        let outbox = environment.outbox
        let place = outbox.makePlace { [self] refusal in
            noteShown()
            if let refusal { failUnsent(refusal) } else if run.isWanted { send() }
        }
        guard let place else {
            throw TooManyMutationsError(operation: request.node.params.name, limit: outbox.limit)
        }
        lock.withLock { self.place = place }
        func apply(_ optimistic: OptimisticMutation?) throws {
            _ = try environment.store.applyMutation(
                operation, mutationID: mutationID, optimistic: optimistic
            ) { entry in
                enter(.waiting(entry))
                outbox.enter(place, environment.store)
            }
        }
        do {
            try apply(optimistic)
        } catch is NothingToShow {
            try apply(nil)
        }
    }

    /// Reports the optimistic update, once, even if the mutation is sent before all readers are notified.
    private func noteShown() {
        let isNew = lock.withLock {
            defer { isShown = true }
            return !isShown
        }
        if isNew, optimistic != nil { note(.executeOptimistic) }
    }

    private func failUnsent(_ cause: any Error) {
        let name = request.node.params.name
        end(
            .failure(UnkeptMutationError(operation: name, cause: cause)),
            reason: "its intent could not be kept")
    }

    // MARK: What the network reports

    private func receive(_ bytes: [UInt8]) {
        note(.networkNext)
        // All that a query's parts differ in is that the updater does not run.
        let isPart =
            (operation.kind != .query || updater != nil) && ResponseSummary.isPart(bytes)
        guard let (entry, operation) = takePayload(isPart: isPart) else { return }
        guard let entry else {
            if ResponseSummary.isGapNotice(bytes) { return missedEvents() }
            return ResponseBurst.add(.response(self, operation, bytes, isPart: isPart))
        }
        ResponseBurst.flush()
        written(
            bytes,
            Result {
                try environment.store.commitResponse(
                    entry, operation, bytes, updater: storeUpdater, parts: parts)
            }, answering: entry)
    }

    /// The entry that a payload answers, and the operation with the payload's root: every subscription event has
    /// a root of its own, so that none overwrites another. A part of an event goes where the event went.
    private func takePayload(isPart: Bool) -> (OptimisticEntryID?, OperationDescriptor)? {
        lock.withLock {
            switch phase {
            case .begun, .ended: return nil
            case .waiting(let entry):
                phase = .answered
                return (entry, operation)
            case .answered:
                guard operation.kind == .subscription else { return (nil, operation) }
                if !isPart { eventCount += 1 }
                return (
                    nil,
                    operation.rooted(at: DataID("client:root:\(transactionID):\(eventCount)"))
                )
            }
        }
    }

    /// The program's updater in the form the store runs.
    var storeUpdater: SelectorUpdater? {
        updater.map { environment.selectorUpdater($0, request) }
    }

    /// A query has had a whole response.
    func noteAnswered() {
        lock.withLock {
            if case .ended = phase { return }
            if !isNotedAnswered { environment.tracker.noteAnswered(request) }
            isNotedAnswered = true
        }
    }

    /// A result has come of which the server says what is not confirmed.
    func noteOthers(_ summary: ResponseSummary) {
        if summary.isPart { return }
        lock.withLock {
            if case .ended = phase { return }
            environment.others.note(
                summary.extensions?["relay"]?["optimisticRecords"], of: self)
        }
    }

    // MARK: Ends

    func fail(_ error: any Error) {
        end(.failure(error), reason: "\(error)")?.cancel()
    }

    /// - Parameter revokes: whether an unanswered mutation is over. If not, it stays in the store, to be
    ///   resent later.
    /// - Returns: the subscription to the network, for ending it early.
    @discardableResult
    func end(
        _ completion: Subscribers.Completion<any Error>, reason: String, revokes: Bool = true
    ) -> AnyCancellable? {
        guard let (entry, subscription) = finish() else { return nil }
        if revokes { revoke(entry, reason: reason) }
        switch completion {
        case .finished: note(.executeComplete)
        case .failure(let error): note(.executeError, error)
        }
        run.complete(completion)
        return subscription
    }

    private func cancel() {
        guard let (entry, subscription) = finish() else { return }
        note(.networkUnsubscribe)
        subscription?.cancel()
        revoke(entry, reason: "cancelled")
    }

    /// - Returns: nil if it had ended already.
    private func finish() -> (OptimisticEntryID?, AnyCancellable?)? {
        typealias Held = (
            entry: OptimisticEntryID?, subscription: AnyCancellable?, place: Outbox.Place?,
            wasAnswered: Bool
        )
        let held = lock.withLock { () -> Held? in
            defer {
                phase = .ended
                partial = nil
                subscription = nil
                place = nil
            }
            switch phase {
            case .ended: return nil
            case .waiting(let entry): return (entry, subscription, place, isNotedAnswered)
            case .begun, .answered: return (nil, subscription, place, isNotedAnswered)
            }
        }
        guard let held else { return nil }
        parts.end()
        if let place = held.place { environment.outbox.leave(place) }
        environment.tracker.end(request, wasAnswered: held.wasAnswered)
        environment.others.end(self)
        return (held.entry, held.subscription)
    }

    func revoke(_ entry: OptimisticEntryID?, reason: String) {
        if let entry { environment.store.revoke(entry, reason: reason) }
    }

    func note(_ name: ExecutionEvent.Name, _ error: (any Error)? = nil) {
        environment.log.note(
            ExecutionEvent(
                name, transactionID: transactionID, operation: request.node.params.name,
                error: error))
    }
}

extension OperationDescriptor {
    var kind: OperationKind { request.node.params.operationKind }
}
