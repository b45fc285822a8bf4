public import Foundation
public import Publishing
@_spi(Rooms) import RelayStore

/// Fetches queries for views: decides by the fetch policy, and keeps what it fetched from being collected
/// while it is shown.
public final class QueryResource: @unchecked Sendable {
    // Unchecked: the environment is; the rest is constant.

    private let environment: Environment

    /// - Parameter environment: whose network and store are used.
    public init(environment: Environment) { self.environment = environment }

    /// A query and what it came to.
    ///
    /// As long as a result is kept, the query's records are not collected, so that it may be retained
    /// at a later time, or on another thread.
    public struct QueryResult: Hashable, Sendable {
        /// The query, with its variables.
        public let operation: OperationDescriptor
        /// The errors that came with the data, if it came from the network just now.
        public let errors: [GraphQLError]
        /// Where the data is from.
        public let source: Source
        /// Keeps the records.
        fileprivate let hold: Retention?

        /// Whether they are of the same query, with the same errors and from the same source.
        public static func == (left: QueryResult, right: QueryResult) -> Bool {
            left.operation == right.operation && left.errors == right.errors
                && left.source == right.source
        }

        /// Of what is compared.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(operation)
            hasher.combine(errors)
            hasher.combine(source)
        }
    }

    /// Where a query's data is from.
    public enum Source: Hashable, Sendable {
        /// The store had it: it was fetched before, perhaps by an earlier run of the program whose store was on
        /// disk. With the time at which it was fetched whole, if this run did that, or the query is kept.
        case cached(Date?)
        /// The server has just given it.
        case fetched
    }

    /// Gets a query's data into the store.
    ///
    /// - Parameters:
    ///   - operation: the query, with its variables.
    ///   - cacheConfig: forced, unless it is given.
    ///   - fetchPolicy: whether the store is asked, the network, or both.
    /// - Returns: a publisher of nil while there is nothing to show, then of the result or the error; with
    ///   `storeAndNetwork` of the store's result first. It completes when the network has answered.
    public func prepare(
        operation: OperationDescriptor, cacheConfig: CacheConfig = .init(force: true),
        fetchPolicy: FetchPolicy = .storeOrNetwork
    ) -> AnyPublisher<Result<QueryResult, any Error>?, Never> {
        return Deferred {
            [environment] () -> AnyPublisher<Result<QueryResult, any Error>?, Never> in
            var isAvailable = false
            var fetched: Date?
            // Before it is looked at. Refused inside an updater only.
            let hold = try? environment.store.hold(operation)
            if case .available(let date) = environment.check(operation: operation) {
                // Of a kept query the store may have half a list.
                isAvailable = !environment.kept.isPartial(operation.request)
                fetched = date ?? environment.kept.fetchedAt(operation.request)
            }
            let stored = Result<QueryResult, any Error>.success(
                QueryResult(
                    operation: operation, errors: [], source: .cached(fetched), hold: hold))
            let showsStore: Bool
            switch fetchPolicy {
            case .storeOnly: return Just(stored).eraseToAnyPublisher()
            case .networkOnly: showsStore = false
            case .storeAndNetwork: showsStore = isAvailable
            case .storeOrNetwork:
                if isAvailable { return Just(stored).eraseToAnyPublisher() }
                showsStore = false
            }
            environment.log.note(
                ExecutionEvent(
                    .queryResourceFetch, operation: operation.request.node.params.name))
            return environment.execute(operation: operation, cacheConfig: cacheConfig)
                .map {
                    .success(
                        QueryResult(
                            operation: operation, errors: $0.errors ?? [], source: .fetched,
                            hold: $0.written?.hold))
                }
                .catch { Just(Result<QueryResult, any Error>?.some(.failure($0))) }
                .prepend(showsStore ? stored : nil)
                .eraseToAnyPublisher()
        }.eraseToAnyPublisher()
    }

    /// Keeps a result's records until what is returned is cancelled or let go.
    public func retain(_ result: QueryResult) -> AnyCancellable {
        environment.log.note(
            ExecutionEvent(
                .queryResourceRetain, operation: result.operation.request.node.params.name))
        return environment.retain(operation: result.operation)
    }
}
