public import Foundation
public import Publishing
import RelayArtifacts
import RelayJSON
@_spi(Rooms) public import RelayStore
import Threads

extension Environment {
    // MARK: Reading

    /// Reads data from the store in its current state. Never fetches.
    public func lookup<T: ReadableRecord>(
        selector: SingularReaderSelector, as type: T.Type = T.self
    ) -> Snapshot<T> {
        // Fragments are read where an operation was.
        if selector.fragment === selector.owner.node.fragment {
            store.noteSchema(of: selector.owner)
        }
        let read = store.lookup(selector.selector)
        log.noteFields(of: read)
        return Snapshot(read, selector)
    }

    /// Reads the data of a fragment.
    public func lookup<F: Fragment>(_ fragment: F) -> Snapshot<F.Data> {
        lookup(selector: fragment.selector)
    }

    /// What a fragment reads, without decoding it into its type. Errors of its fields are not reported to the program.
    func selectorData<F: Fragment>(of fragment: F) -> SelectorData? {
        let selector = fragment.selector
        let read = store.lookup(selector.selector)
        return read.data.map { SelectorData($0, ReadOrigin(owner: selector.owner, read)) }
    }

    /// Follows data in the store: the subscriber gets it whenever it changes, but not its current
    /// value; that is the given snapshot.
    public func subscribe<T: ReadableRecord>(snapshot: Snapshot<T>) -> SnapshotPublisher<T> {
        SnapshotPublisher(store: store, snapshot: snapshot, log: log)
    }

    /// The data of a fragment: its current value, then each change. Never fetches.
    ///
    /// A slow reader sees only the newest state. The sequence starts when it is made, and is for one task.
    public func snapshots<F: Fragment>(of fragment: F) -> AsyncStream<Snapshot<F.Data>> {
        snapshots(of: fragment.selector)
    }

    /// What a selector reads: its current value, then each change. Never fetches.
    public func snapshots<T: ReadableRecord>(
        of selector: SingularReaderSelector, as type: T.Type = T.self
    ) -> AsyncStream<Snapshot<T>> {
        let now: Snapshot<T> = lookup(selector: selector)
        return subscribe(snapshot: now).prepend(now).elements(limit: 1)
    }

    /// Whether everything that an operation selects is in the store. Inside an updater: whether it was before the
    /// updater began; there the fetch time is not given, and anything ever invalidated counts as stale.
    public func check(operation: OperationDescriptor) -> OperationAvailability {
        switch store.check(operation) {
        case .missing: return .missing
        case .stale: return .stale
        case .available(let microseconds):
            return .available(
                microseconds.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) })
        }
    }

    /// Keeps what an operation selects from being collected, until the returned value is cancelled or released.
    public func retain(operation: OperationDescriptor) -> AnyCancellable {
        let retaining = Retaining()
        // Inside an updater, it begins when the updater has ended.
        store.outsideUpdaters { [store] in
            retaining.begin { try? store.retain(operation) }
        }
        return AnyCancellable { retaining.cancel() }
    }

    // MARK: Writing

    /// Changes records of the store without a mutation.
    /// - Throws: what the updater throws; then nothing has changed.
    public func commitUpdate(_ updater: StoreUpdater) throws { try store.commitUpdate(updater) }

    /// Applies a response that did not come from the network.
    ///
    /// - Parameters:
    ///   - operation: what was asked.
    ///   - payload: the response's data.
    public func commitPayload(_ operation: OperationDescriptor, _ payload: [String: Any]) throws {
        let response = JSONValue.object(["data": try JSONValue(any: payload)])
        try store.commitPayload(operation, response.bytes)
    }

    /// Shows a change that is not part of a mutation, until the returned value is cancelled or released.
    ///
    /// - Parameter updater: runs now, and again when a record that it has read changes.
    public func applyUpdate(_ updater: @escaping StoreUpdater) throws -> AnyCancellable {
        let entry = try store.applyUpdate(updater)
        return AnyCancellable { [store] in store.revert(entry) }
    }

    /// Shows a mutation's optimistic update without sending it, until the returned value is cancelled or released.
    public func applyMutation(
        _ operation: OperationDescriptor, optimisticResponse: [String: Any]? = nil,
        optimisticUpdater: SelectorStoreUpdater? = nil
    ) throws -> AnyCancellable {
        try applyMutation(
            operation, optimisticResponse.map(ExpectedAnswer.init), optimisticUpdater)
    }

    func applyMutation(
        _ operation: OperationDescriptor, _ expected: ExpectedAnswer?,
        _ optimisticUpdater: SelectorStoreUpdater?
    ) throws -> AnyCancellable {
        let transactionID = transactions.next()
        let entry = try store.applyMutation(
            operation.rooted(at: DataID("client:root:" + transactionID)),
            optimistic: OptimisticMutation(
                response: try expected.map { try $0.bytes(for: operation) },
                updater: optimisticUpdater.map { selectorUpdater($0, operation.request) }))
        return AnyCancellable { [store] in store.revert(entry) }
    }

    // MARK: Parts

    /// A program's updater in the form the store runs.
    func selectorUpdater(
        _ updater: @escaping SelectorStoreUpdater, _ request: RequestDescriptor
    ) -> SelectorUpdater {
        { source, data in
            let read = data.flatMap { data in
                data.data.map { SelectorData($0, ReadOrigin(owner: request, data)) }
            }
            try updater(&source, read)
        }
    }
}

/// A retention that may begin a little later, unless it is cancelled first.
private final class Retaining: Sendable {
    private let state = Lock<(retention: Retention?, isCancelled: Bool)>((nil, false))

    func begin(_ retain: () -> Retention?) {
        if state.withLock({ $0.isCancelled }) { return }
        let new = retain()
        let isOver = state.withLock { state in
            if !state.isCancelled { state.retention = new }
            return state.isCancelled
        }
        if isOver { new?.cancel() }
    }

    func cancel() {
        let ended = state.withLock { state in
            defer { state = (nil, true) }
            return state.retention
        }
        ended?.cancel()
    }
}

/// Whether an operation's data is in the store.
public enum OperationAvailability: Hashable, Sendable {
    /// All of it; with the time of the fetch, if it was fetched whole.
    case available(Date?)
    /// Some of it was invalidated since, or has expired.
    case stale
    /// Some of it was never fetched, or was collected.
    case missing
}
