import RelayArtifacts
import RelayStore

#if canImport(OpenCombine)
    public import OpenCombine
#else
    public import Combine
#endif

/// What a selector reads from one state of the store.
public struct Snapshot<Data: ReadableRecord> {
    /// What was read.
    public let selector: SingularReaderSelector
    let read: SelectorSnapshot
    private let origin: ReadOrigin

    init(_ read: SelectorSnapshot, _ selector: SingularReaderSelector, _ origin: ReadOrigin) {
        self.read = read
        self.selector = selector
        self.origin = origin
    }

    /// The data; nil where the record does not exist, and where ``value()`` would throw.
    public var data: Data? { try? value() }

    /// The data; nil where the record does not exist.
    /// - Throws: a ``ReadError`` when the store's values do not fit the data's type.
    public func value() throws -> Data? {
        guard let node = read.data else { return nil }
        var reader = RecordReader(node, origin)
        return try Data(&reader)
    }

    /// The same without a type.
    public var selectorData: SelectorData? { read.data.map { SelectorData($0, origin) } }

    /// Whether a field was never fetched, or has been collected.
    public var isMissingData: Bool { read.isMissingData }

    /// The errors that the server gave for fields in it, but for those that are caught.
    public var errors: [GraphQLError] { read.errors.flatMap(\.graphQLErrors) }

    func with(_ read: SelectorSnapshot) -> Snapshot { Snapshot(read, selector, origin) }
}

extension Snapshot: Equatable {
    /// Equal selections with equal values, and equally complete.
    public static func == (left: Snapshot, right: Snapshot) -> Bool {
        left.selector == right.selector && left.isMissingData == right.isMissingData
            && left.read.data == right.read.data && left.read.errors == right.read.errors
    }
}

/// What a selector reads, each time that it becomes another.
public struct SnapshotPublisher<Data: ReadableRecord>: Publisher {
    /// A snapshot each time that it is another.
    public typealias Output = Snapshot<Data>
    /// It never fails.
    public typealias Failure = Never

    let store: Store
    let snapshot: Snapshot<Data>

    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Snapshot<Data>, S.Failure == Never {
        let subscription = SnapshotSubscription(AnySubscriber(subscriber), snapshot)
        subscriber.receive(subscription: subscription)
        subscription.begin(store)
    }
}
