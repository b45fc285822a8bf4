public import Publishing
import RelayArtifacts
@_spi(Rooms) import RelayStore

/// What a selector reads from one state of the store.
public struct Snapshot<Data: ReadableRecord>: Sendable {
    /// What was read.
    public let selector: SingularReaderSelector
    let read: SelectorSnapshot
    private let origin: ReadOrigin
    /// The data; nil if the record does not exist or ``value()`` throws.
    public let data: Data?
    private let failure: (any Error)?

    init(_ read: SelectorSnapshot, _ selector: SingularReaderSelector) {
        self.read = read
        self.selector = selector
        origin = ReadOrigin(owner: selector.owner, read)
        do {
            data = try Self.data(read, selector, origin)
            failure = nil
        } catch {
            data = nil
            failure = error
        }
    }

    /// The data; nil if the record does not exist, or if a `@required` field makes it null.
    ///
    /// Errors of fields do not prevent the rest from being read: see ``errors``. With `@throwOnFieldError` on the
    /// fragment they do, and with `@catch(to: NULL)` they make all of it nil.
    /// - Throws: a ``ReadError`` if the store's values do not fit the data's type, if a `@required(action: THROW)`
    ///   field is null, or for `@throwOnFieldError`.
    public func value() throws -> Data? {
        if let failure { throw failure }
        return data
    }

    private static func data(
        _ read: SelectorSnapshot, _ selector: SingularReaderSelector, _ origin: ReadOrigin
    ) throws -> Data? {
        let metadata = selector.fragment.metadata
        let failure = failure(of: read, throwsErrors: metadata.throwOnFieldError)
        if metadata.catchTo == .null, failure != nil || !read.errors.isEmpty { return nil }
        if let failure { throw failure }
        guard let node = read.data else { return nil }
        return try RecordReader.withReader(node, origin) { try Data(&$0) }
    }

    /// How a fragment or an operation with `@catch(to: RESULT)` is read: the data, or the errors of its
    /// fields.
    public var result: Result<Data?, FieldErrors> {
        get throws {
            var errors = errors
            if let failure = Self.failure(of: read, throwsErrors: false) {
                errors.append(
                    GraphQLError(
                        message: failure.errorDescription ?? "", path: failure.path.map { .key($0) }
                    ))
            }
            return errors.isEmpty ? .success(try value()) : .failure(FieldErrors(errors: errors))
        }
    }

    private static func failure(of read: SelectorSnapshot, throwsErrors: Bool) -> ReadError? {
        if let required = read.required, required.action == .throw {
            return ReadError(.required, at: required.path)
        }
        guard throwsErrors, let first = read.errors.first else { return nil }
        return ReadError(.failed(first.graphQLErrors), at: first.path)
    }

    /// The same without a type.
    public var selectorData: SelectorData? { read.data.map { SelectorData($0, origin) } }

    /// Whether a field was never fetched, or was collected.
    public var isMissingData: Bool { read.isMissingData }

    /// The errors that the server sent for its fields, except those that are caught at a field. (What `@catch` at the
    /// fragment or the operation catches is here, too.)
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

/// What a selector reads, each time it changes.
public struct SnapshotPublisher<Data: ReadableRecord>: Publisher, Sendable {
    /// A snapshot each time it has changed.
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
