import Foundation
import RelayArtifacts
import RelayJSON
import RelayStore

#if canImport(OpenCombine)
    import OpenCombine
#else
    import Combine
#endif

/// Carries out one operation once: asks the network, writes what comes to the store, and says so.
///
/// Order of things for a mutation (Relay's): optimistic response, optimistic updater; the response comes:
/// what was shown goes, the response and the updater's changes come, all in one step. An error, an end
/// without a response and a cancel take back what was shown.
final class OperationExecutor: @unchecked Sendable {
    // Unchecked: the phase is behind the lock; the rest is constant. Updaters are closures of the program
    // that cross to the network's thread once, under the store's writer.

    let environment: Environment
    private let operation: OperationDescriptor
    private let transactionID: String
    private let cacheConfig: CacheConfig
    private let optimistic: OptimisticMutation?
    private let updater: SelectorStoreUpdater?
    private let unfinished: Unfinished?
    private let run: Execution<GraphQLResponse>.Run

    private let lock = NSLock()
    private var phase = Phase.begun
    private var payloadCount = 0
    private var subscription: AnyCancellable?

    /// A mutation that an earlier process began.
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
        /// A mutation that has no answer yet.
        case waiting(OptimisticEntryID)
        /// A mutation that was answered, or an operation that shows nothing before it is.
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
        // Promise 46.
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

    private var request: RequestDescriptor { operation.request }

    /// - Returns: what cancels it.
    func begin() -> AnyCancellable {
        environment.tracker.begin(request)
        note(.executeStart)
        do {
            if let unfinished {
                phase = .waiting(unfinished.entry)
                send()
            } else if operation.kind == .mutation {
                phase = .waiting(try show())
                if optimistic != nil { note(.executeOptimistic) }
                environment.outbox.add(environment.store) { [self] problem in
                    if let problem { failUnkept(problem) } else { send() }
                }
            } else {
                phase = .answered
                send()
            }
        } catch {
            end(.failure(error), reason: "its optimistic update failed")
            return AnyCancellable {}
        }
        return AnyCancellable { [self] in cancel() }
    }

    /// Asks the network, unless nobody waits any longer.
    private func send() {
        var cacheConfig = cacheConfig
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
        let publisher = environment.network.execute(
            request: request.node.params, variables: request.variables, cacheConfig: cacheConfig)
        let subscription = publisher.sink(
            receiveCompletion: { [self] completion in
                // Behind what came before it.
                switch completion {
                case .finished: ResponseBurst.add(.end(self, nil))
                case .failure(let error): ResponseBurst.add(.end(self, error))
                }
            },
            receiveValue: { [self] in receive(Array($0)) })
        lock.withLock { if case .ended = phase {} else { self.subscription = subscription } }
    }

    private func interruptions(of entry: OptimisticEntryID) -> Interruptions {
        // Refused inside an updater only, where no connection ends.
        Interruptions(count: unfinished?.interruptionCount ?? 0) { [store = environment.store] in
            try? store.noteInterruption(of: entry)
        }
    }

    /// The mutation's intent could not be kept.
    private func failUnkept(_ cause: any Error) {
        end(
            .failure(UnkeptMutationError(operation: request.node.params.name, cause: cause)),
            reason: "its intent could not be kept")
    }

    /// The mutation begins in the store, with what it shows.
    private func show() throws -> OptimisticEntryID {
        func apply(_ optimistic: OptimisticMutation?) throws -> OptimisticEntryID {
            try environment.store.applyMutation(
                operation.selector, mutationID: MutationID(transactionID), optimistic: optimistic)
        }
        do {
            return try apply(optimistic)
        } catch is NothingToShow {
            return try apply(nil)
        }
    }

    // MARK: What the network says

    private func receive(_ bytes: [UInt8]) {
        note(.networkNext)
        guard let (entry, operation) = takePayload() else { return }
        guard let entry else { return ResponseBurst.add(.response(self, operation, bytes)) }
        ResponseBurst.flush()
        written(
            bytes, of: operation,
            Result {
                try environment.store.commitResponse(
                    entry, operation.selector, bytes, updater: storeUpdater)
            }, answering: entry)
    }

