@_spi(Rooms) import RelayStore

/// Something that happened to an operation, to the store or to data read from it, under the name that
/// Relay's developer tools use.
public struct ExecutionEvent: Sendable {
    /// What happened.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        /// An operation begins.
        case executeStart = "execute.start"
        /// An optimistic change is shown. If the store has a journal with a fast disk, `networkStart` may come first.
        case executeOptimistic = "execute.optimistic"
        /// The updater of an optimistic change failed when it ran again on changed records: none of the change is
        /// shown until a record that it read changes again. The error gives the reason.
        case executeOptimisticError = "execute.optimistic.error"
        /// A response was written to the store.
        case executeNext = "execute.next"
        /// The operation failed, or an event of a subscription, which goes on, cannot be read.
        case executeError = "execute.error"
        /// The operation is done.
        case executeComplete = "execute.complete"

        /// The network was asked.
        case networkStart = "network.start"
        /// The network gave a response.
        case networkNext = "network.next"
        /// The network reported something other than a response: a stream goes on and has missed events.
        case networkInfo = "network.info"
        /// The network failed.
        case networkError = "network.error"
        /// The network has nothing more to give.
        case networkComplete = "network.complete"
        /// It was cancelled.
        case networkUnsubscribe = "network.unsubscribe"

        /// A new state can be read from now on; the count is the number of records that differ.
        case storePublish = "store.publish"
        /// Readers whose data has changed are being notified.
        case storeNotifyStart = "store.notify.start"
        /// The count is the number of subscriptions that were notified.
        case storeNotifyComplete = "store.notify.complete"
        /// A garbage collection has started.
        case storeGCStart = "store.gc.start"
        /// The count is the number of records that were collected.
        case storeGCEnd = "store.gc.end"
        /// An old snapshot of the store, or an updater's proxy, is still held, so that the store cannot forget
        /// ids. The count is the number of ids and storage keys; reported each time it has doubled.
        case storeSnapshotKept = "store.snapshot.kept"

        /// Events were dropped because the listeners were too slow. The count is the number of events.
        case logOverflow = "log.overflow"

        /// A query is fetched for a view.
        case queryResourceFetch = "queryresource.fetch"
        /// A view keeps a query's records.
        case queryResourceRetain = "queryresource.retain"

        /// A `@required(action: LOG)` field is null; the path says which.
        case missingRequiredFieldLog = "missing_required_field.log"
        /// A `@required(action: THROW)` field is null.
        case missingRequiredFieldThrow = "missing_required_field.throw"
        /// A field was read for which the server gave an error.
        case fieldPayloadError = "relay_field_payload.error"
    }

    /// What happened.
    public var name: Name
    /// Names the execution; the same for all its events. nil for events of the store.
    public var transactionID: String?
    /// The name of the operation or fragment.
    public var operation: String?
    /// The error, for error events.
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
    /// One line: the name, and whatever else is set.
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
