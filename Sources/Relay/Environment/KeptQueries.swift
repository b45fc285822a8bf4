import Foundation
import RelayArtifacts
import RelayJSON
@_spi(Rooms) import RelayStore
import Threads

/// The queries that are kept, with their records, across runs of the program.
///
/// 1. The list is in the store, as records of its own, so it is wherever the store is: on disk, and after a crash as
///    complete as the journal.
/// 2. A query of the list that this run has named is retained for the whole run.
/// 3. While the list has unnamed queries, nothing is collected until the store has doubled.
/// 4. A query is added to the list, and removed from it, in the same step of the store in which this run names or
///    forgets it.
final class KeptQueries: Sendable {
    private struct Entry {
        /// The query's record in the list.
        let id: DataID
        let operation: OperationDescriptor
        let retention: Retention
        /// This run has fetched it.
        var isFetched = false
        /// Parts of a response of this run are outstanding.
        var isPartial = false
        /// When this run last wrote down that it was fetched.
        var notedAt: Date?
    }

    /// A live query's results may come in quick succession: that there was a newer one is written down this often.
    private static let liveNoteSeconds = 60.0

    /// Where the list is.
    private static let listID = DataID("client:kept")
    private static let queriesKey = "queries"
    /// True while parts of a response are outstanding, and for good if they never arrive.
    private static let partialKey = "isPartial"

    private let store: Store
    private let limit: Int
    private let state = Lock(State())

    private struct State {
        var entries: [RequestDescriptor: Entry] = [:]
        /// Queries, kept or not, whose last answer is incomplete.
        var partial = PartialQueries()
        /// Retains the list itself.
        var list: Retention?
        /// Holds back collections because of queries that an earlier run kept and this one has not named.
        var hold: Retention?
    }

    init(_ store: Store, limit: Int = 1_000) {
        self.store = store
        self.limit = limit
        let listed = Self.listed(in: store.snapshot)
        if listed.isEmpty { return }
        // Refused inside an updater only.
        let list = try? store.retain(Self.listOperation)
        let hold = store.holdCollections(upTo: 2 * store.snapshot.recordCount + 10_000)
        state.withLock { ($0.list, $0.hold) = (list, hold) }
    }

    // MARK: The list

    /// Leads a collection through the list. Not a query, or it would be fetched wherever retained
    /// queries are.
    private static let listOperation = OperationDescriptor(
        ConcreteRequest(
            fragment: ReaderFragment(name: "KeptQueries", type: "__KeptQueries", selections: []),
            operation: NormalizationOperation(
                name: "KeptQueries",
                selections: [
                    .field(
                        NormalizationLinkedField(
                            name: queriesKey, concreteType: "__KeptQuery", plural: true,
                            selections: [.field(NormalizationScalarField(name: "name"))]))
                ]),
            params: RequestParameters(name: "KeptQueries", operationKind: .subscription)),
        variables: [:], root: listID)

    private static func id(of request: RequestDescriptor) -> DataID {
        id(request.node.params.name, request.variables)
    }

    private static func id(_ name: String, _ variables: VariableData) -> DataID {
        DataID("\(listID):\(name):\(JSONValue.object(variables.json).text)")
    }

    private static func listed(in snapshot: RelayStore.Snapshot) -> [DataID] {
        guard let list = snapshot.existing(listID.rawValue),
            case .links(let ids)? = snapshot.fieldValue(queriesKey, of: list)
        else { return [] }
        return ids.compactMap(\.self)
    }

    var all: [KeptQuery] {
        let snapshot = store.snapshot
        let entries = state.withLock { state in
            Dictionary(state.entries.values.map { ($0.id, $0) }) { first, _ in first }
        }
        return Self.listed(in: snapshot).compactMap { id in
            guard let record = snapshot.existing(id.rawValue),
                case .string(let name)? = snapshot.fieldValue("name", of: record),
                case .string(let text)? = snapshot.fieldValue("variables", of: record),
                let variables = (try? JSONValue(parsing: text))?.object
            else { return nil }
            return KeptQuery(
                name: name, variables: VariableData(variables),
                fetchedAt: Self.fetchedAt(record, snapshot),
                content: content(entries[id]))
        }
    }

