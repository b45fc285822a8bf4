public import Foundation
public import Publishing
@_spi(Rooms) import RelayStore

/// Fetches queries for views: follows the fetch policy, and keeps fetched records from being collected
/// while they are shown.
public final class QueryResource: @unchecked Sendable {
    // Unchecked: so is the environment; the rest is constant.

    private let environment: Environment

    /// - Parameter environment: whose network and store are used.
    public init(environment: Environment) { self.environment = environment }

    /// A query and its result.
    ///
    /// While a result is held, the query's records are not collected, so that it may be retained
    /// later or on another thread.
    public struct QueryResult: Hashable, Sendable {
        /// The query, with its variables.
        public let operation: OperationDescriptor
        /// The errors that came with the data, if it was just fetched.
        public let errors: [GraphQLError]
        /// Where the data came from.
        public let source: Source
        /// Retains the records.
        fileprivate let hold: Retention?

        /// Whether they are of the same query, with the same errors and from the same source.
        public static func == (left: QueryResult, right: QueryResult) -> Bool {
            left.operation == right.operation && left.errors == right.errors
                && left.source == right.source
        }

        /// Hashes what is compared.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(operation)
            hasher.combine(errors)
            hasher.combine(source)
        }
    }

    /// Where a query's data came from.
    public enum Source: Hashable, Sendable {
        /// The store had it: it was fetched before, perhaps by an earlier run of the program with a store on
        /// disk. With the time at which it was fetched whole, if this run did that or the query is kept.
        case cached(Date?)
        /// The server has just sent it.
        case fetched
    }

    /// Gets a query's data into the store.
    ///
    /// - Parameters:
    ///   - operation: the query, with its variables.
    ///   - cacheConfig: forced by default.
    ///   - fetchPolicy: whether to ask the store, the network, or both.
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
            // Before the store is checked. Refused only inside an updater.
            let hold = try? environment.store.hold(operation)
            if case .available(let date) = environment.check(operation: operation) {
                // For a kept query the store may have half a list.
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

    /// Retains a result's records until the returned value is cancelled or released.
    public func retain(_ result: QueryResult) -> AnyCancellable {
        environment.log.note(
            ExecutionEvent(
                .queryResourceRetain, operation: result.operation.request.node.params.name))
        return environment.retain(operation: result.operation)
    }
}
