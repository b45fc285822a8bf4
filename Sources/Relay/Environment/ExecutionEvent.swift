@_spi(Rooms) import RelayStore

/// Something that happened to an operation, to the store, or to what was read from it, under the name that
/// Relay's developer tools know.
public struct ExecutionEvent: Sendable {
    /// What happened.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        /// An operation begins.
        case executeStart = "execute.start"
        /// An optimistic change is shown. Where the store has a journal whose disk is quick, `networkStart` may be told
        /// before it.
        case executeOptimistic = "execute.optimistic"
        /// The updater of an optimistic change failed when it ran again on other records: nothing of the change is
        /// shown until one that it looked at changes again. The error says why.
        case executeOptimisticError = "execute.optimistic.error"
        /// A response was written to the store.
        case executeNext = "execute.next"
        /// The operation failed; or an event of a subscription, which goes on, cannot be read.
        case executeError = "execute.error"
        /// The operation is done.
        case executeComplete = "execute.complete"

        /// The network was asked.
        case networkStart = "network.start"
        /// The network gave a response.
        case networkNext = "network.next"
        /// The network says something that is no response: a stream goes on and has missed events.
        case networkInfo = "network.info"
        /// The network failed.
        case networkError = "network.error"
        /// The network has nothing more to give.
        case networkComplete = "network.complete"
        /// It was cancelled.
        case networkUnsubscribe = "network.unsubscribe"

        /// Other records can be read from now on; the count is that of records that differ.
        case storePublish = "store.publish"
        /// Subscribers whose data has changed are being told.
        case storeNotifyStart = "store.notify.start"
        /// The count is that of subscriptions that were told.
        case storeNotifyComplete = "store.notify.complete"
        /// Unreachable records are being looked for.
        case storeGCStart = "store.gc.start"
        /// The count is that of records that were forgotten.
        case storeGCEnd = "store.gc.end"
        /// An old snapshot of the store, or a proxy of an updater, is kept, so that the store can't forget ids.
        /// The count is that of ids and storage keys; told whenever it has doubled.
        case storeSnapshotKept = "store.snapshot.kept"

        /// Events were dropped, because those who listen were slower than what happened. The count is that of events.
        case logOverflow = "log.overflow"

        /// A query is fetched for a view.
        case queryResourceFetch = "queryresource.fetch"
        /// A view keeps a query's records.
        case queryResourceRetain = "queryresource.retain"

        /// A `@required(action: LOG)` field is null; the path says which.
        case missingRequiredFieldLog = "missing_required_field.log"
        /// A `@required(action: THROW)` field is null.
        case missingRequiredFieldThrow = "missing_required_field.throw"
        /// A field was read that has an error of the server's.
        case fieldPayloadError = "relay_field_payload.error"
    }

    /// What happened.
    public var name: Name
    /// Names the execution; the same for all its events. nil where it is of the store.
    public var transactionID: String?
    /// The name of the operation or fragment.
    public var operation: String?
    /// Why, for the events of errors.
    public var error: (any Error)?
    /// How many; see the names.
    public var count: Int?
    /// Names and indexes from the fragment's record to a field.
    public var path: [String]?

    init(
        _ name: Name, transactionID: String? = nil, operation: String? = nil,
        error: (any Error)? = nil, count: Int? = nil, path: [String]? = nil
    ) {
        self.name = name
        self.transactionID = transactionID
        self.operation = operation
        self.error = error
        self.count = count
        self.path = path
    }
}

extension ExecutionEvent: CustomStringConvertible {
    /// One line: the name, and what there is besides.
    public var description: String {
        var text = name.rawValue
        if let operation { text += " \(operation)" }
        if let transactionID { text += " \(transactionID)" }
        if let path { text += " \(path.joined(separator: "."))" }
        if let count { text += " \(count)" }
        if let error { text += ": \(error)" }
        return text
    }
}

extension ExecutionEvent {
    /// What a store did.
    init(_ event: StoreEvent) {
        switch event {
        case .published(let records): self.init(.storePublish, count: records)
        case .notifyStarted: self.init(.storeNotifyStart)
        case .notifyCompleted(let count): self.init(.storeNotifyComplete, count: count)
        case .collectionStarted: self.init(.storeGCStart)
        case .collectionEnded(let records): self.init(.storeGCEnd, count: records)
        case .snapshotKept(let count): self.init(.storeSnapshotKept, count: count)
        case .updaterFailed(let operation, let mutation, let error):
            self.init(
                .executeOptimisticError, transactionID: mutation.map { "\($0)" },
                operation: operation, error: error)
        case .dropped(let count): self.init(.logOverflow, count: count)
        }
    }
}
