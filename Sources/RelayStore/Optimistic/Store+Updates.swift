import RelayArtifacts
import RelayJSON
package import RelayNormalization
@_spi(Rooms) public import RelayRecords

/// An operation's updater: it gets the records and the data of its response.
package typealias SelectorUpdater =
    (inout any RecordSourceSelectorProxy, SelectorSnapshot?) throws -> Void
/// Changes records of the store. If it throws, they stay as they were.
public typealias StoreUpdater = (inout any RecordSourceProxy) throws -> Void

/// What a mutation expects to happen.
package struct OptimisticMutation {
    /// A response as the server would send it: `{"data": …}`.
    package var response: [UInt8]?
    package var updater: SelectorUpdater?

    package init(response: [UInt8]? = nil, updater: SelectorUpdater? = nil) {
        self.response = response
        self.updater = updater
    }
}

extension Store {
    // MARK: Confirmed

    /// Changes confirmed records without a mutation.
    /// - Throws: what the updater throws, or ``StoreError``; nothing has changed then.
    package func commitUpdate(_ updater: StoreUpdater) throws {
        try write { writer, outcome in
            var draft = writer.state.draft()
            try draft.run(updater)
            commit("commitUpdate", draft, &writer, &outcome)
        }
    }

    /// Takes in a response that belongs to no mutation: of a query, of a subscription, from a cache.
    /// - Returns: what the response contains besides its data.
    /// - Throws: ``StoreError/responseWithoutData(_:)`` if there is none, `JSONError`, or what the updater throws;
    ///   nothing has changed then.
    @discardableResult
    package func commitPayload(
        _ operation: OperationDescriptor, _ response: [UInt8], updater: SelectorUpdater? = nil
    ) throws -> ResponseSummary {
        try write { writer, outcome in
            var draft = writer.state.draft()
            let (summary, state) = try normalize(response, operation, &draft, &writer)
            if let updater {
                try run(updater, of: operation, read(operation, state), &draft, &writer)
            }
            commit("commitPayload", draft, &writer, &outcome)
            noteFetched(operation, &writer)
            return summary
        }
    }

    // MARK: Optimistic

    /// Shows a change until it is reverted.
    package func applyUpdate(
        name: String = "applyUpdate", _ updater: @escaping StoreUpdater
    ) throws -> OptimisticEntryID {
        try begin(
            MutationIntent(field: name, arguments: [:]),
            OptimisticUpdate { try $0.run(updater, isOptimistic: true) })
    }

    /// Reverts an optimistic update. No effect if it has ended.
    package func revert(_ entry: OptimisticEntryID) { revoke(entry, reason: "reverted") }

    /// Begins a mutation. What it expects is visible until it is answered or revoked.
    /// - Parameters:
    ///   - optimistic: nil: nothing is shown.
    ///   - begun: called once the mutation has begun, by the single writer and before any notification: so in the order
    ///     in which mutations begin. It must not call the store, except for ``awaitDurability(waitsOutRefusals:_:)``.
    package func applyMutation(
        _ operation: OperationDescriptor, mutationID: MutationID? = nil,
        optimistic: OptimisticMutation? = nil, begun: (OptimisticEntryID) -> Void = { _ in }
    ) throws -> OptimisticEntryID {
        let intent = MutationIntent(
            operationName: operation.request.node.params.name,
            field: operation.request.node.params.name,
            arguments: .object(operation.request.variables.json), mutationID: mutationID)
        guard let optimistic else { return try begin(intent, .none, begun) }
        // As in ``plan(_:)``.
        let plan = withExtendedLifetime(published) {
            NormalizationPlan(
                operation.request.node.operation, variables: operation.request.variables,
                symbols: symbols)
        }
        let handlers = handlers
        return try begin(
            intent,
            OptimisticUpdate { [weak self] draft in
                var data: SelectorSnapshot?
                if let response = optimistic.response {
                    let summary = try response.withUnsafeBytes {
                        try draft.normalize(
                            $0, plan, root: operation.root, handlers: handlers, isOptimistic: true
                        ) {
                            data = self?.read(operation, $0)
                        }
                    }
                    guard summary.hasData, summary.errors.isEmpty else {
                        throw StoreError.unfitOptimisticResponse(summary)
                    }
                    for seen in data?.seen ?? [] { draft.look(at: seen.record) }
                }
                if let updater = optimistic.updater {
                    try draft.run(updater, data, plan, root: operation.root, isOptimistic: true)
                }
            }, begun)
    }

    /// Answers a mutation: what it showed goes and the response arrives, in one step and one notification.
    /// - Throws: as ``commitPayload(_:_:updater:)``; the mutation must then still be revoked.
    @discardableResult
    package func commitResponse(
        _ entry: OptimisticEntryID, _ operation: OperationDescriptor, _ response: [UInt8],
        updater: SelectorUpdater? = nil, parts: ResponseParts? = nil
    ) throws -> WrittenResponse {
        try write { writer, outcome in
            let sequence = writer.state.confirmed.sequence
            var draft = writer.state.draft()
            let taken = try take(
                ArrivedPayload(operation, response, updater: updater, parts: parts), into: &draft,
                &writer, &outcome)
            guard let step = writer.state.respond(entry, draft) else {
                throw StoreError.entryHasEnded
            }
            writer.ownFields.formUnion(draft.ownFields)
            finish(step, from: sequence, &writer, &outcome)
            return written(taken, &writer)
        }
    }

