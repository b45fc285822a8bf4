import RelayArtifacts
import RelayNormalization
@_spi(Rooms) import RelayRecords
import Synchronization

extension Store {
    // MARK: Availability

    /// Whether an operation can be answered from the store. Links that missing-field handlers find are written on the
    /// way.
    ///
    /// Inside an updater: from the state before the updater began. When it was fetched is not known there, so anything
    /// that was ever invalidated counts as stale, and nothing is written.
    package func check(_ operation: OperationDescriptor) -> Availability {
        let now = try? write { writer, outcome -> Availability in
            let plan = writer.plans.plan(operation, symbols)
            let head = writer.state.head
            var check = AvailabilityCheck(head, handlers: options.missingFieldHandlers)
            check.check(symbols.record(operation.root.rawValue), plan)
            if !check.found.isEmpty { writeFound(check, &writer, &outcome) }
            let root = writer.operations[operation]
            if isStale(root, check.invalidatedAt) { return .stale }
            return check.isMissing
                ? .missing : .available(fetchedMicroseconds: root?.fetchedMicroseconds)
        }
        // Only a write inside a write is refused.
        return now ?? checkPublished(operation)
    }

    private func checkPublished(_ operation: OperationDescriptor) -> Availability {
        let published = published
        return withExtendedLifetime(published) {
            guard let root = symbols.findRecord(operation.root.rawValue) else { return .missing }
            // As in ``plan(_:)``: the writer keeps its plans to itself.
            let plan = NormalizationPlan(
                operation.request.node.operation, variables: operation.request.variables,
                symbols: symbols)
            // What handlers find would have to be written.
            var check = AvailabilityCheck(published.snapshot, handlers: [])
            check.check(root, plan)
            if check.invalidatedAt != nil { return .stale }
            return check.isMissing ? .missing : .available(fetchedMicroseconds: nil)
        }
    }

    private func isStale(_ root: RetainedOperations.Root?, _ invalidatedAt: Int64?) -> Bool {
        if let invalidatedAt, Int64(root?.fetchedAt ?? 0) <= invalidatedAt { return true }
        guard let limit = options.queryExpirationMicroseconds,
            let fetched = root?.fetchedMicroseconds
        else { return false }
        return options.now() - fetched > limit
    }

    private func writeFound(
        _ check: AvailabilityCheck, _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        var draft = writer.state.draft()
        for (record, key, link) in check.found {
            guard let type = draft.snapshot.type(of: record) else { continue }
            draft.write(
                DataID(symbols.idString(record)), type: symbols.nameString(type),
                fields: [(symbols.nameString(key), .link(DataID(symbols.idString(link))))])
        }
        if !draft.changes.isEmpty { commit("missingFieldHandlers", draft, &writer, &outcome) }
    }

    func noteFetched(_ operation: OperationDescriptor, _ writer: inout Writer) {
        let isGarbage = writer.operations.noteFetched(
            operation, at: writer.state.confirmed.sequence, microseconds: options.now(),
            bufferSize: options.releaseBufferSize,
            recordCount: writer.state.confirmed.recordCount)
        tellCollection(of: operation, &writer)
        if isGarbage { scheduleCollection() }
    }

    /// Tells a collection in progress about an operation that is kept, and may not have been when it began.
    private func tellCollection(of operation: OperationDescriptor, _ writer: inout Writer) {
        guard writer.collection != nil, writer.operations[operation] != nil else { return }
        let plan = writer.plans.plan(operation, symbols)
        writer.collection?.keep(symbols.record(operation.root.rawValue), plan)
    }

    /// Keeps the records of an operation from being collected while a response is on its way to the code that asked for
    /// it.
    func hold(_ operation: OperationDescriptor, _ writer: inout Writer) -> Retention {
        // If it is kept anyway, a collection already knows about it.
        let isKept = writer.operations[operation]?.isKept ?? false
        writer.operations.hold(operation)
        if !isKept { tellCollection(of: operation, &writer) }
        // A response may be released anywhere, under any lock.
        return Retention { [weak self] in
            self?.withNextWrite { writer, _, store in
                if writer.operations.endHold(of: operation) { store.scheduleCollection() }
            }
        }
    }

    // MARK: Retaining

    /// Keeps the records of an operation until the token is cancelled or released.
    package func retain(_ operation: OperationDescriptor) throws -> Retention {
        noteSchema(of: operation.request)
        return try write { writer, _ in
            writer.operations.retain(operation)
            tellCollection(of: operation, &writer)
            return Retention { [weak self] in self?.release(operation) }
        }
    }

    /// The queries retained at the moment, and how often each is retained.
    package var retainedQueries: [(operation: OperationDescriptor, holders: Int)] {
        get throws {
            try write { writer, _ in
                writer.operations.roots.compactMap { operation, root in
                    root.holders > 0 && operation.request.node.params.operationKind == .query
                        ? (operation: operation, holders: root.holders) : nil
                }
            }
        }
    }

    /// Keeps the records of an operation from being collected until the token is cancelled or released, for a reader
    /// that may retain it next.
    package func hold(_ operation: OperationDescriptor) throws -> Retention {
        noteSchema(of: operation.request)
        return try write { writer, _ in hold(operation, &writer) }
    }

    private func release(_ operation: OperationDescriptor) {
        afterwards { [options] writer, _, store in
            let root = writer.operations[operation]
            let isGarbage = writer.operations.release(
                operation, bufferSize: options.releaseBufferSize,
                isStale: store.isStale(root, nil))
            if isGarbage { store.scheduleCollection() }
        }
    }

