import RelayJSON
@_spi(Rooms) public import RelayStore
import Threads

/// Which records live results show as mutations that wait at the server are expected to leave them, by the execution
/// whose last result says so. A server names at most ``limit`` for a result; of one that names more it is not known which
/// they are.
final class OthersRecords: Sendable {
    private struct State {
        var records: [ObjectIdentifier: Set<DataID>] = [:]
        var listeners: [Int: @Sendable () -> Void] = [:]
        var listenerCount = 0
    }

    private let state = Lock(State())
    static let limit = 1_000

    /// The records of all last results.
    var all: Set<DataID> {
        state.withLock { state in
            state.records.values.reduce(into: []) { $0.formUnion($1) }
        }
    }

    /// An execution has another result, whose data the store is about to publish.
    /// - Parameter ids: as the result names them; nil: all of it is confirmed.
    func note(_ ids: JSONValue?, of execution: OperationExecutor) {
        let ids = ids?.array ?? []
        let records: Set<DataID> =
            ids.count > Self.limit ? [] : Set(ids.lazy.compactMap(\.string).map { DataID($0) })
        state.withLock {
            $0.records[ObjectIdentifier(execution)] = records.isEmpty ? nil : records
        }
    }

    /// An execution has ended: nobody says any more what is confirmed of its last result.
    func end(_ execution: OperationExecutor) {
        let listeners = state.withLock { state in
            state.records.removeValue(forKey: ObjectIdentifier(execution)) == nil
                ? [] : Array(state.listeners.values)
        }
        for listener in listeners { listener() }
    }

    /// - Parameter tell: called when records are named no more without a commit of the store.
    func observe(_ tell: @escaping @Sendable () -> Void) -> Retention {
        let number = state.withLock { state in
            state.listenerCount += 1
            state.listeners[state.listenerCount] = tell
            return state.listenerCount
        }
        return Retention { [weak self] in
            self?.state.withLock { $0.listeners[number] = nil }
        }
    }
}

extension Environment {
    /// The records that live results show otherwise than the server has confirmed them, or that it has not confirmed at all:
    /// what mutations of others, which wait at the server, are expected to do (`RelayMetadata.showsOptimistic` of
    /// `RelayNetwork`). What an ``OptimisticEntry`` of this environment changes is not among them. Does not wait for
    /// anything.
    ///
    /// A record is there from the commit that shows it until the one that shows what became of it, or until the operation
    /// ends. It is not kept on disk.
    public var othersOptimisticRecords: Set<DataID> {
        var records = others.all
        if records.isEmpty { return records }
        for mutation in store.snapshot.pending {
            for id in mutation.intent.optimistic?.recordIDs ?? [] { records.remove(DataID(id)) }
        }
        return records
    }

    /// Reports that there are fewer ``othersOptimisticRecords`` without a commit, until the token is cancelled.
    package func observeOthersRecords(_ tell: @escaping @Sendable () -> Void) -> Retention {
        others.observe(tell)
    }
}