    /// Ends a mutation without an answer: error, cancel, timeout, disconnect. No effect if it has ended. Inside an
    /// updater, even the mutation's own, it ends once the updater's commit is done.
    /// - Parameter reason: for people who read the log.
    package func revoke(_ entry: OptimisticEntryID, reason: String) {
        let revoke: Task = { writer, outcome, store in
            let sequence = writer.state.confirmed.sequence
            guard let step = writer.state.revoke(entry, reason: reason) else { return }
            store.finish(step, from: sequence, &writer, &outcome)
        }
        if isWritingHere { return afterwards(revoke) }
        // Only a write inside a write is refused.
        try? write { writer, outcome in revoke(&writer, &outcome, self) }
    }

    /// The connection that a mutation was sent over ended before its answer came. The number of times this has happened
    /// is kept with the mutation. No effect if it has ended.
    package func noteInterruption(of entry: OptimisticEntryID) throws {
        try write { writer, outcome in
            let sequence = writer.state.confirmed.sequence
            guard let step = writer.state.interrupt(entry) else { return }
            finish(step, from: sequence, &writer, &outcome)
        }
    }

    /// Whether a mutation has begun and not ended. True inside an updater, where this cannot be known.
    package func isPending(_ entry: OptimisticEntryID) -> Bool {
        (try? write { writer, _ in writer.state.entries[entry] != nil }) ?? true
    }

    /// The mutations that have begun and not ended, oldest first; after a restart this includes those of the previous
    /// process.
    package var pendingMutations: [(entry: OptimisticEntryID, mutation: PendingMutation)] {
        get throws {
            try write { writer, _ in
                zip(writer.state.entries, writer.state.confirmed.pending).map { ($0.id, $1) }
            }
        }
    }

    /// The pending mutations left by the previous process, oldest first.
    package var unfinishedMutations: [(entry: OptimisticEntryID, mutation: PendingMutation)] {
        get throws {
            try write { writer, _ in
                let state = writer.state
                return zip(state.entries, state.confirmed.pending)
                    .filter { state.isRestored($0.0.id) }.map { ($0.id, $1) }
            }
        }
    }

    private func begin(
        _ intent: MutationIntent, _ update: OptimisticUpdate,
        _ begun: (OptimisticEntryID) -> Void = { _ in }
    ) throws -> OptimisticEntryID {
        try write { writer, outcome in
            let sequence = writer.state.confirmed.sequence
            let (id, step) = try writer.state.begin(intent, update)
            finish(step, from: sequence, &writer, &outcome)
            begun(id)
            return id
        }
    }

    // MARK: Parts

    func commit(
        _ name: String, _ draft: Draft, _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        let sequence = writer.state.confirmed.sequence
        let step = writer.state.update(name, draft)
        writer.ownFields.formUnion(draft.ownFields)
        finish(step, from: sequence, &writer, &outcome)
    }

    /// Writes a response's data to a draft, and runs the handlers of its fields.
    /// - Returns: also the state that the operation reads the response from.
    func normalize(
        _ response: [UInt8], _ operation: OperationDescriptor, _ draft: inout Draft,
        _ writer: inout Writer, of parted: PartedResponse? = nil
    ) throws -> (summary: ResponseSummary, state: Snapshot) {
        let plan = writer.plans.plan(operation, symbols)
        let handlers = handlers
        var state = draft.snapshot
        let summary = try response.withUnsafeBytes {
            try draft.normalize(
                $0, plan, root: operation.root, handlers: handlers, response: parted, places: nil
            ) { state = $0 }.summary
        }
        guard summary.hasData else { throw StoreError.responseWithoutData(summary) }
        return (summary, state)
    }

    /// Runs an operation's updater on a draft that has the response.
    /// - Parameter reading: what the operation reads from it.
    func run(
        _ updater: SelectorUpdater, of operation: OperationDescriptor, _ reading: SelectorSnapshot,
        _ draft: inout Draft, _ writer: inout Writer
    ) throws {
        let plan = writer.plans.plan(operation, symbols)
        try draft.run(updater, reading, plan, root: operation.root)
    }

    /// What an operation reads from a state.
    func read(_ operation: OperationDescriptor, _ snapshot: Snapshot) -> SelectorSnapshot {
        let selector = ReaderSelector(operation)
        return snapshot.read(selector, plan(selector))
    }
}

extension Draft {
    /// Runs an updater; what it did wrong without throwing is thrown here. The draft is then half written, and still
    /// knows what was looked at.
    fileprivate mutating func run(_ updater: StoreUpdater, isOptimistic: Bool = false) throws {
        let proxy = DraftProxy(
            give(), connections: EdgeConnections(), isOptimistic: isOptimistic, isUpdater: true)
        defer { self = proxy.end() }
        var source: any RecordSourceProxy = proxy
        try updater(&source)
        if let failure = proxy.failure { throw failure }
    }

    fileprivate mutating func run(
        _ updater: SelectorUpdater, _ data: SelectorSnapshot?, _ plan: NormalizationPlan,
        root: DataID, isOptimistic: Bool = false
    ) throws {
        let proxy = DraftProxy(
            give(), connections: EdgeConnections(), isOptimistic: isOptimistic, operationRoot: root,
            isUpdater: true, rootKey: plan.rootKey)
        defer { self = proxy.end() }
        var source: any RecordSourceSelectorProxy = proxy
        try updater(&source, data)
        if let failure = proxy.failure { throw failure }
    }
}
