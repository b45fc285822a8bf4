public import Publishing
import RelayArtifacts
@_spi(Rooms) import RelayStore

/// What a selector reads from one state of the store.
public struct Snapshot<Data: ReadableRecord> {
    /// What was read.
    public let selector: SingularReaderSelector
    let read: SelectorSnapshot
    private let origin: ReadOrigin

    init(_ read: SelectorSnapshot, _ selector: SingularReaderSelector) {
        self.read = read
        self.selector = selector
        origin = ReadOrigin(owner: selector.owner, read)
    }

    /// The data; nil where the record does not exist, and where ``value()`` would throw.
    public var data: Data? { try? value() }

    /// The data; nil where the record does not exist, and where a `@required` field makes it null.
    ///
    /// Errors of fields do not keep the rest from being read: see ``errors``. Where the fragment is
    /// `@throwOnFieldError` they do, and where it is `@catch(to: NULL)` they make all of it nil.
    /// - Throws: a ``ReadError`` when the store's values do not fit the data's type, when a
    ///   `@required(action: THROW)` field is null, or for `@throwOnFieldError`.
    public func value() throws -> Data? {
        let metadata = selector.fragment.metadata
        let failure = failure(throwsErrors: metadata.throwOnFieldError)
        if metadata.catchTo == .null, failure != nil || !read.errors.isEmpty { return nil }
        if let failure { throw failure }
        guard let node = read.data else { return nil }
        return try RecordReader.withReader(node, origin) { try Data(&$0) }
    }

    /// What a fragment or an operation with `@catch(to: RESULT)` is read as: the data, or the errors of
    /// the fields in it.
    public var result: Result<Data?, FieldErrors> {
        get throws {
            var errors = errors
            if let failure = failure(throwsErrors: false) {
                errors.append(
                    GraphQLError(
                        message: failure.errorDescription ?? "", path: failure.path.map { .key($0) }
                    ))
            }
            return errors.isEmpty ? .success(try value()) : .failure(FieldErrors(errors: errors))
        }
    }

    private func failure(throwsErrors: Bool) -> ReadError? {
        if let required = read.required, required.action == .throw {
            return ReadError(.required, at: required.path)
        }
        guard throwsErrors, let first = read.errors.first else { return nil }
        return ReadError(.failed(first.graphQLErrors), at: first.path)
    }

    /// The same without a type.
    public var selectorData: SelectorData? { read.data.map { SelectorData($0, origin) } }

    /// Whether a field was never fetched, or has been collected.
    public var isMissingData: Bool { read.isMissingData }

    /// The errors that the server gave for fields in it, but for those that are caught.
    public var errors: [GraphQLError] { read.errors.flatMap(\.graphQLErrors) }

    func with(_ read: SelectorSnapshot) -> Snapshot { Snapshot(read, selector) }
}

extension Snapshot: Equatable {
    /// Equal selections with equal values, and equally complete.
    public static func == (left: Snapshot, right: Snapshot) -> Bool {
        left.selector == right.selector && left.isMissingData == right.isMissingData
            && left.read.data == right.read.data && left.read.errors == right.read.errors
            && left.read.required == right.read.required
    }
}

/// What a selector reads, whenever it changes.
public struct SnapshotPublisher<Data: ReadableRecord>: Publisher {
    /// A snapshot whenever it has changed.
    public typealias Output = Snapshot<Data>
    /// It never fails.
    public typealias Failure = Never

    let store: Store
    let snapshot: Snapshot<Data>
    let log: ExecutionLog

    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Snapshot<Data>, S.Failure == Never {
        let subscription = SnapshotSubscription(AnySubscriber(subscriber), snapshot, log)
        subscriber.receive(subscription: subscription)
        subscription.begin(store)
    }
}