    private func content(_ entry: Entry?) -> KeptQuery.Content {
        guard let entry else { return .unnamed }
        if isPartial(entry.id) || store.check(entry.operation) == .missing {
            return .incomplete
        }
        return entry.isFetched ? .complete : .cached
    }

    private static func fetchedAt(_ record: RecordIndex, _ snapshot: RelayStore.Snapshot) -> Date? {
        guard case .int(let microseconds)? = snapshot.fieldValue("fetchedAt", of: record) else {
            return nil
        }
        return Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }

    // MARK: Keeping

    func keep(_ operation: OperationDescriptor) throws {
        let request = operation.request
        let name = request.node.params.name
        guard operation.kind == .query, operation.root == .rootID else {
            throw KeptQueryError(.notAQuery, "\(name) is not a query.")
        }
        if contains(request) { return }
        let listed = Self.listed(in: store.snapshot)
        let id = Self.id(of: request)
        if !listed.contains(id) {
            try checkCount(listed.count)
            guard id.rawValue.utf8.count <= KeptQuery.largestBytes else {
                throw KeptQueryError(
                    .tooLarge,
                    """
                    Name and variables of \(name) exceed \(KeptQuery.largestBytes) bytes together.
                    """)
            }
        }
        let retained = { [store] in
            Entry(id: id, operation: operation, retention: try store.retain(operation))
        }
        let entry = try retained()
        let list = try store.retain(Self.listOperation)
        // What held the list before is released outside the lock: others may be notified then.
        let former = state.withLock { state in
            defer { state.list = list }
            return state.list
        }
        former?.cancel()
        if listed.contains(id) { enter(entry, request) }
        // It may have been taken off the list meanwhile, and what retained it with it.
        if !Self.listed(in: store.snapshot).contains(id) {
            try add(listed.contains(id) ? retained() : entry, request)
        }
        writePartial(request)
        endHoldIfAllAreNamed()
    }

    private func checkCount(_ count: Int) throws {
        guard count < limit else {
            throw KeptQueryError(.tooMany, "\(count) queries are kept already.")
        }
    }

    private func enter(_ entry: Entry, _ request: RequestDescriptor) {
        state.withLock { state in
            if state.entries[request] == nil { state.entries[request] = entry }
            state.entries[request]?.isPartial = state.partial.contains(request)
        }
    }

    private func add(_ entry: Entry, _ request: RequestDescriptor) throws {
        let id = entry.id
        let variables = JSONValue.object(request.variables.json).text
        try store.commitUpdate { source in
            let list =
                source[Self.listID]
                ?? source.create(dataID: Self.listID, typeName: "__KeptQueries")
            let all = list.getLinkedRecords(Self.queriesKey) ?? []
            let others = all.filter { $0?.dataID != id }
            // Entered while it was taken off the list.
            let leftOver = state.withLock {
                all.count == others.count ? $0.entries.removeValue(forKey: request) : nil
            }
            defer { withExtendedLifetime(leftOver) {} }
            // Others may have been kept meanwhile.
            try checkCount(others.count)
            let query = source[id] ?? source.create(dataID: id, typeName: "__KeptQuery")
            query["name"] = request.node.params.name
            query["variables"] = variables
            list.setLinkedRecords(Self.queriesKey, records: others + [query])
            enter(entry, request)
        }
    }

    func stopKeeping(_ name: String, _ variables: VariableData) throws {
        let id = Self.id(name, variables)
        if isPartial(id) {
            state.withLock { state in
                for (request, entry) in state.entries where entry.id == id {
                    state.partial.insert(request)
                }
            }
        }
        let isEntered = state.withLock { $0.entries.contains { $0.value.id == id } }
        if !isEntered, !Self.listed(in: store.snapshot).contains(id) { return }
        var ended: [Entry] = []
        try store.commitUpdate { source in
            if let list = source[Self.listID] {
                let others = (list.getLinkedRecords(Self.queriesKey) ?? [])
                    .filter { $0?.dataID != id }
                list.setLinkedRecords(Self.queriesKey, records: others)
            }
            source.delete(dataID: id)
            ended = state.withLock { state in
                let ended = state.entries.filter { $0.value.id == id }
                for request in ended.keys { state.entries[request] = nil }
                return Array(ended.values)
            }
        }
        for entry in ended { entry.retention.cancel() }
        endHoldIfAllAreNamed()
    }

