public import Publishing

// The data alone, as publishers: for programs that follow the tutorials on Relay.swift. Each is
// `publisher(of:)` without the errors that came with the data.

extension Environment {
    /// The data of a query: once, or repeatedly with `cacheConfig.poll`; nil if the server returned no data and no
    /// error. Otherwise as
    /// ``publisher(of:cacheConfig:optimisticResponse:optimisticUpdater:updater:)-(_,_,[String:Any]?,_,_)`` and
    /// ``fetch(_:cacheConfig:)``.
    ///
    /// The data does not retain the records that its fragments are read from. If they are read later or on another
    /// thread and nothing else retains the query, use an ``OperationResult``, which does.
    public func fetchQuery<Op: Operation>(
        _ query: Op, cacheConfig: CacheConfig = .init()
    ) -> AnyPublisher<Op.Data?, any Error> {
        publisher(of: query, cacheConfig: cacheConfig).map(\.data).eraseToAnyPublisher()
    }

    /// The data of a mutation. Subscribing runs it. A mutation that the server refused fails with a ``NetworkError``,
    /// also if it has an answer (``OperationResult/refusal``). Otherwise as `commit`.
    public func commitMutation<Op: Operation>(
        _ mutation: Op, cacheConfig: CacheConfig = .init(),
        optimisticResponse: [String: Any]? = nil, optimisticUpdater: SelectorStoreUpdater? = nil,
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        carriedOut(
            publisher(
                of: mutation, cacheConfig: cacheConfig, optimisticResponse: optimisticResponse,
                optimisticUpdater: optimisticUpdater, updater: updater))
    }

    /// The data of a subscription's events; nil for an event that failed or cannot be read. Otherwise as
    /// ``results(of:cacheConfig:updater:)``.
    public func requestSubscription<Op: Operation>(
        _ subscription: Op, cacheConfig: CacheConfig = .init(),
        updater: SelectorStoreUpdater? = nil
    ) -> AnyPublisher<Op.Data?, any Error> {
        publisher(of: subscription, cacheConfig: cacheConfig, updater: updater).map(\.data)
            .eraseToAnyPublisher()
    }
}