    /// A response was written to the store, or why it was not.
    /// - Parameter entry: of a mutation that it answers.
    func written(
        _ response: [UInt8], of operation: OperationDescriptor,
        _ result: Result<ResponseSummary, any Error>, answering entry: OptimisticEntryID? = nil
    ) {
        do {
            let summary = try result.get()
            note(.executeNext)
            run.send(GraphQLResponse(response, summary, root: operation.root))
        } catch StoreError.responseWithoutData(let summary) {
            if let isComplete = summary.isResumption {
                if !isComplete { missedEvents() }
                return
            }
            revoke(entry, reason: "the server refused it")
            if summary.errors.isEmpty {
                run.send(GraphQLResponse(response, summary, root: operation.root))
            } else {
                fail(
                    NetworkError(
                        errors: summary.errors.map(GraphQLError.init), operation: request.node,
                        variables: request.variables))
            }
        } catch {
            revoke(entry, reason: "its response could not be applied: \(error)")
            fail(ResponseError(operation: request.node.params.name, cause: error))
        }
    }

    /// The network has nothing more to give, or failed.
    func networkEnded(_ error: (any Error)?) {
        if let error {
            note(.networkError, error)
            end(.failure(error), reason: "the network failed: \(error)")
        } else {
            note(.networkComplete)
            end(.finished, reason: "the network completed without a response")
        }
    }

    /// The server has begun the stream anew, and not where it was.
    private func missedEvents() {
        note(.networkInfo)
        environment.missedEvents()
    }

    /// The entry that a payload answers, and the operation with the root that its payload gets: every
    /// event of a subscription has one of its own, so that none overwrites another.
    private func takePayload() -> (OptimisticEntryID?, OperationDescriptor)? {
        lock.withLock {
            switch phase {
            case .begun, .ended: return nil
            case .waiting(let entry):
                phase = .answered
                return (entry, operation)
            case .answered:
                guard operation.kind == .subscription else { return (nil, operation) }
                payloadCount += 1
                return (
                    nil,
                    operation.rooted(at: DataID("client:root:\(transactionID):\(payloadCount)"))
                )
            }
        }
    }

    /// The program's updater, as the store runs it.
    var storeUpdater: SelectorUpdater? {
        updater.map { environment.selectorUpdater($0, request) }
    }

    // MARK: Ends

    private func fail(_ error: any Error) {
        end(.failure(error), reason: "\(error)")?.cancel()
    }

    /// - Returns: the subscription to the network, for whoever ends it early.
    @discardableResult
    private func end(
        _ completion: Subscribers.Completion<any Error>, reason: String
    ) -> AnyCancellable? {
        guard let (entry, subscription) = finish() else { return nil }
        revoke(entry, reason: reason)
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

    /// - Returns: nil if it has ended before.
    private func finish() -> (OptimisticEntryID?, AnyCancellable?)? {
        let result = lock.withLock { () -> (OptimisticEntryID?, AnyCancellable?)? in
            defer {
                phase = .ended
                subscription = nil
            }
            switch phase {
            case .ended: return nil
            case .waiting(let entry): return (entry, subscription)
            case .begun, .answered: return (nil, subscription)
            }
        }
        if result != nil { environment.tracker.end(request) }
        return result
    }

    private func revoke(_ entry: OptimisticEntryID?, reason: String) {
        guard let entry else { return }
        do {
            try environment.store.revoke(entry, reason: reason)
        } catch {
            // Only an updater that cancels its own mutation while it runs comes here.
            note(.executeError, error)
        }
    }

    private func note(_ name: ExecutionEvent.Name, _ error: (any Error)? = nil) {
        environment.log.note(
            ExecutionEvent(
                name, transactionID: transactionID, operation: request.node.params.name,
                error: error))
    }
}

extension ResponseSummary {
    /// Of a message that says how a stream goes on (`{"data": null, "extensions": {"relay": {"recovered":
    /// …}}}`) and is no response: whether nothing is missing.
    fileprivate var isResumption: Bool? {
        errors.isEmpty ? extensions?["relay"]?["recovered"]?.bool : nil
    }
}

extension OperationDescriptor {
    var kind: OperationKind { request.node.params.operationKind }
}