    private func endHoldIfAllAreNamed() {
        if state.withLock({ $0.hold == nil }) { return }
        let listed = Self.listed(in: store.snapshot)
        let ended = state.withLock { state -> Retention? in
            let named = Set(state.entries.values.map(\.id))
            guard listed.allSatisfy(named.contains) else { return nil }
            defer { state.hold = nil }
            return state.hold
        }
        ended?.cancel()
    }

    // MARK: Fetching

    /// Whether this run keeps a query, and so retains it.
    func contains(_ request: RequestDescriptor) -> Bool {
        state.withLock { $0.entries[request] != nil }
    }

    /// The server has answered part of a query.
    func noteBegun(_ request: RequestDescriptor) {
        let isNew = state.withLock { state in
            state.partial.insert(request)
            guard let entry = state.entries[request], !entry.isPartial else { return false }
            state.entries[request]?.isPartial = true
            return true
        }
        if isNew { writePartial(request) }
    }

    /// Notes in the list that a query is incomplete, unless the rest has arrived meanwhile.
    private func writePartial(_ request: RequestDescriptor) {
        let isPartial = { [self] in state.withLock { $0.entries[request]?.isPartial ?? false } }
        if !isPartial() { return }
        // Refused only inside an updater, where no response arrives.
        try? store.commitUpdate {
            if isPartial() { $0[Self.id(of: request)]?[Self.partialKey] = true }
        }
    }

    /// The server has answered a query completely.
    /// - Parameter isLater: whether it had done so before, in the same stream.
    func noteEnded(_ request: RequestDescriptor, hadErrors: Bool, isLater: Bool = false) {
        let now = Date()
        let isDue = state.withLock { state in
            state.partial.remove(request)
            guard let entry = state.entries[request] else { return false }
            state.entries[request]?.isPartial = false
            if !hadErrors { state.entries[request]?.isFetched = true }
            if isLater, !entry.isPartial, let noted = entry.notedAt,
                abs(now.timeIntervalSince(noted)) < Self.liveNoteSeconds
            {
                return false
            }
            if !hadErrors { state.entries[request]?.notedAt = now }
            return true
        }
        guard isDue else { return }
        let microseconds = Int(now.timeIntervalSince1970 * 1_000_000)
        // Refused only inside an updater, where no response arrives.
        try? store.commitUpdate { source in
            guard let query = source[Self.id(of: request)] else { return }
            if query[Self.partialKey] != nil { query[Self.partialKey] = false }
            if !hadErrors { query["fetchedAt"] = microseconds }
        }
    }

    /// Whether the last answer of a query is incomplete; for a kept query, also if it came in an earlier run.
    func isPartial(_ request: RequestDescriptor) -> Bool {
        let (isPartial, id) = state.withLock {
            ($0.partial.contains(request), $0.entries[request]?.id)
        }
        return isPartial || id.map(self.isPartial) ?? false
    }

    private func isPartial(_ id: DataID) -> Bool {
        let snapshot = store.snapshot
        return snapshot.existing(id.rawValue)
            .map { snapshot.fieldValue(Self.partialKey, of: $0) == .bool(true) } ?? false
    }

    /// When a kept query was last answered, in this run or an earlier one.
    func fetchedAt(_ request: RequestDescriptor) -> Date? {
        if !contains(request) { return nil }
        let snapshot = store.snapshot
        return snapshot.existing(Self.id(of: request).rawValue)
            .flatMap { Self.fetchedAt($0, snapshot) }
    }
}

/// Queries whose last answer is incomplete: parts are outstanding, or never arrived. Beyond 1,000 the oldest is
/// forgotten.
private struct PartialQueries {
    private var queries: [RequestDescriptor: Int] = [:]
    private var count = 0

    func contains(_ request: RequestDescriptor) -> Bool { queries[request] != nil }

    mutating func insert(_ request: RequestDescriptor) {
        if queries[request] != nil { return }
        if queries.count == 1_000, let oldest = queries.min(by: { $0.value < $1.value }) {
            queries[oldest.key] = nil
        }
        count += 1
        queries[request] = count
    }

    mutating func remove(_ request: RequestDescriptor) { queries[request] = nil }
}