    // MARK: Garbage collection

    /// Schedules a garbage collection with `StoreOptions.schedule`. May be called under any lock.
    package func scheduleCollection() {
        if isCollectionScheduled.exchange(true, ordering: .relaxed) { return }
        options.schedule { [weak self] in self?.collectGarbage() }
    }

    /// Drops all records that no retained operation, reader or optimistic entry can reach.
    ///
    /// Works in slices: others may read and write in between, and nobody waits longer than one slice.
    package func collectGarbage() {
        isCollectionScheduled.store(false, ordering: .relaxed)
        if isCollectionHeld { return }
        guard (try? write { writer, _ in beginCollection(&writer) }) ?? false else { return }
        if !observers.isEmpty { observers.tell(.collectionStarted) }
        let before = snapshot.recordCount
        while (try? write { writer, outcome in advanceCollection(&writer, &outcome) }) ?? false {}
        if (try? write { writer, _ in writer.symbols.isDue(symbols) }) ?? false { collectSymbols() }
        if !observers.isEmpty {
            observers.tell(.collectionEnded(records: max(0, before - snapshot.recordCount)))
        }
    }

    /// - Returns: false if one is in progress already; another then follows it, because this one may keep what has
    ///   become garbage since it began.
    func beginCollection(_ writer: inout Writer) -> Bool {
        guard writer.collection == nil else {
            writer.collectsAgain = true
            return false
        }
        var collection = GarbageCollection(writer.state.confirmed)
        for operation in writer.operations.roots.keys {
            collection.keep(
                symbols.record(operation.root.rawValue), writer.plans.plan(operation, symbols))
        }
        writer.subscriptions.index.forEachRecord { collection.keep($0) }
        for entry in writer.state.entries {
            collection.touch(entry.touched)
            for record in entry.looked { collection.keep(record) }
        }
        writer.collection = collection
        return true
    }

    /// - Returns: false when all is done.
    func advanceCollection(_ writer: inout Writer, _ outcome: inout Outcome) -> Bool {
        let states = (writer.state.confirmed, writer.state.head)
        switch writer.collection?.advance(states, size: options.collectionSlice) {
        case .marking?: return true
        case .sweeping(let garbage)?:
            forget(garbage, &writer, &outcome)
            return true
        case .pruning(let kept)?:
            prune(kept, &writer, &outcome)
            return true
        case .done?, nil:
            writer.collection = nil
            if writer.collectsAgain {
                writer.collectsAgain = false
                scheduleCollection()
            }
            let confirmed = writer.state.confirmed
            writer.ownFields = writer.ownFields.filter {
                confirmed.row($0.record)?.slot(of: $0.key) != nil
            }
            return false
        }
    }

    private func forget(
        _ garbage: [RecordIndex], _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        // An entry may have begun, or run again, since marking.
        let garbage = garbage.filter { !writer.state.entries.isLookedAt($0) }
        if garbage.isEmpty { return }
        collect(&writer, &outcome) { draft in
            for record in garbage { draft.forget(DataID(symbols.idString(record))) }
        }
    }

    /// Unsets fields with arguments that are not selected, not read and not made by an updater.
    /// - Parameter kept: the records, all of them wide, with the fields that operations select.
    private func prune(
        _ kept: [RecordIndex: Set<NameIndex>], _ writer: inout Writer, _ outcome: inout Outcome
    ) {
        let confirmed = writer.state.confirmed
        var gone: [(record: RecordIndex, keys: [NameIndex])] = []
        // In a fixed order, because it goes into a log.
        for (record, kept) in kept.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !writer.state.entries.isLookedAt(record) {
            guard let row = confirmed.row(record) else { continue }
            let keys = (0..<row.slotCount).compactMap { slot -> NameIndex? in
                let key = row.shape.keys[slot]
                guard row.tag(slot) != .absent, symbols.hasArguments(key) else { return nil }
                // Errors of a list's elements stay as long as the list does.
                let field = symbols.list(withElementErrors: key) ?? key
                let isNeeded =
                    kept.contains(field)
                    || writer.ownFields.contains(.init(record: record, key: field))
                    || writer.subscriptions.index.isRead(field, of: record)
                return isNeeded ? nil : key
            }
            if !keys.isEmpty { gone.append((record, keys)) }
        }
        if gone.isEmpty { return }
        collect(&writer, &outcome) { draft in
            for (record, keys) in gone {
                guard let type = draft.snapshot.type(of: record) else { continue }
                draft.write(
                    DataID(symbols.idString(record)), type: symbols.nameString(type),
                    fields: keys.map { (symbols.nameString($0), .unset) })
            }
        }
    }

    /// No entry looks at what is written, so no updater runs.
    private func collect(
        _ writer: inout Writer, _ outcome: inout Outcome, _ write: (inout Draft) -> Void
    ) {
        let sequence = writer.state.confirmed.sequence
        var draft = writer.state.draft()
        write(&draft)
        let step = writer.state.update("gc", draft)
        finish(step, from: sequence, isCollection: true, &writer, &outcome)
    }
}

/// Holds something until it is cancelled or released.
package final class Retention: Sendable {
    private let isCancelled = Atomic(false)
    private let end: @Sendable () -> Void

    package init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { cancel() }

    /// May be called anywhere, more than once.
    package func cancel() {
        if !isCancelled.exchange(true, ordering: .acquiringAndReleasing) { end() }
    }
}
